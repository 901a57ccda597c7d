// Package env is the environment of a command: the streams, files, clock, network and programs of the process and the machine. All
// other packages of the command line get them from an Env.
package env

import (
	"bytes"
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

	"github.com/operon-sdk/operon/cmd/internal/prompt"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/buildinfo"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/userstate"
)

// Env is the environment of a command, which accesses the process and the machine only through it. Tests create one with
// buffers, a fixed clock and their own file system.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal, OutTerminal and ErrTerminal report whether the streams are terminals.
	InTerminal, OutTerminal, ErrTerminal bool
	// InPipe reports whether In is a pipe, InFile whether it is a regular file.
	InPipe, InFile bool
	// Dir is the working directory, absolute.
	Dir string
	// FS contains the project; its paths are absolute.
	FS afero.Fs
	// Environ is the environment of the process, as of os.Environ.
	Environ []string
	// CacheDir is the user's cache directory, or empty if there is none.
	CacheDir string
	// Build identifies this build of the program. If it is empty, results that depend on the build are not cached.
	Build string
	// Executable is the file of this program without symbolic links in its path, or empty if it is unknown.
	Executable string
	// Runtime returns the path of operon-runtime; nil searches it next to Executable and in the PATH of Environ. The error is
	// fs.ErrNotExist if there is none.
	Runtime func() (string, error)
	// Layouts are the layouts of projects that layout.All does not contain.
	Layouts []action.Layout
	// PodDir is the directory of the service account's files in a pod, or empty. It need not exist.
	PodDir string
	// Now is the clock.
	Now func() time.Time
	// SlowAfter is the time after which a step of a command is reported; zero is 2 seconds.
	SlowAfter time.Duration
	// Prompter prompts the user; nil is one for In, Out and Err.
	Prompter prompt.Prompter
	// HTTP sends requests.
	HTTP http.RoundTripper
	// Run runs a program without a shell. The error is fs.ErrNotExist if the program is not found.
	Run func(ctx context.Context, command Command) error
}

// A Command describes a program to run.
type Command struct {
	// Dir is the working directory; empty means the process's.
	Dir string
	// Environ is the complete environment, as KEY=VALUE. The last value of a variable applies.
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

// System returns the Env of this process.
func System() (*Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	// Without a home directory there is no cache, which is optional.
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
		Executable:  executable(),
		PodDir:      kube.PodDir,
		Now:         time.Now,
		HTTP:        http.DefaultTransport,
		Run:         Run,
	}, nil
}

// executable returns Env.Executable.
func executable() string {
	file, err := os.Executable()
	if err != nil {
		return ""
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return ""
	}
	return file
}

// thisBuild identifies this build by its version and commit, and by the size and time of its file, since builds of a
// modified tree have the same version and commit. It returns an empty string if the file cannot be found.
func thisBuild() string {
	file, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	version := buildinfo.Read()
	return fmt.Sprintf("%s %s %d %d", version.Version, version.Commit, info.Size(), info.ModTime().UnixNano())
}

// Getenv returns the last value of an environment variable, or "".
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

// Run runs a program, as Env.Run of this process.
func Run(ctx context.Context, command Command) error {
	name, err := lookPath(command.Environ, command.Name)
	if err != nil {
		return err
	}
	if command.Tied {
		return controlplane.RunTied(ctx, controlplane.Command{
			Dir: command.Dir, Env: append([]string{}, command.Environ...), Name: name, Args: command.Args,
			Stdin: command.In, Stdout: command.Out, Stderr: command.Err,
		})
	}
	c := exec.CommandContext(ctx, name, command.Args...)
	c.Args[0] = command.Name
	c.Dir, c.Env = command.Dir, append([]string{}, command.Environ...) // nil would be the environment of the process
	c.Stdin, c.Stdout, c.Stderr = command.In, command.Out, command.Err
	return c.Run()
}

// lookPath finds a program in the PATH of environ. exec.LookPath uses the PATH of the process.
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

// LookPath returns the path of a program that a command line names: in PATH, or relative to a directory.
func (e *Env) LookPath(dir, name string) (string, error) {
	if filepath.Base(name) == name {
		return lookPath(e.Environ, name)
	}
	program, err := exec.LookPath(Absolute(dir, filepath.FromSlash(name)))
	if err != nil {
		if failed, ok := errors.AsType[*exec.Error](err); ok {
			err = failed.Err
		}
		return "", fmt.Errorf("program %q can't be run: %w", name, diag.Cause(err))
	}
	return program, nil
}

// Output runs a program and returns what it prints. The error contains what it printed to standard error.
func (e *Env) Output(ctx context.Context, command Command) (string, error) {
	var out, errOut bytes.Buffer
	command.Out, command.Err = &out, &errOut
	err := e.Run(ctx, command)
	if text := strings.TrimSpace(errOut.String()); err != nil && text != "" && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return out.String(), err
}

// RunHelper runs a credential helper of registries.
func (e *Env) RunHelper(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error {
	return e.Run(ctx, Command{Environ: e.Environ, In: in, Out: out, Name: name, Args: args})
}

// Absolute returns a path of a flag, an argument or a variable, relative to the working directory, as an absolute one.
func (e *Env) Absolute(name string) string { return Absolute(e.Dir, filepath.FromSlash(name)) }

// Absolute returns a path that may be relative to a directory as an absolute one.
func Absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Cache returns the directory for this program's caches, or "" if the system has none.
func (e *Env) Cache() string {
	if e.CacheDir == "" {
		return ""
	}
	return filepath.Join(e.CacheDir, "operon")
}

// StateDirs returns the candidates for the user's state directory.
func (e *Env) StateDirs() []string { return userstate.Dirs(e.Getenv) }

// ProjectRoot returns the root directory of the project that the working directory is in.
func (e *Env) ProjectRoot() (string, error) { return project.FindRoot(e.FS, e.Dir) }

// ProjectOrDir returns the root of the project that the working directory is in, or the working directory if there is none.
func (e *Env) ProjectOrDir() (string, error) {
	root, err := e.ProjectRoot()
	if errors.Is(err, project.ErrNotAProject) {
		return e.Dir, nil
	}
	return root, err
}

// Stdin returns the standard input for commands that read it if necessary.
func (e *Env) Stdin() bundles.Stdin {
	return bundles.Stdin{Reader: e.In, Pipe: e.InPipe, File: e.InFile}
}

// Facts returns the facts of the layouts that layout.All does not contain.
func (e *Env) Facts() []*layout.Facts { return action.FactsOf(e.Layouts) }

// Dumb reports whether terminals have no colors and can't move their cursor.
func (e *Env) Dumb() bool { return e.Getenv("TERM") == "dumb" }

// Color reports whether to color what is printed on a stream, of which terminal reports whether it is one.
func (e *Env) Color(terminal bool) bool { return terminal && e.Getenv("NO_COLOR") == "" && !e.Dumb() }
