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
)

// ErrBuild is wrapped by the error of a failed build, which contains the output of go.
var ErrBuild = errors.New("the manager does not build")

// Build compiles the manager and reads its flags. After a failed build, the session uses the previous one.
func (s *Session) Build(ctx context.Context) error {
	pkg, err := MainPackage(s.o.Root)
	if err != nil {
		return err
	}
	name := "manager-" + strconv.Itoa(s.builds+1)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	binary := filepath.Join(s.o.Workspace, name)
	if s.builds == 0 {
		s.reuse(binary)
	}
	var out bytes.Buffer
	err = controlplane.RunTied(ctx, controlplane.Command{
		Dir: s.o.Root, Env: s.buildEnv(), Name: "go", Args: s.buildArgs(binary, pkg), Stdout: &out, Stderr: &out,
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		text := strings.TrimSpace(out.String())
		if text == "" {
			text = err.Error()
		}
		return fmt.Errorf("%w: go build %s:\n%s", ErrBuild, pkg, text)
	}
	s.keep(binary)
	s.builds++
	s.stale = append(s.stale, s.binary)
	s.binary, s.flags, s.port = binary, s.readFlags(ctx, binary), webhookPort(s.o.Root, pkg)
	return nil
}

// buildEnv sets the temporary directory of go to the workspace, which is removed even after an interrupt.
func (s *Session) buildEnv() []string {
	return append(append([]string{}, s.o.Environ...), "GOTMPDIR="+s.o.Workspace)
}

// buildArgs omits debug information, which takes half of the time of linking.
func (s *Session) buildArgs(binary, pkg string) []string {
	args := []string{"build", "-buildvcs=false"}
	hasLinkerFlags := slices.ContainsFunc(s.o.Environ, func(entry string) bool {
		return strings.HasPrefix(entry, "GOFLAGS=") && strings.Contains(entry, "-ldflags")
	})
	if !hasLinkerFlags {
		args = append(args, "-ldflags=-w")
	}
	return append(args, "-o", binary, pkg)
}

// readFlags returns the flags in the help of the manager. A manager that does not parse flags finds no cluster and is killed.
func (s *Session) readFlags(ctx context.Context, binary string) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var out bytes.Buffer
	environ := append(append([]string{}, s.o.Environ...), "KUBECONFIG="+filepath.Join(s.o.Workspace, "none"))
	// The exit code of help is not significant.
	_ = controlplane.RunTied(ctx, controlplane.Command{Dir: s.o.Root, Env: environ, Name: binary, Args: []string{"-h"}, Stdout: &out, Stderr: &out})
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(?:-\w, )?--?([a-z][a-z0-9-]*)`).FindAllStringSubmatch(out.String(), -1) {
		flags[m[1]] = true
	}
	return flags
}
