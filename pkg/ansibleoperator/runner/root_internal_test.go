package runner

import (
	"path/filepath"
	"sync"
	"testing"
)

// TestClaimsOfSiblings lets runs of resources in one directory begin and end at the same time.
func TestClaimsOfSiblings(t *testing.T) {
	t.Parallel()
	r := &root{dir: t.TempDir(), own: "own"}
	var all sync.WaitGroup
	for _, name := range []string{"one", "two", "three"} {
		dir := filepath.Join(r.dir, "example.com", "v1", "App", "default", name)
		all.Go(func() {
			for range 300 {
				if err := r.claim(dir); err != nil {
					t.Error(err)
					return
				}
				if err := r.remove(dir); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
