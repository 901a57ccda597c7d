package project

import (
	"strings"
	"testing"
)

// A manager that watches one namespace cannot own a cluster-scoped kind.
func TestClusterScopeNeedsAClusterManager(t *testing.T) {
	t.Parallel()
	for _, namespaced := range []bool{true, false} {
		c, err := New(Options{Domain: "example.com", Repo: "example.com/x", ProjectName: "x", Namespaced: namespaced})
		if err != nil {
			t.Fatal(err)
		}
		_, findings := ResolveResource(c, ResourceOptions{Group: "cache", Version: "v1", Kind: "Widget", API: true, Controller: true})
		refused := len(findings) == 1 && strings.Contains(findings[0].Problem, "one namespace")
		if refused != namespaced {
			t.Errorf("namespaced %t: findings %v", namespaced, findings)
		}
	}
}
