package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/operatorimage"
)

// errRuntimeMissing means that operon-runtime is not installed.
type errRuntimeMissing struct{ version string }

func (e errRuntimeMissing) Error() string {
	return fmt.Sprintf("%s not found next to operon or in PATH; install it with 'go install %s@%s', or with 'make build' in a clone of Operon",
		helmchart.Program, operatorimage.RuntimePackage, e.version)
}

func (errRuntimeMissing) Unwrap() error { return fs.ErrNotExist }

// runtimeProgram returns the path of operon-runtime.
func (a *app) runtimeProgram() (string, error) {
	find := a.Runtime
	if find == nil {
		find = a.Env.findRuntime
	}
	program, err := find()
	if errors.Is(err, fs.ErrNotExist) {
		return "", errRuntimeMissing{strings.TrimSuffix(buildVersion().Version, "-dev")}
	}
	return program, err
}

// charts returns how commands fetch and render charts.
func (a *app) charts() helmchart.Runtime {
	return helmchart.Runtime{
		Version: buildVersion().Version,
		Build: func() string {
			program, err := a.runtimeProgram()
			if err != nil {
				return ""
			}
			info, err := os.Stat(program)
			if err != nil {
				return ""
			}
			return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
		},
		Run: func(ctx context.Context, description string, in io.Reader, out, errOut io.Writer, args ...string) error {
			program, err := a.runtimeProgram()
			if err != nil {
				return err
			}
			return a.reportSlow(a.progressWriter(), description, func() error {
				return a.Run(ctx, Command{Dir: a.Dir, Environ: a.Environ, In: in, Out: out, Err: errOut, Name: program, Args: args, Tied: true})
			})
		},
	}
}
