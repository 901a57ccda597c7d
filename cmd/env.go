package cmd

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/term"
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
	// PodDir is the folder of the service account's files in a pod, or empty; it need not be there.
	PodDir string
	// Now is the clock.
	Now func() time.Time
	// Prompter asks a person; nil makes one from In and Out.
	Prompter Prompter
	// HTTP carries requests of the few commands that use a network.
	HTTP http.RoundTripper
	// Run starts a program, without a shell, in dir; out and errOut may be nil.
	Run func(ctx context.Context, dir string, out, errOut io.Writer, name string, args ...string) error
	// RunWith is Run with variables of the environment, as KEY=VALUE, beside those of the process.
	RunWith func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, name string, args ...string) error
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
		PodDir:      podFolder,
		Now:         time.Now,
		HTTP:        http.DefaultTransport,
		Run:         run,
		RunWith:     runWith,
	}, nil
}

// Getenv returns the last value of an environment variable, or nothing.
func (e *Env) Getenv(key string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if name, value, ok := cutEnv(e.Environ[i]); ok && name == key {
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

func run(ctx context.Context, dir string, out, errOut io.Writer, name string, args ...string) error {
	return runWith(ctx, dir, nil, out, errOut, name, args...)
}

func runWith(ctx context.Context, dir string, variables []string, out, errOut io.Writer, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, out, errOut
	if len(variables) > 0 {
		c.Env = append(c.Environ(), variables...)
	}
	return c.Run()
}
