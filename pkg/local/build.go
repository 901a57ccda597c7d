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
	var out bytes.Buffer
	err = controlplane.RunTied(ctx, controlplane.Command{
		Dir: r.o.Root, Env: r.buildEnv(), Name: "go", Args: r.buildArgs(binary, pkg), Stdout: &out, Stderr: &out,
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		text := strings.TrimSpace(out.String())
		if text == "" {
			text = err.Error()
		}
		return diag.Lines(fmt.Sprintf("%v: go build %s:", errBuild, pkg), CompilerErrors(text, errBuild))
	}
	r.keep(binary)
	r.builds++
	r.stale = append(r.stale, r.binary)
	r.binary, r.flags, r.port = binary, r.readFlags(ctx, binary), webhookPort(r.o.Root, pkg)
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
		var err error
		if r.port, err = r.source().webhookPort(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// buildEnv sets the temporary directory of go to the workspace, which is removed even after an interrupt.
func (r *runner) buildEnv() []string {
	return append(append([]string{}, r.o.Environ...), "GOTMPDIR="+r.workspace.Path)
}

// buildArgs omits debug information, which takes half of the time of linking.
func (r *runner) buildArgs(binary, pkg string) []string {
	args := []string{"build", "-buildvcs=false"}
	hasLinkerFlags := slices.ContainsFunc(r.o.Environ, func(entry string) bool {
		return strings.HasPrefix(entry, "GOFLAGS=") && strings.Contains(entry, "-ldflags")
	})
	if !hasLinkerFlags {
		args = append(args, "-ldflags=-w")
	}
	return append(args, "-o", binary, pkg)
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
