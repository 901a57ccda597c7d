package scaffold

import (
	"testing"

	"github.com/spf13/afero"
)

func TestPrune(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for _, dir := range []string{"/p/a/b/c", "/p/d/e", "/p/f"} {
		if err := fsys.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := afero.WriteFile(fsys, "/p/d/kept", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	Prune(fsys, "/p", []Change{{Path: "a/b/c/gone"}, {Path: "d/e/gone"}, {Path: "f/new", New: []byte{}}, {Path: "gone"}})
	for dir, want := range map[string]bool{"/p": true, "/p/a": false, "/p/d": true, "/p/d/e": false, "/p/f": true} {
		if got, _ := afero.DirExists(fsys, dir); got != want {
			t.Errorf("%s is there: %t", dir, got)
		}
	}
}
