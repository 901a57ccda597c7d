package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/term"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
)

// Env carries everything a command may touch. Nothing in Operon is global: tests build an Env with
// buffers, a fixed clock and a file system of their own.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal, OutTerminal and ErrTerminal tell whether a person sits at the other end.
	InTerminal, OutTerminal, ErrTerminal bool
	// InPipe tells that a program writes into In, InFile that In is a regular file.
	InPipe, InFile bool
	// Dir is the working directory, absolute.
	Dir string
	// FS holds the project; its paths are absolute.
	FS afero.Fs
	// Environ is the process environment, as os.Environ gives it.
	Environ []string
	// CacheDir is the user's cache folder, or empty where the system names none.
	CacheDir string
	// Build identifies this build of the program. If it is empty, results that depend on the build are not cached.
	Build string
	// PodDir is the folder of the service account's files in a pod, or empty; it need not be there.
	PodDir string
	// Now is the clock.
	Now func() time.Time
	// SlowAfter is how long a step of a command may take before it is reported; zero is 2 seconds.
	SlowAfter time.Duration
	// Prompter asks the user; nil makes one from In, Out and Err.
	Prompter Prompter
	// HTTP carries requests of the few commands that use a network.
	HTTP http.RoundTripper
	// Run runs a program to its end, without a shell. The error is fs.ErrNotExist where PATH has no such
	// program.
	Run func(ctx context.Context, command Command) error
}

// A Command describes a program to run.
type Command struct {
	// Dir is the working directory; empty is that of the process.
	Dir string
	// Environ is the complete environment, as KEY=VALUE. The last value of a variable counts.
	Environ []string
	// In, Out and Err are the standard streams; nil is the null device.
	In       io.Reader
	Out, Err io.Writer
	// Name is a path, or a name to look up in the PATH of Environ.
	Name string
	Args []string
	// Tied makes the program lead a process group. It is interrupted with that group when the context is canceled, and
	// ends with this process.
	Tied bool
}

// System is the Env of a real process.
func System() (*Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	// Without a home folder there is no cache, and everything works without one.
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = ""
	}
	var stdin os.FileMode
	if info, err := os.Stdin.Stat(); err == nil { // an error means that it is closed
		stdin = info.Mode()
	} else {
		stdin = os.ModeIrregular
	}
	return &Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InPipe: stdin&os.ModeNamedPipe != 0, InFile: stdin.IsRegular(),
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Dir:         dir,
		FS:          afero.NewOsFs(),
		Environ:     os.Environ(),
		CacheDir:    cache,
		Build:       thisBuild(),
		PodDir:      podDir,
		Now:         time.Now,
		HTTP:        http.DefaultTransport,
		Run:         run,
	}, nil
}

// thisBuild identifies this build by its version and commit, and by the size and time of its file, since builds of a
// modified tree have the same version and commit.
// It returns an empty string if the file cannot be found.
func thisBuild() string {
	file, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	version := buildVersion()
	return fmt.Sprintf("%s %s %d %d", version.Version, version.Commit, info.Size(), info.ModTime().UnixNano())
}

// Getenv returns the last value of an environment variable, or nothing.
func (e *Env) Getenv(key string) string { return getenv(e.Environ, key) }

func getenv(environ []string, key string) string {
	for _, entry := range slices.Backward(environ) {
		name, value, ok := cutEnv(entry)
		if ok && (name == key || runtime.GOOS == "windows" && strings.EqualFold(name, key)) {
			return value
		}
	}
	return ""
}

func cutEnv(entry string) (name, value string, ok bool) {
	for i := 1; i < len(entry); i++ { // Windows has variables such as =C:
		if entry[i] == '=' {
			return entry[:i], entry[i+1:], true
		}
	}
	return "", "", false
}

func run(ctx context.Context, command Command) error {
	name, err := lookPath(command.Environ, command.Name)
	if err != nil {
		return err
	}
	if command.Tied {
		return controlplane.RunTied(ctx, controlplane.Command{
			Dir: command.Dir, Env: append([]string{}, command.Environ...), Name: name, Args: command.Args, Stdout: command.Out, Stderr: command.Err,
		})
	}
	c := exec.CommandContext(ctx, name, command.Args...)
	c.Args[0] = command.Name
	c.Dir, c.Env = command.Dir, append([]string{}, command.Environ...) // nil would be that of the process
	c.Stdin, c.Stdout, c.Stderr = command.In, command.Out, command.Err
	return c.Run()
}

// lookPath finds a program in the PATH of environ, where exec.LookPath uses that of the process.
func lookPath(environ []string, name string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	for _, dir := range filepath.SplitList(getenv(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("program %q not found in PATH: %w", name, fs.ErrNotExist)
}

// runGo runs the go command in dir with variables in addition to those of the environment.
func (a *app) runGo(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
	environ := slices.Concat(a.Environ, variables)
	temp, err := codegen.PrepareGo(environ, dir)
	if err != nil {
		return err
	}
	defer func() { _ = temp.Remove() }() // a later command removes what is left
	environ = append(environ, temp.Variable())
	err = a.Run(ctx, Command{Dir: dir, Environ: environ, Out: out, Err: errOut, Name: "go", Args: args, Tied: true})
	if errors.Is(err, fs.ErrNotExist) {
		return codegen.ErrGoMissing
	}
	return err
}
