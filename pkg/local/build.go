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

// ErrBuild is what a failed build is; the error holds what go says.
var ErrBuild = errors.New("the manager does not build")

// Build compiles the manager and asks it for its flags. A failed build leaves the last one in place.
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
	s.binary, s.flags, s.port = binary, s.askFlags(ctx, binary), webhookPort(s.o.Root, pkg)
	return nil
}

// buildEnv lets go work below the workspace: what it leaves when it is interrupted goes with that.
func (s *Session) buildEnv() []string {
	return append(append([]string{}, s.o.Environ...), "GOTMPDIR="+s.o.Workspace)
}

// buildArgs leaves out what a debugger needs: it takes the linker half of its time.
func (s *Session) buildArgs(binary, pkg string) []string {
	args := []string{"build", "-buildvcs=false"}
	own := slices.ContainsFunc(s.o.Environ, func(entry string) bool {
		return strings.HasPrefix(entry, "GOFLAGS=") && strings.Contains(entry, "-ldflags")
	})
	if !own {
		args = append(args, "-ldflags=-w")
	}
	return append(args, "-o", binary, pkg)
}

// askFlags runs the manager for its help. One that does not parse flags has no way to a cluster, and
// is ended.
func (s *Session) askFlags(ctx context.Context, binary string) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var out bytes.Buffer
	nowhere := append(append([]string{}, s.o.Environ...), "KUBECONFIG="+filepath.Join(s.o.Workspace, "none"))
	// Help may end with any exit code.
	_ = controlplane.RunTied(ctx, controlplane.Command{Dir: s.o.Root, Env: nowhere, Name: binary, Args: []string{"-h"}, Stdout: &out, Stderr: &out})
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(?:-\w, )?--?([a-z][a-z0-9-]*)`).FindAllStringSubmatch(out.String(), -1) {
		flags[m[1]] = true
	}
	return flags
}
