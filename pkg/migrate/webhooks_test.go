package migrate

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestUpdateWebhookPatches sorts webhooks and expects patches to follow, but for one that removes webhooks.
func TestUpdateWebhookPatches(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"config/webhook/manifests.yaml": "kind: ValidatingWebhookConfiguration\nwebhooks:\n- name: b\n- name: c\n- name: a\n",
		"config/webhook/kustomization.yaml": "resources: [manifests.yaml]\npatches:\n- path: edit.yaml\n  target: {kind: ValidatingWebhookConfiguration}\n" +
			"- path: edit.yaml\n  target: {kind: ValidatingWebhookConfiguration}\n- path: remove.yaml\n  target: {kind: ValidatingWebhookConfiguration}\n" +
			"- path: other.yaml\n  target: {kind: MutatingWebhookConfiguration}\n- path: missing.yaml\n  target: {kind: ValidatingWebhookConfiguration}\n" +
			"- target: {kind: ValidatingWebhookConfiguration}\n",
		"config/webhook/edit.yaml":   "- op: add\n  path: /webhooks/1/x\n  value: 1\n- {\"op\": \"replace\", \"path\": \"/webhooks/2\"}\n",
		"config/webhook/remove.yaml": "- op: remove\n  path: /webhooks/1\n",
		"config/webhook/other.yaml":  "- op: add\n  path: /webhooks/1/x\n",
		"config/default/kustomization.yaml": "patches:\n- patch: |-\n    - op: add\n      path: /webhooks/0/y\n  target:\n    kind: ValidatingWebhookConfiguration\n" +
			"# path: /webhooks/0\n",
	}
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		if err := afero.WriteFile(fsys, "/p/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, after := worktree.NewTree(fsys, "/p"), worktree.NewTree(fsys, "/p")
	after.WriteFile("config/webhook/manifests.yaml", []byte("kind: ValidatingWebhookConfiguration\nwebhooks:\n- name: a\n- name: b\n- name: c\n"), 0o644)
	if err := UpdateWebhookPatches(before, after); err != nil {
		t.Fatal(err)
	}
	delete(files, "config/webhook/manifests.yaml")
	files["config/webhook/edit.yaml"] = strings.NewReplacer("/1/x", "/2/x", "/2\"", "/0\"").Replace(files["config/webhook/edit.yaml"])
	files["config/default/kustomization.yaml"] = strings.Replace(files["config/default/kustomization.yaml"], "/0/y", "/1/y", 1)
	for name, want := range files {
		if got, err := after.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: got %v\n%s", name, err, got)
		}
	}
}

// TestLostWebhook reports a webhook that is generated and no longer built.
func TestLostWebhook(t *testing.T) {
	t.Parallel()
	tree := worktree.NewTree(afero.NewMemMapFs(), "/p")
	tree.WriteFile("config/webhook/manifests.yaml", []byte("kind: ValidatingWebhookConfiguration\nwebhooks:\n- name: a\n- name: b\n"), 0o644)
	was := []byte("kind: ValidatingWebhookConfiguration\nwebhooks:\n- name: b\n- name: old\n")
	for is, want := range map[string]string{"- name: b\n": "", "- name: a\n": "b"} {
		if got, err := lostWebhook(tree, was, []byte("kind: ValidatingWebhookConfiguration\nwebhooks:\n"+is)); got != want || err != nil {
			t.Errorf("%q: got %q, %v", is, got, err)
		}
	}
}
