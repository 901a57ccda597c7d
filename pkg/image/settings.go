package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Settings gives access to the configuration files of docker and podman: credentials, mirrors and blocked registries. The
// zero value has none.
type Settings struct {
	// FS contains the files; its paths are absolute.
	FS afero.Fs
	// Getenv returns an environment variable.
	Getenv func(key string) string
	// Run runs a credential helper. The error is fs.ErrNotExist if the program does not exist.
	Run func(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error
}

// configPath is the path of a configuration file, and its form for messages, which contains no directory of this machine.
type configPath struct{ path, display string }

func (s Settings) env(key string) string {
	if s.Getenv == nil {
		return ""
	}
	return s.Getenv(key)
}

// inDir returns a file in the directory that a variable names, or in a directory of the home directory.
func (s Settings) inDir(variable, otherwise, file string) configPath {
	if dir := s.env(variable); dir != "" {
		return configPath{filepath.Join(dir, filepath.FromSlash(file)), "$" + variable + "/" + file}
	}
	home := s.env("HOME")
	if home == "" {
		home = s.env("USERPROFILE") // Windows
	}
	if home == "" {
		return configPath{}
	}
	return configPath{filepath.Join(home, filepath.FromSlash(otherwise), filepath.FromSlash(file)), "~/" + otherwise + "/" + file}
}

// fromVariable returns the file that a variable names.
func (s Settings) fromVariable(variable string) configPath {
	if file := s.env(variable); file != "" {
		return configPath{file, "$" + variable}
	}
	return configPath{}
}

// authFiles returns the files with credentials. The file of REGISTRY_AUTH_FILE is the first one.
func (s Settings) authFiles() []configPath {
	files := []configPath{s.fromVariable("REGISTRY_AUTH_FILE"), s.inDir("DOCKER_CONFIG", ".docker", "config.json")}
	if s.env("XDG_RUNTIME_DIR") != "" {
		files = append(files, s.inDir("XDG_RUNTIME_DIR", "", "containers/auth.json"))
	} else if id := os.Getuid(); id >= 0 { // negative on Windows
		name := fmt.Sprintf("/run/containers/%d/auth.json", id)
		files = append(files, configPath{name, name})
	}
	return append(files, s.inDir("XDG_CONFIG_HOME", ".config", "containers/auth.json"))
}

// read reads a file and reports whether it exists.
func (s Settings) read(p configPath) ([]byte, bool, error) {
	if s.FS == nil || p.path == "" {
		return nil, false, nil
	}
	info, err := s.FS.Stat(p.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", p.display, diag.Cause(err))
	}
	if !info.Mode().IsRegular() || info.Size() > maxDocument {
		return nil, false, fmt.Errorf("%s is not a regular file of at most %s", p.display, formatSize(maxDocument))
	}
	data, err := afero.ReadFile(s.FS, p.path)
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", p.display, diag.Cause(err))
	}
	return data, true, nil
}
