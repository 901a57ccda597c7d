package release

import (
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// lookups provides the lookup function of templates and records whether it was called.
type lookups struct {
	release *Release
	mode    lookupMode
	called  bool
}

func (l *lookups) function(apiVersion, kind, namespace, name string) (map[string]any, error) {
	l.called = true
	if !l.mode.cluster || l.in(l.mode.hide, apiVersion, kind, namespace, name) != nil {
		return map[string]any{}, nil
	}
	live, err := engine.NewLookupFunction(l.release.factory.rest)(apiVersion, kind, namespace, name)
	applied := l.in(l.mode.applied, apiVersion, kind, namespace, name)
	if err != nil || applied == nil {
		return live, err
	}
	applied = applied.DeepCopy()
	applied.SetNamespace(namespace)
	return withFields(live, applied.Object), nil
}

func withFields(live, applied map[string]any) map[string]any {
	for name, value := range applied {
		old, inLive := live[name].(map[string]any)
		if fields, ok := value.(map[string]any); ok && inLive {
			value = withFields(old, fields)
		}
		live[name] = value
	}
	return live
}

// in returns an object of a view, or nil. The view may be nil.
func (l *lookups) in(v *view, apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	if v == nil || name == "" {
		return nil
	}
	if namespace == l.release.namespace {
		namespace = ""
	}
	return v.objects[key{schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind(), namespace, name}]
}
