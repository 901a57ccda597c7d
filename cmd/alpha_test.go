//go:build unix

package cmd_test

import (
	"path/filepath"
	"testing"
)

// TestAlphaGenerateOfOlder scaffolds projects of older layouts anew: what comes is what today's commands write for the
// same resources, and the project stays as it is.
func TestAlphaGenerateOfOlder(t *testing.T) {
	t.Parallel()
	for _, p := range oldProjects() {
		t.Run(p.sdk, func(t *testing.T) {
			t.Parallel()
			dir := p.unpack(t)
			before := readTree(t, dir)
			operon(t, dir, "alpha", "generate", "--output-dir", "../fresh")
			if changed := differing(before, readTree(t, dir)); len(changed) > 0 {
				t.Errorf("changed %q of the project", changed)
			}
			fresh := readTree(t, filepath.Join(dir, "..", "fresh"))
			for _, name := range []string{"cmd/main.go", "internal/controller/memcached_controller.go", "api/v1alpha1/memcached_types.go", "config/crd/bases/cache.example.com_memcacheds.yaml"} {
				if fresh[name] == "" {
					t.Errorf("%s is missing", name)
				}
			}
			operon(t, filepath.Join(dir, "..", "fresh"), "upgrade", "--check")
		})
	}
}
