package release

import (
	"helm.sh/helm/v4/pkg/engine"
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
	if !l.mode.cluster || l.hides(apiVersion, kind, namespace, name) {
		return map[string]any{}, nil
	}
	return engine.NewLookupFunction(l.release.factory.rest)(apiVersion, kind, namespace, name)
}

func (l *lookups) hides(apiVersion, kind, namespace, name string) bool {
	if l.mode.hide == nil || name == "" {
		return false
	}
	if namespace == l.release.namespace {
		namespace = ""
	}
	_, ok := l.mode.hide.objects[key{schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind(), namespace, name}]
	return ok
}
