package rbac

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// FuzzUpdateRole checks that the role files of users keep their lines and rules, are valid, and do not change when they are
// updated again, and that the generated rules are removed with the last chart.
func FuzzUpdateRole(f *testing.F) {
	const (
		head = "kind: ClusterRole\nmetadata:\n  name: manager-role\n"
		own  = "- apiGroups: [batch]\n  resources: [jobs]\n  verbs: [get]\n"
	)
	for _, seed := range []string{
		"", head, head + "rules: [] # none\n", head + "rules: []", head + "rules:\n" + own + "kept: true\n",
		strings.ReplaceAll(head+"rules:\n"+own, "\n", "\r\n"), head + "rules:\n" + own + "#+kubebuilder:scaffold:rules\n",
		head + "rules:\n  # +operon:rules:begin\n  - verbs: [get]\n  # +operon:rules:end\n  - apiGroups: ['*']\n    resources: [pods]\n    verbs: ['*']\n",
		"kind: Role\nrules:\n" + own + "---\n" + head + "rules: []\n---\nkind: ServiceAccount\n", head + "rules:\n- &a\n  verbs: [get]\n- *a\n",
		"{kind: ClusterRole, rules: []}\n", head + "rules:\n- verbs:\n  - |\n    a\n\n\n---\nb: c\n", head + "rules: [\n]\n", head + "rules: null\n",
	} {
		f.Add([]byte(seed))
	}
	rules := []Rule{
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
	}
	// without returns a file without the generated rules, the rules in it and their lines.
	without := func(t *testing.T, text []byte) ([]byte, *roleText) {
		cleared, err := UpdateRole("role.yaml", text, nil, "the charts")
		if err != nil {
			t.Fatalf("%q: removing the rules: %v", text, err)
		}
		role, err := findRole("role.yaml", bytes.ReplaceAll(cleared, []byte("\r\n"), []byte("\n")))
		if err != nil {
			t.Fatalf("%q without rules is %q: %v", text, cleared, err)
		}
		return cleared, role
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		updated, err := UpdateRole("role.yaml", data, rules, "the charts")
		if err != nil {
			return
		}
		if again, err := UpdateRole("role.yaml", updated, rules, "the charts"); err != nil || !bytes.Equal(again, updated) {
			t.Fatalf("%q: is %q, and again %q: %v", data, updated, again, err)
		}
		role, err := findRole("role.yaml", bytes.ReplaceAll(updated, []byte("\r\n"), []byte("\n")))
		if err != nil {
			t.Fatalf("%q: is %q: %v", data, updated, err)
		}
		granted, wanted := Permissions{}, Permissions{}
		for _, r := range role.rules {
			granted.AddRule(r)
		}
		for _, r := range rules {
			wanted.AddRule(r)
		}
		if missing := wanted.Without(granted).Rules(); len(missing) > 0 {
			t.Fatalf("%q: is %q, without %v", data, updated, missing)
		}
		before, kept := without(t, data)
		after, left := without(t, updated)
		if !slices.EqualFunc(kept.rules, left.rules, func(a, b Rule) bool {
			return slices.Equal(a.APIGroups, b.APIGroups) && slices.Equal(a.Resources, b.Resources) && slices.Equal(a.ResourceNames, b.ResourceNames) &&
				slices.Equal(a.NonResourceURLs, b.NonResourceURLs) && slices.Equal(a.Verbs, b.Verbs)
		}) {
			t.Fatalf("%q: has the rules %v, and after an update %v", data, kept.rules, left.rules)
		}
		// The line of an empty list is changed, and a last line is ended.
		if !kept.empty && strings.TrimRight(string(before), "\r\n") != strings.TrimRight(string(after), "\r\n") {
			t.Fatalf("%q: without rules it is %q, and after an update %q", data, before, after)
		}
	})
}
