package env

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/pkg/buildinfo"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/operatorimage"
)

// A runtimeMissingError means that operon-runtime is not installed.
type runtimeMissingError struct{ version string }

func (e runtimeMissingError) Error() string {
	return fmt.Sprintf("%s not found next to operon or in PATH; install it with 'go install %s@%s', or with 'make build' in a clone of Operon",
		helmchart.Program, operatorimage.RuntimePackage, e.version)
}

func (runtimeMissingError) Unwrap() error { return fs.ErrNotExist }

// RuntimeProgram returns the path of operon-runtime.
func (e *Env) RuntimeProgram() (string, error) {
	find := e.Runtime
	if find == nil {
		find = e.findRuntime
	}
	program, err := find()
	if errors.Is(err, fs.ErrNotExist) {
		return "", runtimeMissingError{strings.TrimSuffix(buildinfo.Read().Version, "-dev")}
	}
	return program, err
}

// findRuntime searches operon-runtime next to this program, since both are built together, and then in PATH.
func (e *Env) findRuntime() (string, error) {
	if e.Executable != "" {
		if program, err := exec.LookPath(filepath.Join(filepath.Dir(e.Executable), helmchart.Program)); err == nil {
			return program, nil
		}
	}
	return lookPath(e.Environ, helmchart.Program)
}

// RuntimeBuild identifies the build of operon-runtime. It is empty if there is none.
func (e *Env) RuntimeBuild() string {
	program, err := e.RuntimeProgram()
	if err != nil {
		return ""
	}
	info, err := os.Stat(program)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}
