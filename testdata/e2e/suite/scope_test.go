package suite

import (
	"testing"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
)

// TestScope checks which objects belong to a test.
func TestScope(t *testing.T) {
	scope := cluster.Scope{Namespaces: []string{"memcached-system"}, Groups: []string{"cache.example.com"}, Names: []string{"memcached-"}}
	for _, row := range []struct {
		group, kind, namespace, name string
		scope                        cluster.Scope
		want                         bool
	}{
		{"", "Namespace", "", "memcached-system", scope, true},
		{"", "Namespace", "", "memcached", scope, false},
		{"", "Secret", "memcached-system", "any", scope, true},
		{"", "Secret", "default", "any", scope, false},
		{"", "Secret", "default", "memcached-token", scope, true},
		{"rbac.authorization.k8s.io", "ClusterRole", "", "memcached-manager", scope, true},
		{"rbac.authorization.k8s.io", "ClusterRole", "", "admin", scope, false},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "", "memcacheds.cache.example.com", scope, true},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "", "memcacheds.other.example.com", scope, false},
		{"cache.example.com", "Memcached", "default", "sample", scope, true},
		{"other.example.com", "Memcached", "default", "sample", scope, false},
		{"other.example.com", "Cluster", "", "any", scope, false},
		{"other.example.com", "Cluster", "", "any", cluster.Scope{}, true},
		{"", "Node", "", "", cluster.Scope{Groups: []string{"cache.example.com"}}, false},
	} {
		if got := row.scope.Contains(row.group, row.kind, row.namespace, row.name); got != row.want {
			t.Errorf("%+v contains %s %s %s/%s: %t", row.scope, row.group, row.kind, row.namespace, row.name, got)
		}
	}
}
