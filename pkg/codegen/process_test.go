package codegen

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestProcesses counts processes: one go list and one for the version of Go if imports or modules changed, or else none. It
// changes PATH and therefore is not parallel.
func TestProcesses(t *testing.T) {
	skipIfShort(t, "it loads the types of many packages several times")
	if runtime.GOOS == "windows" {
		t.Skip("the go command of this test is a shell script")
	}
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	script := "#!/bin/sh\necho \"$*\" >>'" + log + "'\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))

	opts := Options{Env: os.Environ(), Root: fixture(t, "shapes"), CacheDir: t.TempDir(), Offline: true}
	started := func() (lists, others int) {
		data, _ := os.ReadFile(log)
		_ = os.Remove(log)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, "-deps=true") {
				lists++
			} else {
				others++
			}
		}
		return lists, others
	}
	for _, step := range []struct {
		name   string
		change func()
		lists  int
	}{
		{"the first time", func() {}, 1},
		{"with nothing changed", func() {}, 0},
		{"with a changed controller", func() {
			edit(t, opts.Root, "internal/controller/shape_controller.go", "verbs=get;list", "verbs=list")
		}, 0},
		{"with a changed type", func() { edit(t, opts.Root, "api/v1/odd_types.go", "Boxed has", "Boxed had") }, 0},
		{"with a new package that has the imports of another one", func() {
			write(t, opts.Root, "api/v2/more_types.go", "// Package v2 is new.\n// +kubebuilder:object:generate=true\npackage v2\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n// More is new.\ntype More struct {\n\tSince metav1.Time `json:\"since\"`\n}\n")
		}, 0},
		{"with a new import", func() {
			write(t, opts.Root, "api/v2/path_types.go", "package v2\n\nimport \"go/token\"\n\n// Place is new.\ntype Place struct {\n\tAt token.Position `json:\"at\"`\n}\n")
		}, 1},
		{"with another go.mod", func() {
			write(t, opts.Root, "go.mod", read(t, opts.Root, "go.mod")+"\n// A comment.\n")
		}, 1},
	} {
		step.change()
		generate(t, opts)
		lists, others := started()
		if lists != step.lists || others > lists {
			t.Errorf("%s: %d processes of go list and %d others, want %d and at most %d",
				step.name, lists, others, step.lists, step.lists)
		}
	}
}

// TestWritesOnlyCache expects no changes in the project and in the temporary directory.
func TestWritesOnlyCache(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	dir := fixture(t, "shapes")
	before := tree(t, dir)
	overlay := map[string][]byte{"api/v1/odd_types.go": []byte("package v1\n\n// Odd is gone.\ntype Oddity struct{}\n")}
	if _, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir, Overlay: overlay}); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "the project", tree(t, dir), before)
	for name := range tree(t, temp) {
		if !strings.HasPrefix(name, "Test") {
			t.Errorf("%s was not removed", name)
		}
	}
}
