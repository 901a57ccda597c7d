package merge

import "testing"

// TestAlternativeRules merges a role whose permissions patch releases wrote as one rule or as two.
func TestAlternativeRules(t *testing.T) {
	t.Parallel()
	rule := func(groups, resources string) string {
		return "- apiGroups:\n  - " + groups + "\n  resources:\n  - " + resources + "\n  verbs:\n  - get\n"
	}
	maps, mine, leases, both, events := rule(`""`, "configmaps"), rule("apps", "deployments"), rule("coordination.k8s.io", "leases"), rule("\"\"\n  - coordination.k8s.io", "configmaps\n  - leases"), rule(`""`, "events")
	base := fileBase(t, "role.yaml", []byte("rules:\n"+both+events))
	for fact := range fileBase(t, "role.yaml", []byte("rules:\n"+maps+leases+events)) {
		base[fact] = true
	}
	for ours, want := range map[string]string{
		both + events:          leases + events,
		both + events + mine:   leases + events + mine,
		maps + leases + events: leases + events,
		maps + events:          events, // the user removed a rule
	} {
		merged, _, err := MergeFile("role.yaml", []byte("rules:\n"+ours), []byte("rules:\n"+leases+events), base, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if string(merged) != "rules:\n"+want {
			t.Errorf("ours\n%s\ngot\n%s\nwant\n%s", ours, merged, want)
		}
	}
}
