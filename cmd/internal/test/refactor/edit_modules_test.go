//go:build unix

package refactor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestEditMultigroupWithEmptyModuleCache moves a project with the module cache of the machine and with an empty one
// that is filled from it. The results are the same. Without checks neither modules nor a network are needed.
func TestEditMultigroupWithEmptyModuleCache(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it unpacks modules")
	warm := clitest.NewProject(t,
		"init --domain example.com --repo example.com/cold",
		createBoth+"--group cache --version v1 --kind Memcached",
	)
	cold, unchecked := clitest.CopyTree(t, warm), clitest.CopyTree(t, warm)
	before := clitest.CopyTree(t, warm)
	clitest.MustRun(t, warm, "edit", "--multigroup")

	// What the compiler makes is the same for every module cache then.
	const flags = "GOFLAGS=-trimpath -modcacherw"
	none := []string{flags, "GOMODCACHE=" + t.TempDir(), "GOPROXY=off"}
	if code, out, errOut := clitest.RunWith(t, unchecked, "", none, "edit", "--multigroup", "--no-verify"); code != 0 {
		t.Fatalf("--no-verify: exit code %d\n%s%s", code, out, errOut)
	}
	clitest.CompareTrees(t, warm, unchecked)

	empty := []string{
		flags, "GOMODCACHE=" + t.TempDir(), "GOSUMDB=off",
		"GOPROXY=file://" + filepath.ToSlash(clitest.GoEnv(t, "GOMODCACHE")) + "/cache/download",
	}
	code, out, errOut := clitest.RunWith(t, cold, "", empty, "edit", "--multigroup", "--offline")
	if code != 1 || !strings.Contains(errOut, "sigs.k8s.io/controller-runtime") || !strings.Contains(errOut, "without --offline") {
		t.Errorf("--offline: exit code %d\n%s%s", code, out, errOut)
	}
	clitest.CompareTrees(t, before, cold)
	code, out, errOut = clitest.RunWith(t, cold, "", empty, "edit", "--multigroup")
	if code != 0 || !strings.Contains(errOut, "downloading sigs.k8s.io/controller-runtime v") {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	clitest.CompareTrees(t, warm, cold)
}

// TestEditMultigroupNoVerify moves code that does not compile, which is refused without the flag.
func TestEditMultigroupNoVerify(t *testing.T) {
	t.Parallel()
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/unchecked",
		createBoth+"--group cache --version v1 --kind Memcached",
	)
	const more = "package controller\n\nvar _ MemcachedReconciler = missing\n"
	clitest.WriteFiles(t, dir, map[string]string{"internal/controller/memcached_more.go": more})
	before := clitest.CopyTree(t, dir)
	if out := clitest.MustReject(t, dir, "edit", "--multigroup"); !strings.Contains(out, "internal/controller/memcached_more.go:3:29: undefined: missing") {
		t.Errorf("got %s", out)
	}
	clitest.CompareTrees(t, before, dir)
	clitest.MustRun(t, dir, "edit", "--multigroup", "--no-verify")
	files := clitest.ReadTree(t, dir)
	if got, want := files["internal/controller/cache/memcached_more.go"], strings.Replace(more, "package controller", "package cache", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if files["api/cache/v1/memcached_types.go"] == "" {
		t.Error("the types have not moved")
	}
}

// TestTerminatedEdit ends a command by SIGTERM while it waits for the go command: it changes nothing and leaves no lock.
func TestTerminatedEdit(t *testing.T) {
	t.Parallel()
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/terminated",
		createBoth+"--group cache --version v1 --kind Memcached",
	)
	before := clitest.CopyTree(t, dir)
	bin := t.TempDir()
	started := filepath.Join(bin, "started")
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n: >'"+started+"'\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := clitest.StartProcess(t, dir, []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}, "edit", "--multigroup")
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) || time.Now().After(deadline) {
			t.Fatalf("the go command was not run: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(clitest.StateDir(t, dir), "lock")); err != nil {
		t.Fatalf("the command runs without a lock: %v", err)
	}
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.MustEnd(1)
	if !strings.HasSuffix(p.Output(), "error: interrupted\n") {
		t.Errorf("got %s", p.Output())
	}
	if _, err := os.Stat(filepath.Join(dir, ".operon")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf(".operon is left: %v", err)
	}
	// That the user created the project is recorded.
	if left, err := os.ReadDir(clitest.StateDir(t, dir)); len(left) != 1 || left[0].Name() != "trusted" || err != nil {
		t.Errorf("the state directory contains %v, %v", left, err)
	}
	clitest.CompareTrees(t, before, dir)
}
