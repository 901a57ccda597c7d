package env

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/goenv"
)

// RunGo runs the go command in dir with variables added to the environment.
func (e *Env) RunGo(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
	environ := slices.Concat(e.Environ, variables)
	temp, err := goenv.New(environ, false).Prepare(dir)
	if err != nil {
		return err
	}
	defer func() { _ = temp.Remove() }() // a later command removes what remains
	environ = append(environ, temp.Variable())
	err = e.Run(ctx, Command{Dir: dir, Environ: environ, Out: out, Err: errOut, Name: "go", Args: args, Tied: true})
	if errors.Is(err, fs.ErrNotExist) {
		return codegen.ErrGoMissing
	}
	return err
}

// GOPATH returns the GOPATH of the go command, without running it.
func (e *Env) GOPATH() string {
	if path := e.Getenv("GOPATH"); path != "" {
		return path
	}
	for _, key := range []string{"HOME", "USERPROFILE"} {
		if home := e.Getenv(key); home != "" {
			return filepath.Join(home, "go")
		}
	}
	return ""
}
