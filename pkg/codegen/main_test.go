package codegen

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// peer is controller-gen of the pinned version, built once from the module cache.
var peer struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	if run := benchCommand(); run != nil {
		os.Exit(run())
	}
	debug.SetGCPercent(200) // as in the program
	code := m.Run()
	if peer.dir != "" {
		_ = os.RemoveAll(peer.dir)
	}
	os.Exit(code)
}

func peerBinary(t testing.TB) string {
	t.Helper()
	skipIfShort(t, "it builds controller-gen")
	name := "controller-gen"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	peer.once.Do(func() {
		if peer.dir, peer.err = os.MkdirTemp("", "controller-gen-*"); peer.err != nil {
			return
		}
		// Built in this module, its version would be (devel).
		build := exec.Command("go", "build", "-ldflags", "-w -X sigs.k8s.io/controller-tools/pkg/version.version="+controllerToolsVersion,
			"-o", filepath.Join(peer.dir, name), "sigs.k8s.io/controller-tools/cmd/controller-gen")
		if out, err := build.CombinedOutput(); err != nil {
			peer.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if peer.err != nil {
		t.Fatalf("building controller-gen: %v", peer.err)
	}
	return filepath.Join(peer.dir, name)
}

// skipIfShort skips a test in short mode; reason explains why it is slow.
func skipIfShort(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + reason)
	}
}

// objectArgs and manifestArgs return the arguments of controller-gen in generated Makefiles.
func objectArgs() []string {
	return []string{`object:headerFile=hack/boilerplate.go.txt`, `paths=./...`}
}

func manifestArgs() []string {
	return []string{"rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}
}

// calls returns calls with arguments that are separated by spaces.
func calls(args ...string) []Call {
	var list []Call
	for _, arg := range args {
		list = append(list, Call{Args: strings.Fields(arg)})
	}
	return list
}

// runPeer runs controller-gen as a Makefile does and returns the files that it changed.
func runPeer(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	before := tree(t, dir)
	for _, args := range [][]string{objectArgs(), manifestArgs()} {
		cmd := exec.Command(peerBinary(t), args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("controller-gen %v: %v\n%s", args, err, out)
		}
	}
	changed := tree(t, dir)
	for name, content := range before {
		if bytes.Equal(changed[name], content) {
			delete(changed, name)
		}
	}
	return changed
}

// tree reads all files in a directory and its subdirectories.
func tree(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// fixture copies a fixture to a new directory.
func fixture(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(realTemp(t), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "fixtures", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// realTemp returns a temporary directory whose path contains no link, as the go command reports paths.
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// edit replaces text in a file, which must contain it.
func edit(t testing.TB, root, name, old, new string) {
	t.Helper()
	text := read(t, root, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not contain %q", name, old)
	}
	write(t, root, name, strings.Replace(text, old, new, 1))
}

func generate(t testing.TB, opts Options) map[string][]byte {
	t.Helper()
	result, err := Generate(context.Background(), opts)
	if err != nil {
		t.Fatalf("Generate: %v", err)
	}
	return result.Files
}

func sameFiles(t testing.TB, what string, got, want map[string][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		content, ok := got[name]
		if !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if !bytes.Equal(content, want[name]) {
			t.Errorf("%s: %s differs\n%s", what, name, firstDifference(content, want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: unexpected %s", what, name)
		}
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
