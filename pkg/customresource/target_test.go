package customresource_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
)

func TestTargetNamespace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		namespace, fixed, from string
		spec                   any
		recorded               string
		want, problem          string
	}{
		"own":               {namespace: "a", want: "a"},
		"none":              {problem: "set targetNamespace"},
		"namespaced kind":   {namespace: "a", fixed: "b", problem: "are for cluster-scoped kinds"},
		"fixed":             {fixed: "b", want: "b"},
		"path":              {from: "spec.to.namespace", spec: map[string]any{"to": map[string]any{"namespace": "b"}}, want: "b"},
		"missing path":      {from: "spec.to", problem: "spec.to, the name of a namespace, is not set"},
		"empty":             {from: "spec.to", spec: map[string]any{"to": ""}, problem: "is not set"},
		"number":            {from: "spec.to", spec: map[string]any{"to": int64(1)}, problem: "must be the name of a namespace"},
		"not a name":        {from: "spec.to", spec: map[string]any{"to": "../b"}, problem: "must be the name of a namespace"},
		"as before":         {fixed: "b", recorded: "b", want: "b"},
		"another as before": {fixed: "b", recorded: "c", problem: `in the namespace "c" and can't be moved to "b"`},
	} {
		kind := customresource.NewKind(0, "operator")
		kind.Target.Annotation = "target"
		if err := kind.SetTarget(test.fixed, test.from); err != nil {
			t.Fatal(err)
		}
		obj := &unstructured.Unstructured{Object: map[string]any{}}
		obj.SetNamespace(test.namespace)
		if test.spec != nil {
			obj.Object["spec"] = test.spec
		}
		if test.recorded != "" {
			obj.SetAnnotations(map[string]string{"target": test.recorded})
		}
		got, err := kind.TargetNamespace(obj)
		if got != test.want || (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	kind := customresource.NewKind(0, "operator")
	if kind.SetTarget("a", "spec.b") == nil || kind.SetTarget("A", "") == nil {
		t.Error("invalid targets are accepted")
	}
}
