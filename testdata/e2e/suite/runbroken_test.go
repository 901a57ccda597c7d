package suite

import (
	"path/filepath"
	"strings"
	"testing"
)

// broken is a bundle that cannot be installed.
type broken struct {
	name string
	// edit makes it of the golden project's ClusterServiceVersion.
	edit func(t *testing.T, csv string) string
	args []string
	want []string
}

// brokenBundles are tests that each bundle which cannot be installed tells its cause well before its time is up, and leaves nothing.
func (b *bench) brokenBundles() (parts []part) {
	replace := func(old, by string) func(*testing.T, string) string {
		return func(t *testing.T, csv string) string {
			t.Helper()
			if !strings.Contains(csv, old) {
				t.Errorf("the ClusterServiceVersion does not have %q", old)
			}
			return strings.ReplaceAll(csv, old, by)
		}
	}
	nowhere := b.image("nowhere:v1")
	for _, row := range []broken{
		{
			"image", replace("image: "+b.image(projectImage), "image: "+nowhere), nil,
			[]string{"the operator does not start: pod ", "the nodes cannot pull " + nowhere},
		},
		{
			"crash", replace("- --leader-elect\n", "- --no-such-flag\n"), nil,
			[]string{"the operator does not start: pod ", "container manager has exited ", "times, with code 2", "flag provided but not defined: -no-such-flag"},
		},
		{
			"crd", replace("    owned:\n", "    required:\n    - {name: things.nowhere.example.com, version: v1, kind: Thing}\n    owned:\n"), nil,
			[]string{"OLM cannot resolve the dependencies of the bundle", "nowhere.example.com", "ConstraintsNotSatisfiable"},
		},
		{
			"rights", replace("          - memcacheds\n          verbs:\n          - get\n          - list\n", "          - memcacheds\n          verbs:\n          - get\n"), nil,
			[]string{"but it is not permitted to read its custom resources", "is not allowed to list and watch memcacheds.rights.example.com"},
		},
		{
			"mode", replace("supported: true", "supported: true"), []string{"--install-mode", "OwnNamespace"},
			[]string{"does not support the install mode OwnNamespace; it supports AllNamespaces"},
		},
		{
			"index", replace("supported: true", "supported: true"), []string{"--index-image", nowhere},
			[]string{"the registry that serves the catalog does not start: pod ", "the nodes cannot pull " + nowhere},
		},
	} {
		parts = append(parts, part{row.name, func(t *testing.T) { b.testBroken(t, row) }})
	}
	return parts
}

func (b *bench) testBroken(t *testing.T, row broken) {
	bundle := filepath.Join(b.variant(t, row.name, row.edit), "bundle")
	b.run(t, b.root, "kubectl", "create", "namespace", row.name)
	args := append([]string{"run", "bundle", bundle, "--namespace", row.name, "--timeout", "10m", "--cleanup-on-failure"}, row.args...)
	out := b.runOperon(t, 1, args...)
	b.says(t, out, row.want...)
	if strings.Contains(out, "not done within") {
		t.Errorf("it has waited until its time was up:\n%s", out)
	}
	b.run(t, b.root, "kubectl", "delete", "namespace", row.name)
}
