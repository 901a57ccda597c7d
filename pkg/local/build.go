package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
)

// errBuild is wrapped by the error of a failed build, which contains the output of go.
var errBuild = errors.New("the manager does not build")

// build compiles the manager and reads its flags. After a failed build, the previous one is used.
func (r *runner) build(ctx context.Context) error {
	pkg, err := MainPackage(r.o.Root)
	if err != nil {
		return err
	}
	name := "manager-" + strconv.Itoa(r.builds+1)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	binary := filepath.Join(r.workspace.Path, name)
	if r.builds == 0 {
		r.reuse(binary)
	}
	if err := Compile(ctx, r.o.Go, r.o.Root, nil, r.buildFlags(binary), pkg, "building the manager"); err != nil {
		if failed, ok := errors.AsType[*gotool.Error](err); ok {
			return diag.Lines(fmt.Sprintf("%v: go build %s:", errBuild, pkg), CompilerErrors(failed.Text, errBuild))
		}
		return err
	}
	r.keep(binary)
	r.builds++
	r.stale = append(r.stale, r.binary)
	r.binary, r.flags = binary, r.readFlags(ctx, binary)
	return nil
}

// useProgram takes the manager that is not built.
func (r *runner) useProgram(ctx context.Context) error {
	r.binary, r.flags = r.o.Program.Name, map[string]bool{}
	for _, name := range r.o.Program.Flags {
		r.flags[name] = true
	}
	if r.o.Program.Flags == nil {
		r.flags = r.readFlags(ctx, r.binary, r.o.Program.Args...)
	}
	return ctx.Err()
}

// buildFlags omits debug information, which takes half of the time of linking, unless there is a debugger, for which it omits optimizations.
func (r *runner) buildFlags(binary string) []string {
	flags := []string{"-buildvcs=false", "-o", binary}
	if r.o.Debugger != nil {
		return append(flags, "-gcflags=all=-N -l")
	}
	hasLinkerFlags := slices.ContainsFunc(r.o.Environ, func(entry string) bool {
		return strings.HasPrefix(entry, "GOFLAGS=") && strings.Contains(entry, "-ldflags")
	})
	if !hasLinkerFlags {
		flags = append(flags, "-ldflags=-w")
	}
	return flags
}

// readFlags returns the flags in the help of the manager. A manager that does not parse flags finds no cluster and ends, or is killed
// after a time that is long enough for a busy machine: without its flags, the manager would listen on all addresses.
func (r *runner) readFlags(ctx context.Context, binary string, args ...string) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var out bytes.Buffer
	environ := append(append([]string{}, r.o.Environ...), "KUBECONFIG="+filepath.Join(r.workspace.Path, "none"))
	// The exit code of help is not significant.
	_ = controlplane.RunTied(ctx, controlplane.Command{Dir: r.o.Root, Env: environ, Name: binary, Args: append(slices.Clone(args), "-h"), Stdout: &out, Stderr: &out})
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(?:-\w, )?--?([a-z][a-z0-9-]*)`).FindAllStringSubmatch(out.String(), -1) {
		flags[m[1]] = true
	}
	return flags
}
