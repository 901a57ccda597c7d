package ansibleoperator_test

import (
	"fmt"
	"testing"
)

// configMap is a task that creates a ConfigMap named after the resource, with the variable text.
const configMap = `- kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        namespace: "{{ ansible_operator_meta.namespace }}"
        name: "{{ ansible_operator_meta.name }}"
      data:
        text: "{{ text }}"
`

func TestLifecycle(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", configMap)
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n")
	app := e.resource("App", "one", "spec: {text: first}")
	app = e.waitReady(app, "True/Successful")
	cm, err := e.get("v1", "ConfigMap", "one")
	if err != nil || fmt.Sprint(cm.Object["data"]) != "map[text:first]" {
		t.Fatalf("%v, %v", cm.Object, err)
	}
	if owners := cm.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != app.GetUID() {
		t.Errorf("owners %v", owners)
	}
}
