package manifest

import (
	"io/fs"
	"testing"
)

func TestAtOrigins(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"config/manifests/kustomization.yaml": "resources: [../default, ../twice, ../../missing.yaml, https://example.com/x]\n",
		"config/default/kustomization.yaml":   "namePrefix: p-\nnameSuffix: -v1\nresources:\n- ../manager\n- ../crd/crd.yaml\n",
		"config/manager/kustomization.yaml":   "namePrefix: inner-\nresources: [manager.yaml]\n",
		"config/manager/manager.yaml": "# A comment.\napiVersion: v1\nkind: Namespace\nmetadata:\n  labels: {a: b}\n  name: system\n---\n" +
			"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: \"manager\"\n  annotations:\n    a: b\nspec:\n  template:\n    spec:\n      containers: [{name: manager}]\n",
		"config/crd/crd.yaml":             "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: frogs.example.com\n",
		"config/twice/kustomization.yaml": "resources: [a.yaml, b.yaml]\n",
		"config/twice/a.yaml":             "apiVersion: v1\nkind: Secret\nmetadata:\n  name: twice\n  namespace: a\n",
		"config/twice/b.yaml":             "apiVersion: v1\nkind: Secret\nmetadata:\n  name: twice\n  namespace: b\n",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	object := func(apiVersion, kind, name string) string {
		return "---\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  annotations: {a: b, added: c}\n  name: " + name + "\nspec:\n  template: {spec: {containers: [{name: manager}]}}\n"
	}
	built, problems := Decode("config/manifests", []byte(object("v1", "Namespace", "p-system")+object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "frogs.example.com")+
		object("v1", "Secret", "twice")+object("v1", "ConfigMap", "generated")+object("apps/v1", "Deployment", "p-inner-manager-v1")))
	if problems != nil {
		t.Fatal(problems)
	}
	objects := AtOrigins(built, "config/manifests", read)
	for i, want := range []string{"config/manager/manager.yaml:2", "config/crd/crd.yaml:1", "config/manifests:18", "config/manifests:26", "config/manager/manager.yaml:8"} {
		if got := objects[i].Position.String(); got != want {
			t.Errorf("%s: got %s, want %s", objects[i], got, want)
		}
	}
	deployment := objects[4]
	for want, field := range map[string][]string{
		"config/manager/manager.yaml:13:5": {"metadata", "annotations", "a"},
		"config/manager/manager.yaml:12:3": {"metadata", "annotations", "added"},
		// A patch may have added containers before this one.
		"config/manager/manager.yaml:17:7": {"spec", "template", "spec", "containers", "0", "name"},
	} {
		if got := deployment.Locate(field...).String(); got != want {
			t.Errorf("%v: got %s, want %s", field, got, want)
		}
	}
	if built[0].Position.File != "config/manifests" {
		t.Error("AtOrigins changed its argument")
	}
}
