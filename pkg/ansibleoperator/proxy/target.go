package proxy

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A target is the resource that a request addresses.
type target struct {
	schema.GroupVersionResource
	// namespace and name are empty for requests that address all objects, and namespace for cluster-scoped objects.
	namespace, name string
	subresource     string
	isWatch         bool
}

func (t target) objectKey() objectKey {
	return objectKey{t.GroupResource(), types.NamespacedName{Namespace: t.namespace, Name: t.name}}
}

// parseTarget returns the target of a path; ok is false for paths that are not those of resources.
func parseTarget(path string) (t target, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		// The form of watches before the parameter.
		t.isWatch, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" {
		isNamespace := len(parts) < 3 || t.Group == "" && len(parts) == 3 && (parts[2] == "status" || parts[2] == "finalize")
		if !isNamespace {
			t.namespace, parts = parts[1], parts[2:]
		}
	}
	t.Resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = strings.Join(parts[2:], "/")
	}
	return t, true
}

// isWatch reports whether a request asks for changes of objects.
func isWatch(r *http.Request) bool {
	query := r.URL.Query()
	return query.Has("watch") && query.Get("watch") != "false" && query.Get("watch") != "0"
}

// isDryRun reports whether a request changes nothing.
func isDryRun(r *http.Request) bool { return r.URL.Query().Has("dryRun") }

// isUpgrade reports whether a request changes the protocol of its connection.
func isUpgrade(r *http.Request) bool {
	for _, value := range r.Header.Values("Connection") {
		for option := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(option), "upgrade") {
				return true
			}
		}
	}
	return false
}
