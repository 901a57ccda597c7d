package clitest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
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
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod "+BuildFlags, "GOTOOLCHAIN=local")
	return c
}

// CheckCompiles checks that a project is tidy, and vets it, which compiles it, except in short mode.
func CheckCompiles(t testing.TB, dir string) {
	t.Helper()
	CheckTidy(t, dir)
	CheckVet(t, dir, "./...")
}

// CheckVet vets packages of a project and their tests, including the end-to-end test, except in short mode.
func CheckVet(t testing.TB, dir string, packages string) {
	t.Helper()
	if testing.Short() {
		t.Log("-short: not compiled")
		return
	}
	checkOnce(t, dir, func() { RunGo(t, dir, nil, "vet", "-tags=e2e", packages) }, "vet", packages)
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
