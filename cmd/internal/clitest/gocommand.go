package clitest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/typecheck"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// DownloadModules downloads the modules that scaffolded projects require, once per test binary: commands that create
// files do not use the network, so the module cache must contain them.
var DownloadModules = sync.OnceValue(func() error {
	c := exec.Command("go", "mod", "tidy", "-diff") // which scripts run without a network
	c.Dir = Testdata("memcached-operator")
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go mod tidy in %s: %w\n%s", c.Dir, err, out)
	}
	return nil
})

// RunGo runs the go command in a project with env added to its environment, and returns the output. The test fails if the
// command does.
func RunGo(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	c := GoCommand(dir, args...)
	c.Env = append(c.Env, env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// BuildFlags are the flags of builds in tests. All builds share the build cache, as they use the same flags: without
// -trimpath it would contain packages for each temporary directory.
const BuildFlags = "-trimpath -ldflags=-w"

// GoCommand returns a go command that runs in a project.
func GoCommand(dir string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = goEnviron()
	return c
}

// goEnviron returns the environment of the go command in tests.
func goEnviron() []string {
	return append(os.Environ(), "GOFLAGS=-mod=mod "+BuildFlags, "GOTOOLCHAIN=local")
}

// CheckCompiles checks that a project is tidy, and that its code and tests compile, except in short mode.
func CheckCompiles(t testing.TB, dir string) {
	t.Helper()
	CheckTidy(t, dir)
	CheckTypes(t, dir, ".")
}

// CheckTypes type-checks the code below a directory of a project and its tests, including the end-to-end test, except in short
// mode. It takes a few seconds, as it compiles nothing.
func CheckTypes(t testing.TB, dir, below string) {
	t.Helper()
	if testing.Short() {
		t.Log("-short: types are not checked")
		return
	}
	checkOnce(t, dir, func() {
		cache, err := generationCache()
		if err != nil {
			t.Fatal(err)
		}
		environ := goEnviron()
		checker := typecheck.Checker{CacheDir: filepath.Join(cache, "operon", "typecheck"), Environ: environ, Tags: []string{"e2e"}}
		checker.Go.Progress = io.Discard
		checker.Go.Start = func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
			c := exec.CommandContext(ctx, "go", args...)
			c.Dir, c.Env, c.Stdout, c.Stderr = dir, slices.Concat(environ, variables), out, errOut
			return c.Run()
		}
		findings, err := checker.Check(t.Context(), worktree.NewTree(afero.NewOsFs(), dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if below == "." || strings.HasPrefix(f.File, below+"/") {
				t.Error(f)
			}
		}
	}, "types", below)
}

// CheckTidy checks that go mod tidy would change nothing, except in short mode.
func CheckTidy(t testing.TB, dir string) {
	t.Helper()
	if testing.Short() {
		t.Log("-short: go.mod is not checked")
		return
	}
	checkOnce(t, dir, func() { RunGo(t, dir, nil, "mod", "tidy", "-diff") }, "tidy")
}

// GoEnv returns a setting of the go command.
func GoEnv(t *testing.T, key string) string {
	t.Helper()
	out, err := exec.Command("go", "env", key).Output()
	if err != nil {
		t.Fatalf("go env %s: %v", key, err)
	}
	return strings.TrimSpace(string(out))
}
