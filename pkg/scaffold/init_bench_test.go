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
		_, err := worktree.Update(b.Context(), worktree.Location{FS: afero.NewOsFs(), Root: dir, StateDirs: []string{dir + "-state"}}, worktree.LockOptions{}, func(tree *worktree.Tree) error {
			_, err := Init(tree, data)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
