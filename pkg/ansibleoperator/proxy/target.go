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
}

func (t target) key() types.NamespacedName {
	return types.NamespacedName{Namespace: t.namespace, Name: t.name}
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
	switch parts[0] {
	case "watch", "proxy": // The form of requests of Kubernetes 1.9 and older.
		return t, false
	case "namespaces":
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
