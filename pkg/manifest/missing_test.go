package manifest

import "testing"

// TestMissingFiles checks that all missing files are named with their places, without kustomize's chain of errors.
func TestMissingFiles(t *testing.T) {
	t.Parallel()
	_, err := RefuseRemote.Build(t.Context(), t.TempDir(), "config/default", map[string][]byte{
		"config/default/kustomization.yaml": []byte("resources:\n- ../samples\n- ../rbac\npatches:\n- path: patch.yaml\n- patch: |-\n    kind: A\n"),
		"config/samples/kustomization.yaml": []byte("# Samples.\nresources:\n- one.yaml\n- two.yaml\n"),
		"config/samples/two.yaml":           []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n"),
	})
	const want = `config/samples/kustomization.yaml:3:3: resources: one.yaml: no such file or directory; remove the entry, or create the file
config/default/kustomization.yaml:3:3: resources: ../rbac: no such file or directory; remove the entry, or create the file
config/default/kustomization.yaml:5:9: patches: patch.yaml: no such file or directory; remove the entry, or create the file`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
