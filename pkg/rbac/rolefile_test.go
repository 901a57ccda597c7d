package rbac

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The forms of role.yaml that are not generated rules before a marker.
func TestUpdateRole(t *testing.T) {
	t.Parallel()
	rules := []Rule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get"}}}
	const (
		head  = "kind: ClusterRole\nmetadata:\n  name: manager-role\n"
		block = "# +operon:rules:begin\n# Generated from the charts; add your own rules above or below this block.\n" +
			"- apiGroups:\n  - apps\n  resources:\n  - deployments\n  verbs:\n  - get\n# +operon:rules:end\n"
		own = "- apiGroups: [batch]\n  resources: [jobs]\n  verbs: [get]\n"
	)
	for name, test := range map[string]struct{ text, want string }{
		"empty list":              {head + "rules: [] # none\n", head + "rules: # none\n" + block},
		"no line end":             {head + "rules: []", head + "rules:\n" + block},
		"key after the rules":     {head + "rules:\n" + own + "kept: true\n", head + "rules:\n" + own + block + "kept: true\n"},
		"CRLF":                    {strings.ReplaceAll(head+"rules:\n"+own, "\n", "\r\n"), strings.ReplaceAll(head+"rules:\n"+own+block, "\n", "\r\n")},
		"stale block":             {head + "rules:\n" + strings.Replace(block, "deployments", "daemonsets", 1) + own, head + "rules:\n" + block + own},
		"moved block":             {head + "rules:\n" + own + block + own, head + "rules:\n" + own + block + own},
		"granted by the user":     {head + "rules:\n- apiGroups: ['*']\n  resources: [deployments]\n  verbs: ['*']\n" + block, head + "rules:\n- apiGroups: ['*']\n  resources: [deployments]\n  verbs: ['*']\n"},
		"one name only":           {head + "rules:\n- apiGroups: [apps]\n  resources: [deployments]\n  resourceNames: [a]\n  verbs: [get]\n", head + "rules:\n- apiGroups: [apps]\n  resources: [deployments]\n  resourceNames: [a]\n  verbs: [get]\n" + block},
		"marker of operator-sdk":  {head + "rules:\n" + own + "#+kubebuilder:scaffold:rules\n", head + "rules:\n" + own + block + "#+kubebuilder:scaffold:rules\n"},
		"role of several objects": {"kind: Role\nrules:\n" + own + "---\n" + head + "rules: []\n---\nkind: ServiceAccount\n", "kind: Role\nrules:\n" + own + "---\n" + head + "rules:\n" + block + "---\nkind: ServiceAccount\n"},
	} {
		got, err := UpdateRole("role.yaml", []byte(test.text), rules, "the charts")
		if err != nil || string(got) != test.want {
			t.Errorf("%s (%v): got\n%s\nwant\n%s", name, err, got, test.want)
			continue
		}
		if again, err := UpdateRole("role.yaml", got, rules, "the charts"); err != nil || string(again) != string(got) {
			t.Errorf("%s: not stable (%v):\n%s", name, err, again)
		}
		if got, err = UpdateRole("role.yaml", got, nil, "the charts"); err != nil || strings.Contains(string(got), "operon") {
			t.Errorf("%s: without rules (%v):\n%s", name, err, got)
		}
	}
	for text, want := range map[string]string{
		"kind: Service\n":                        "role.yaml: contains no ClusterRole",
		"a: [":                                   "role.yaml: invalid YAML",
		head:                                     "role.yaml:1: the role has no rules",
		head + "rules: [{verbs: [get]}]\n":       "role.yaml:4: rules must be a list in block style",
		head + "rules:\n- verbs: get\n":          "role.yaml:4: invalid rules",
		head + "rules:\n" + block + block:        "role.yaml:14: second block of generated rules",
		head + "rules:\n# +operon:rules:end\n":   "role.yaml:5: end of generated rules without",
		head + "rules:\n# +operon:rules:begin\n": "role.yaml:5: generated rules without",
		"rules:\rkind: ClusterRole\n":            "role.yaml:1: unsupported line break",
		"# a\u2028b\n" + head + "rules: []\n":    "role.yaml:1: unsupported line break",
		head + block + "rules:\n" + own:          "role.yaml:4: rules cannot be inserted here",
		"# +operon:rules:begin\n# +operon:rules:end\n" + head + "rules:\n" + own: "role.yaml:1: rules cannot be inserted here",
	} {
		_, err := UpdateRole("role.yaml", []byte(text), rules, "the charts")
		if err == nil || !strings.HasPrefix(err.Error(), want) || diag.IsUsage(err) {
			t.Errorf("got %v, want %s for\n%s", err, want, text)
		}
	}
}
