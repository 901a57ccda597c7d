package ansiblekinds

import (
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/ansiblerole"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A guardedFS fails to open files with the extension .guarded.
type guardedFS struct{ *afero.OsFs }

func (g guardedFS) Open(name string) (afero.File, error) {
	if path.Ext(name) == ".guarded" {
		return nil, errors.New("must not be opened")
	}
	return g.OsFs.Open(name)
}

// TestRoleFiles checks that large files and virtual environments are not read, and that a link to a missing file is only an error
// where roles and playbooks are.
func TestRoleFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	fsys := afero.NewOsFs()
	for name, size := range map[string]int{
		"watches.yaml": 2, "roles/site/tasks/main.yml": 2, "roles/site/files/app.guarded": ansiblerole.MaxFileSize + 1,
		"docs/service.yml": 2, "docs/more/secret.yml": 2, "tools/env/pyvenv.cfg": 1, "tools/env/lib/a.guarded": 1,
	} {
		if err := fsys.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := afero.WriteFile(fsys, filepath.Join(root, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		if err := fsys.(afero.Linker).SymlinkIfPossible(target, filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	link("missing", "data.json")
	// Files are also read by their names below a link to a directory, as roles find them there.
	link("../../docs", "roles/site/templates")
	link("more", "docs/again") // links below links are not followed
	link("../..", "roles/site/loop")
	link("/", "roles/site/outside")
	files, err := roleFiles(worktree.NewTree(guardedFS{&afero.OsFs{}}, root))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(files)), []string{"roles/site/files/app.guarded", "roles/site/tasks/main.yml",
		"roles/site/templates/more/secret.yml", "roles/site/templates/service.yml", "watches.yaml"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	link("missing", "roles/site/tasks/other.yml")
	if _, err := roleFiles(worktree.NewTree(fsys, root)); err == nil {
		t.Error("a task file that does not exist is ignored")
	}
}
