package local

import (
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/project"
)

func TestResourceNames(t *testing.T) {
	t.Parallel()
	resource := func(group, version, plural string, api bool) project.Resource {
		res := project.Resource{GVK: project.GVK{Group: group, Domain: "example.com", Version: version}, Plural: plural}
		if api {
			res.API = &project.API{CRDVersion: "v1"}
		}
		return res
	}
	got := resourceNames([]project.Resource{
		resource("cache", "v1", "memcacheds", true), resource("cache", "v2", "memcacheds", true),
		resource("a", "v1", "ponds", true), resource("b", "v1", "ponds", true),
		resource("cache", "v1", "services", true), resource("apps", "v1", "deployments", false),
	}, map[string]string{"services": "", "deployments": "apps"})
	want := []string{"memcacheds", "ponds.a.example.com", "ponds.b.example.com", "services.cache.example.com"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNeedsCluster checks which commands of kubectl run without a control plane.
func TestNeedsCluster(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{[]string{"get", "pods"}, true},
		{[]string{"apply", "--help"}, false},
		{[]string{"version", "--client"}, false},
		{[]string{"config", "view"}, false},
		{nil, false}, // kubectl -- get pods
	} {
		if got := needsCluster(tc.args); got != tc.want {
			t.Errorf("needsCluster(%q) = %t, want %t", tc.args, got, tc.want)
		}
	}
}
