package project

import (
	"strings"
	"testing"
)

// TestObjectNames checks that all names that begin with the name of a project are valid, that short ones are the peers', and that
// different projects have different names.
func TestObjectNames(t *testing.T) {
	t.Parallel()
	prefixes := map[string]string{}
	for length := 1; length <= 63; length++ {
		for _, name := range []string{
			strings.Repeat("a", length), strings.Repeat("a", length-1) + "b", ("1-" + strings.Repeat("ab-", 21))[:length-1] + "0",
		} {
			prefix := ObjectPrefix(name)
			for _, object := range []string{prefix + "-webhook-service", prefix + "-" + MetricsService(prefix+"-"), ObjectNamespace(name), KindCluster(name) + "-control-plane"} {
				if problem := labelProblem(object); problem != "" {
					t.Errorf("%s: %s %s", name, object, problem)
				}
			}
			if length <= 28 && MetricsService(prefix+"-") != "controller-manager-metrics-service" || length <= 47 && prefix != name || length <= 40 && KindCluster(name) != name+"-test-e2e" {
				t.Errorf("%s: %s, %s, %s", name, prefix, MetricsService(prefix+"-"), KindCluster(name))
			}
			if other := prefixes[prefix]; other != "" && other != name {
				t.Errorf("%s and %s have the same prefix", name, other)
			}
			prefixes[prefix] = name
		}
	}
	const long = "a-name-with-the-greatest-number-of-characters-of-a-dns-label-63"
	if got := ObjectPrefix(long); got != "a-name-with-the-greatest-number-of-cha-"+got[len(got)-8:] || got != ObjectPrefix(long) {
		t.Errorf("got %s", got)
	}
}
