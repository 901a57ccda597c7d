package refactor

import "testing"

// The kind of a role follows the scope whatever its rules are, and line ends are kept. If two documents match, the user has to change one.
func TestScopeKinds(t *testing.T) {
	t.Parallel()
	change := []conflict{{old: []string{"kind: Role"}, new: []string{"kind: ClusterRole"}}, {old: []string{"- '*'"}, new: []string{"- get"}}}
	for text, want := range map[string]struct {
		text string
		left int
	}{
		"kind: Role\nrules:\n- '*'\n":    {"kind: ClusterRole\nrules:\n- '*'\n", 1},
		"a: b\r\nkind: Role\r\nc: d\r\n": {"a: b\r\nkind: ClusterRole\r\nc: d\r\n", 1},
		"kind: Role\n---\nkind: Role\n":  {"kind: Role\n---\nkind: Role\n", 2},
		"roleRef:\n  kind: Role\n":       {"roleRef:\n  kind: Role\n", 2},
	} {
		if got, left := changeKinds(text, change); got != want.text || len(left) != want.left {
			t.Errorf("%q: got %q and %d conflicts, want %q and %d", text, got, len(left), want.text, want.left)
		}
	}
}
