package scaffold

import (
	"strings"
	"testing"
)

const foreignManager = `apiVersion: v1
kind: Namespace
---
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - image: sidecar
        name: sidecar
      - command:
        - /manager
        image: controller:latest
        name: manager
        ports: []
`

// Projects of operator-sdk and kubebuilder have no markers for roles and environment variables.
func TestInsertWithoutOwnMarkers(t *testing.T) {
	t.Parallel()
	env := map[string]string{"env": "- name: MEMCACHED_IMAGE\n  value: memcached:1\n"}
	got := mustInsert(t, foreignManager, "config/manager/manager.yaml", env)
	want := strings.Replace(foreignManager, "        image: controller:latest\n", "        image: controller:latest\n        env:\n        - name: MEMCACHED_IMAGE\n          value: memcached:1\n", 1)
	if got != want {
		t.Errorf("got\n%s", got)
	}
	got = mustInsert(t, got, "config/manager/manager.yaml", map[string]string{"env": "- name: OTHER_IMAGE\n  value: other:1\n"})
	if want := strings.Replace(want, "          value: memcached:1\n", "          value: memcached:1\n        - name: OTHER_IMAGE\n          value: other:1\n", 1); got != want {
		t.Errorf("got\n%s", got)
	}
	const rbac = "resources:\n  # All roles.\n  - role.yaml\n  - |\n    not - a list\n  # The end.\n\npatches:\n- x.yaml\n"
	got = mustInsert(t, rbac, "config/rbac/kustomization.yaml", map[string]string{"resources": "- role.yaml\n- a.yaml\n- b.yaml\n"})
	if want := strings.Replace(rbac, "    not - a list\n", "    not - a list\n  - a.yaml\n  - b.yaml\n", 1); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := mustInsert(t, "resources:\r\n- a.yaml", "k.yaml", map[string]string{"resources": "- b.yaml\n"}); got != "resources:\r\n- a.yaml\r\n- b.yaml\r\n" {
		t.Errorf("got %q", got)
	}
	for _, none := range []string{"resources: []\n", "resources: [a]\n", "resources:\n", "a: b\n", "- resources\n", ""} {
		if _, err := Insert([]byte(none), "k.yaml", map[string]string{"resources": "- b.yaml\n"}); err == nil {
			t.Errorf("%q took a resource", none)
		}
	}
}

// Edits of a variable are kept, and it is not added again.
func TestInsertKeepsNamedItems(t *testing.T) {
	t.Parallel()
	const file = "volumes:\n- name: OTHER\nenv:\n- name: IMAGE\n  value: mine # by hand\n# +kubebuilder:scaffold:env\nports:\n- name: LATER\n"
	if got := mustInsert(t, file, "m.yaml", map[string]string{"env": "- name: IMAGE\n  value: scaffold\n"}); got != file {
		t.Errorf("got\n%s", got)
	}
	for _, name := range []string{"OTHER", "LATER", "IMAGES"} {
		item := "- name: " + name + "\n  value: x\n"
		if got := mustInsert(t, file, "m.yaml", map[string]string{"env": item}); !strings.Contains(got, item+"# +kube") {
			t.Errorf("%s is in another list:\n%s", name, got)
		}
	}
}

func TestWithoutEmptyEnv(t *testing.T) {
	t.Parallel()
	const filled = "      - name: manager\n        env:\n        # why\n        - name: A\n          value: b\n        ports: []\n"
	if got := string(WithoutEmptyEnv([]byte(filled))); got != filled {
		t.Errorf("got\n%s", got)
	}
	empty := "      - name: manager\n        env:\n        # none\n        ports: []\n"
	if got := string(WithoutEmptyEnv([]byte(empty))); strings.Contains(got, "env:") || !strings.Contains(got, "# none\n        ports: []") {
		t.Errorf("got\n%s", got)
	}
}
