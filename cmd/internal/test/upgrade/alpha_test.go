//go:build unix

package upgrade

import (
	"path/filepath"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestAlphaGenerateOfOlder scaffolds projects of older layouts again: the result matches what the current commands write for
// the same resources, and the old project is not changed.
func TestAlphaGenerateOfOlder(t *testing.T) {
	t.Parallel()
	for _, p := range oldProjects() {
		t.Run(p.sdk, func(t *testing.T) {
			t.Parallel()
			dir := p.unpack(t)
			before := clitest.ReadTree(t, dir)
			clitest.MustRun(t, dir, "alpha", "generate", "--output-dir", "../fresh")
			if changed := differing(before, clitest.ReadTree(t, dir)); len(changed) > 0 {
				t.Errorf("changed %q of the project", changed)
			}
			fresh := clitest.ReadTree(t, filepath.Join(dir, "..", "fresh"))
			for _, name := range []string{"cmd/main.go", "internal/controller/memcached_controller.go", "api/v1alpha1/memcached_types.go", "config/crd/bases/cache.example.com_memcacheds.yaml"} {
				if fresh[name] == "" {
					t.Errorf("%s is missing", name)
				}
			}
			clitest.MustRun(t, filepath.Join(dir, "..", "fresh"), "upgrade", "--check")
		})
	}
}
