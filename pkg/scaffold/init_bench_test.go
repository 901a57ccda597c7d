package scaffold

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// BenchmarkInit renders and commits a new project.
func BenchmarkInit(b *testing.B) {
	data := renderData()
	data.Versions = Pinned()
	for b.Loop() {
		dir := b.TempDir()
		tx, err := worktree.Begin(b.Context(), worktree.Location{FS: afero.NewOsFs(), Root: dir, StateDirs: []string{dir + "-state"}}, worktree.LockOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Init(tx.Tree, data); err != nil {
			b.Fatal(err)
		}
		if _, err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		tx.Close()
	}
}
