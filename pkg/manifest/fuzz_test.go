package manifest

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzBuild checks that no kustomization of local files, and no manifest, patch or value in it, makes kustomize panic.
func FuzzBuild(f *testing.F) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: c}\n"
	for _, kustomization := range []string{
		"resources: [a.yaml]\nnamePrefix: x-\n", "resources: [a.yaml]\npatches:\n- path: b.yaml\n- target: {kind: ConfigMap}\n  patch: |-\n    - {op: add, path: /data/d, value: e}\n",
		"resources: [a.yaml]\nreplacements:\n- source: {kind: ConfigMap, fieldPath: data.b}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b], options: {delimiter: x, index: 1}}]\n",
		"configMapGenerator: [{name: a, files: [b.yaml], literals: [a=b]}]\n", "resources: [.]\n", "components: [a.yaml]\n", "resources: &a [*a]\n",
	} {
		f.Add([]byte(kustomization), []byte(object), []byte("metadata: {name: a}\nkind: ConfigMap\napiVersion: v1\ndata: &x {b: null}\n"))
	}
	f.Fuzz(func(t *testing.T, kustomization, a, b []byte) {
		if !local(kustomization) {
			t.Skip("it may refer to the network, to programs or to the environment")
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), kustomization, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = RefuseRemote.Build(t.Context(), dir, ".", map[string][]byte{"a.yaml": a, "b.yaml": b})
	})
}
