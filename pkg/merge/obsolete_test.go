package merge

import (
	"slices"
	"strings"
	"testing"
)

// TestObsoleteEntries removes entries that the user switched on, and that theirs no longer has, if they have no effect.
func TestObsoleteEntries(t *testing.T) {
	t.Parallel()
	const name, resources = "config/default/kustomization.yaml", "resources:\n- ../crd\n"
	const edited = resources + "- mine.yaml\n"
	entry := func(variable string) string { return "- name: " + variable + "\n  objref:\n    kind: Service\n" }
	off := "#" + strings.ReplaceAll(strings.TrimSuffix(entry("A")+entry("B"), "\n"), "\n", "\n#") + "\n"
	base := fileBase(t, name, []byte(resources+"vars:\n"+off))
	for _, c := range []struct {
		obsolete []string
		want     string
	}{
		{nil, edited + "vars:\n" + entry("A") + entry("B")},
		{[]string{"A"}, edited + "vars:\n" + entry("B")},
		{[]string{"A", "B"}, edited},
	} {
		isObsolete := func(path []string, _ *Node) bool { return slices.Contains(c.obsolete, path[len(path)-1]) }
		got, _, err := MergeFile(name, []byte(edited+"vars:\n"+entry("A")+entry("B")), []byte(resources), base, Options{IsObsolete: isObsolete})
		if err != nil || string(got) != c.want {
			t.Errorf("obsolete %q: got %v and\n%s", c.obsolete, err, got)
		}
	}
}
