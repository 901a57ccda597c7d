package scaffold

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

const demoMod = `module github.com/example/op

go 1.26.0

// A comment that stays.
require (
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2 // indirect
	sigs.k8s.io/controller-runtime v0.25.2
	sigs.k8s.io/controller-runtime/tools/setup-envtest v0.25.0 // indirect; why
)

require (
	github.com/only/tests v1.0.0 // indirect
	localmodule v0.0.0 // indirect
)

replace localmodule => ./local

ignore ./node_modules
`

func modTree(files map[string]string) *worktree.Tree {
	tree := worktree.NewTree(afero.NewMemMapFs(), "/p")
	for name, data := range files {
		tree.WriteFile(name, []byte(data), 0o644)
	}
	return tree
}

func TestUpdateRequirements(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"go.mod":               demoMod,
		"main.go":              "package main\n\nimport (\n\t\"fmt\"\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\t\"localmodule/x\"\n\t\"github.com/example/op/internal\"\n)\n",
		"internal/x_test.go":   "package internal\n\nimport \"github.com/only/tests\"\n",
		"internal/x_plan9.go":  "package internal\n\nimport \"sigs.k8s.io/controller-runtime\"\n",
		"internal/tagged.go":   "//go:build e2e && !linux\n\npackage internal\n\nimport \"missing.example/b\"\n",
		"internal/ignored.go":  "//go:build ignore\n\npackage main\n\nimport \"k8s.io/api/core/v1\"\n",
		"internal/old.go":      "// +build ignore\n\npackage main\n\nimport \"k8s.io/api/core/v1\"\n",
		"internal/_x.go":       "broken",
		"internal/.x.go":       "broken",
		"testdata/x.go":        "broken",
		"vendor/k8s.io/x.go":   "broken",
		"node_modules/a/x.go":  "broken",
		".cache/x.go":          "broken",
		"_build/x.go":          "broken",
		"nested/go.mod":        "module nested\n",
		"nested/x.go":          "broken",
		"tools/not_ignored.go": "//go:build !ignore\n\npackage tools\n\nimport _ \"missing.example/a\"\n",
	}
	tree := modTree(files)
	unresolved, err := UpdateRequirements(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(unresolved); got != "[missing.example/a missing.example/b]" {
		t.Errorf("unresolved %s", got)
	}
	got, _ := tree.ReadFile("go.mod")
	for _, line := range []string{
		"k8s.io/apimachinery v0.37.2\n", "controller-runtime v0.25.2\n", "github.com/only/tests v1.0.0\n", "localmodule v0.0.0\n",
		"k8s.io/api v0.37.2 // indirect\n", "setup-envtest v0.25.0 // indirect; why\n", "// A comment that stays.\n", "ignore ./node_modules\n",
	} {
		if !strings.Contains(string(got), line) {
			t.Errorf("missing %q in\n%s", line, got)
		}
	}
	if _, err := UpdateRequirements(tree); err != nil {
		t.Fatal(err)
	}
	if again, _ := tree.ReadFile("go.mod"); string(again) != string(got) {
		t.Errorf("twice gives\n%s", again)
	}
}

func TestUpdateRequirementsKeepsCRLF(t *testing.T) {
	t.Parallel()
	mod := strings.ReplaceAll("module m.example/m\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2 // indirect\n", "\n", "\r\n")
	tree := modTree(map[string]string{"go.mod": mod, "m.go": "package m\r\n\r\nimport _ \"k8s.io/api/core/v1\"\r\n"})
	if _, err := UpdateRequirements(tree); err != nil {
		t.Fatal(err)
	}
	if got, _ := tree.ReadFile("go.mod"); string(got) != strings.Replace(mod, " // indirect", "", 1) {
		t.Errorf("got %q", got)
	}
}

func TestUpdateRequirementsRefuses(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		"go.mod is missing":                           {"m.go": "package m\n"},
		"go.mod has no module line":                   {"go.mod": "go 1.26\n"},
		"go.mod:2: unknown directive":                 {"go.mod": "module m\nnonsense x\n"},
		"a/m.go:2:9: missing import path; correct it": {"go.mod": "module m\n", "a/m.go": "package m\nimport x\n"},
	} {
		if _, err := UpdateRequirements(modTree(files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}

func TestAddRequirement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ module, version, want string }{
		{"github.com/cert-manager/cert-manager", "v1.18.2", "github.com/cert-manager/cert-manager v1.18.2\n"},
		{"k8s.io/api", "v0.38.0", "k8s.io/api v0.38.0\n"},
		{"k8s.io/api", "v0.30.0", "k8s.io/api v0.37.2\n"},
	} {
		tree := modTree(map[string]string{"go.mod": demoMod})
		if err := AddRequirement(tree, c.module, c.version); err != nil {
			t.Fatal(err)
		}
		if got, _ := tree.ReadFile("go.mod"); !strings.Contains(string(got), "\t"+c.want) || strings.Count(string(got), c.module+" ") != 1 {
			t.Errorf("%s@%s:\n%s", c.module, c.version, got)
		}
	}
	for _, c := range [][2]string{{"k8s.io/api", "latest"}, {"k8s.io/api/v2", "v1.0.0"}, {"a b", "v1.0.0"}, {"github.com/example/op", "v1.0.0"}} {
		if err := AddRequirement(modTree(map[string]string{"go.mod": demoMod}), c[0], c[1]); err == nil {
			t.Errorf("%v accepted", c)
		}
	}
}

func writeFile(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// moduleFiles returns go.mod and go.sum.
func moduleFiles(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// go mod tidy finds nothing to do after imports were added and removed.
func TestRequirementsAreTidy(t *testing.T) {
	t.Parallel()
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	version := func(module string) string {
		_, rest, ok := strings.Cut(string(own), "\t"+module+" ")
		if !ok {
			t.Fatalf("go.mod does not require %s", module)
		}
		return strings.Fields(rest)[0]
	}
	dir := t.TempDir()
	tidy := func(args ...string) (string, error) {
		cmd := exec.Command(gobin, append([]string{"mod", "tidy"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	// The second file needs only what the first one requires.
	writeFile(t, dir, "go.sum", string(sum))
	writeFile(t, dir, "go.mod", fmt.Sprintf("module m.example/m\n\ngo 1.26.0\n\nrequire (\n\tgolang.org/x/tools %s\n\tgolang.org/x/mod %s\n)\n",
		version("golang.org/x/tools"), version("golang.org/x/mod")))
	writeFile(t, dir, "a.go", "package m\n\nimport _ \"golang.org/x/tools/go/packages\"\n")
	if out, err := tidy(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := moduleFiles(t, dir)
	const second = "//go:build windows && never\n\npackage m\n\nimport _ \"golang.org/x/mod/semver\"\n"
	for _, step := range []func(tree *worktree.Tree){
		func(tree *worktree.Tree) { tree.WriteFile("b/b_test.go", []byte(second), 0o644) },
		func(tree *worktree.Tree) { tree.Remove("b/b_test.go") },
	} {
		tx, err := worktree.Begin(t.Context(), worktree.Location{FS: afero.NewOsFs(), Root: dir, StateDirs: []string{dir + "-state"}}, worktree.LockOptions{})
		if err != nil {
			t.Fatal(err)
		}
		step(tx.Tree)
		if _, err := UpdateRequirements(tx.Tree); err != nil {
			t.Fatal(err)
		}
		changes, err := tx.Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if tx.Close(); len(changes) != 2 {
			t.Errorf("changes %v", changes)
		}
		if out, err := tidy("-diff"); err != nil || out != "" {
			t.Errorf("not tidy: %v\n%s", err, out)
		}
	}
	if got := moduleFiles(t, dir); got != before {
		t.Errorf("not as before:\n%s", got)
	}
}

func TestUpdateRequirementsIsFast(t *testing.T) {
	dir := manyAPIs(t, 50)
	best := time.Hour
	for range 5 {
		start := time.Now()
		if _, err := UpdateRequirements(worktree.NewTree(afero.NewOsFs(), dir)); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	if best > 100*time.Millisecond { // 10 ms on a machine that has nothing else to do
		t.Errorf("50 APIs take %v", best)
	}
}

func BenchmarkUpdateRequirements(b *testing.B) {
	dir := manyAPIs(b, 50)
	for b.Loop() {
		if _, err := UpdateRequirements(worktree.NewTree(afero.NewOsFs(), dir)); err != nil {
			b.Fatal(err)
		}
	}
}

// manyAPIs writes a project with that many APIs and their usual files.
func manyAPIs(t testing.TB, n int) string {
	dir := t.TempDir()
	write := func(name, data string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", demoMod)
	body := strings.Repeat("func f() { /* a line of a file of the usual size, which is not looked at */ }\n", 150)
	for i := range n {
		for _, file := range []string{"api/v1/k%d_types.go", "internal/controller/k%d_controller.go", "internal/controller/k%d_controller_test.go", "internal/webhook/v1/k%d_webhook.go"} {
			write(fmt.Sprintf(file, i), "package p\n\nimport (\n\t\"context\"\n\n\t\"k8s.io/api/core/v1\"\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\n"+body)
		}
		write(fmt.Sprintf("config/samples/k%d.yaml", i), "a: 1\n")
	}
	return dir
}
