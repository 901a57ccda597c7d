package helmchart

import (
	"fmt"
	"testing"

	"github.com/operon-sdk/operon/pkg/rbac"
)

// TestSourceRules derives the permissions on the sources of values. Those on Secrets are part of the permissions for releases.
func TestSourceRules(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sources []rbac.Source
		want    string
	}{
		"none":    {nil, ""},
		"secrets": {[]rbac.Source{{Kind: "Secret", Name: "a"}, {Kind: "Secret"}}, ""},
		"by name": {[]rbac.Source{{Kind: "ConfigMap", Name: "b"}, {Kind: "ConfigMap", Name: "a"}}, "[a b] [get list watch]"},
		"all":     {[]rbac.Source{{Kind: "ConfigMap", Name: "a"}, {Kind: "ConfigMap"}}, "[] [get list watch]"},
	} {
		rules, _ := Rules([]ChartAPI{{Group: "example.com", Plural: "apps", Rendered: &Rendered{}, Sources: test.sources}})
		got := ""
		for _, rule := range rules {
			if rule.Resources[0] == "configmaps" {
				got += fmt.Sprint(rule.ResourceNames, " ", rule.Verbs)
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
