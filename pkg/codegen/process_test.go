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

// TestProcesses counts what is started: one go list with two trifles of the packages library beside it, and
// nothing where no type changed. It changes PATH and so runs alone.
func TestProcesses(t *testing.T) {
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
		{"at first", func() {}, 1},
		{"with nothing changed", func() {}, 0},
		{"with a changed controller", func() {
			edit(t, opts.Root, "internal/controller/shape_controller.go", "verbs=get;list", "verbs=list")
		}, 0},
		{"with a changed type", func() { edit(t, opts.Root, "api/v1/odd_types.go", "Boxed has", "Boxed had") }, 1},
	} {
		step.change()
		generate(t, opts)
		lists, others := started()
		if lists != step.lists || others > 2*lists {
			t.Errorf("%s: %d times go list and %d others, want %d and at most %d", step.name, lists, others, step.lists, 2*step.lists)
		}
	}
}

// TestNothingIsWrittenOutsideOfTheCache looks at the project and at the temporary folder.
func TestNothingIsWrittenOutsideOfTheCache(t *testing.T) {
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
			t.Errorf("%s was left behind", name)
		}
	}
}
