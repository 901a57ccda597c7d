package typecheck

import (
	"go/build"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestModule checks a module before and after a change.
func TestModule(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"/p/go.mod":          "module example.com/p\n\ngo 1.26.0\n",
		"/p/main.go":         "package main\n\nimport \"example.com/p/a\"\n\nfunc main() { a.F() }\n",
		"/p/a/a.go":          "package a\n\nfunc F() {}\n",
		"/p/a/a_test.go":     "package a_test\n\nimport \"example.com/p/a\"\n\nvar _ = a.Missing\n",
		"/p/vendor/v/v.go":   "not Go",
		"/p/other/go.mod":    "module other\n",
		"/p/other/broken.go": "not Go",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := gosource.ReadModule(worktree.NewTree(fsys, "/p"))
	if err != nil {
		t.Fatal(err)
	}
	libraries := &Libraries{system: system{build: build.Default}}
	found, err := libraries.Check(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].File != "a/a_test.go" || found[0].Problem != "undefined: a.Missing" {
		t.Errorf("got errors %v, want the one of a_test.go", found)
	}
	after, err := m.With(map[string][]byte{"a/a.go": []byte("package a\n\nvar Missing int\n"), "main.go": nil})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := libraries.Check(t.Context(), after, nil); err != nil || len(found) > 0 {
		t.Errorf("got errors %v, %v after the change, want none", found, err)
	}
	if _, err := m.With(map[string][]byte{"main.go": []byte("package")}); err == nil {
		t.Error("got no error for a file that is not valid Go")
	}
}
