package valuesfrom

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestObjectFor checks that a custom resource can't refer to objects of other namespaces.
func TestObjectFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source    Source
		namespace string
		ref       any
		want      string
	}{
		"own namespace":           {Source{Name: "a"}, "mine", nil, "Secret mine/a"},
		"name from":               {Source{NameFrom: "spec.ref"}, "mine", "b", "Secret mine/b"},
		"other namespace":         {Source{Name: "a", Namespace: "other"}, "mine", nil, "the resource is namespaced: the source Secret a must not have a namespace"},
		"cluster-scoped":          {Source{Name: "a", Namespace: "fixed"}, "", nil, "Secret fixed/a"},
		"without a namespace":     {Source{Name: "a"}, "", nil, "the resource is cluster-scoped: the source Secret a needs a namespace and a name"},
		"cluster-scoped with ref": {Source{NameFrom: "spec.ref"}, "", "b", "the resource is cluster-scoped: the source Secret spec.ref needs a namespace and a name"},
		"path":                    {Source{NameFrom: "spec.ref"}, "mine", "../../other/secrets/b", "spec.ref must be the name of a Secret"},
		"slash":                   {Source{NameFrom: "spec.ref"}, "mine", "other/b", "spec.ref must be the name of a Secret"},
		"object":                  {Source{NameFrom: "spec.ref"}, "mine", map[string]any{"name": "b"}, "spec.ref must be the name of a Secret"},
		"not set":                 {Source{NameFrom: "spec.ref"}, "mine", nil, "spec.ref, the name of a Secret, is not set"},
		"empty":                   {Source{NameFrom: "spec.ref"}, "mine", "", "spec.ref, the name of a Secret, is not set"},
		"below a string":          {Source{NameFrom: "spec.ref.name"}, "mine", "b", "spec.ref.name must be the name of a Secret"},
	} {
		resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		if test.ref != nil {
			resource.Object["spec"] = map[string]any{"ref": test.ref}
		}
		resource.SetNamespace(test.namespace)
		test.source.Kind = kindSecret
		o, err := test.source.objectFor(resource)
		got := o.String()
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	live := &unstructured.Unstructured{Object: map[string]any{"kind": kindSecret, "data": map[string]any{
		"text": "cCfDpCJ3Cg==", "binary": "//4AAQ==", "map": "e2E6IDEyMzQ1Njc4OTAxMjMsIGI6IHtjOiAidHJ1ZSJ9fQ==", "list": "W3NlY3JldF0=", "empty": "",
	}}}
	c, err := contentOf(live, func(key string) bool { return key != "unused" })
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"text": "p'ä\"w\n", "map": map[string]any{"a": int64(1234567890123), "b": map[string]any{"c": "true"}}, "empty": map[string]any(nil),
		"binary": "must be text in UTF-8", "list": "must be a mapping", "missing": "has no key missing",
	} {
		source := Source{Kind: kindSecret, Name: "a", Key: key}
		if key == "text" || key == "binary" {
			source.Target = "x"
		}
		v, problem := source.value(object{kind: kindSecret}, c)
		var got any = v.Mapping
		if source.Target != "" {
			got = v.Text
		}
		if problem != nil {
			if text := fmt.Sprint(want); strings.Contains(problem.Error(), text) && !strings.Contains(problem.Error(), "secret") {
				continue
			}
			got = problem.Error()
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", key, got, want)
		}
	}
}
