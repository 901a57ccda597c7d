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
)

// Settings are the files in which docker and podman keep what they know of registries: credentials,
// mirrors, which registries are blocked. The zero value has none.
type Settings struct {
	// FS holds the files; its paths are absolute.
	FS afero.Fs
	// Getenv looks up a variable of the environment.
	Getenv func(key string) string
	// Run runs a credential helper to its end. The error is fs.ErrNotExist where there is no such program.
	Run func(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error
}

// place is a file, with a name for messages that holds no folder of this machine.
type place struct{ file, shown string }

func (s Settings) env(key string) string {
	if s.Getenv == nil {
		return ""
	}
	return s.Getenv(key)
}

// below gives a file in the folder that a variable names, or in one below the home folder.
func (s Settings) below(variable, otherwise, file string) place {
	if dir := s.env(variable); dir != "" {
		return place{filepath.Join(dir, filepath.FromSlash(file)), "$" + variable + "/" + file}
	}
	home := s.env("HOME")
	if home == "" {
		home = s.env("USERPROFILE") // where Windows has it
	}
	if home == "" {
		return place{}
	}
	return place{filepath.Join(home, filepath.FromSlash(otherwise), filepath.FromSlash(file)), "~/" + otherwise + "/" + file}
}

// named is the file that a variable names.
func (s Settings) named(variable string) place {
	if file := s.env(variable); file != "" {
		return place{file, "$" + variable}
	}
	return place{}
}

// authFiles are the files with credentials, those that a variable names first.
func (s Settings) authFiles() []place {
	files := []place{s.named("REGISTRY_AUTH_FILE"), s.below("DOCKER_CONFIG", ".docker", "config.json")}
	if s.env("XDG_RUNTIME_DIR") != "" {
		files = append(files, s.below("XDG_RUNTIME_DIR", "", "containers/auth.json"))
	} else if id := os.Getuid(); id >= 0 { // Windows has no such numbers
		name := fmt.Sprintf("/run/containers/%d/auth.json", id)
		files = append(files, place{name, name})
	}
	return append(files, s.below("XDG_CONFIG_HOME", ".config", "containers/auth.json"))
}

// read reads a file that need not exist.
func (s Settings) read(p place) ([]byte, bool, error) {
	if s.FS == nil || p.file == "" {
		return nil, false, nil
	}
	info, err := s.FS.Stat(p.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", p.shown, withoutPath(err))
	}
	if !info.Mode().IsRegular() || info.Size() > maxDocument {
		return nil, false, fmt.Errorf("%s is no plain file of at most %s", p.shown, size(maxDocument))
	}
	data, err := afero.ReadFile(s.FS, p.file)
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", p.shown, withoutPath(err))
	}
	return data, true, nil
}
