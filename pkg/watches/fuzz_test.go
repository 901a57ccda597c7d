package watches_test

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/watches"
)

// FuzzParse checks that files are parsed without a panic, and that edits change one entry and keep the others.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "# c\n# +kubebuilder:scaffold:watch\n", entry + "# +kubebuilder:scaffold:watch\r\n", "[]", "- &a {version: v1, kind: A, chart: x}\n- *a\n",
		entry + "  selector: {matchLabels: {a: b}}\n  typedOverrideValues: {a: [1, .inf]}\n  overrideValues: {a: 0x10}\n  reconcilePeriod: 1m\n",
		"- version: v1\n  kind: A\n  chart: |\n    # +kubebuilder:scaffold:watch\n    x\n", "? - a\n: b\n", "- chart: 'x\n\n  y'\n  kind: B\n  version: v1\n...\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before, err := watches.Parse(data)
		if err != nil {
			return
		}
		w := watches.Watch{Group: "fuzz.example.com", Version: "v1", Kind: "Fuzz", Chart: "fuzz", WatchDependentResources: true}
		added, err := watches.Add(data, w)
		if err != nil {
			return
		}
		if got, err := watches.Parse(added); err != nil || len(got) != len(before)+1 {
			t.Fatalf("%q has %d entries, %v; with one more %q", data, len(before), err, added)
		}
		removed, err := watches.Remove(added, schema.GroupVersionKind{Group: w.Group, Version: w.Version, Kind: w.Kind})
		if err != nil {
			return
		}
		if got, err := watches.Parse(removed); err != nil || len(got) != len(before) {
			t.Fatalf("%q without the entry is %q: %v", added, removed, err)
		}
		if again, err := watches.Remove(removed, w.GroupVersionKind()); err != nil || !bytes.Equal(again, removed) {
			t.Fatalf("%q: removing again makes %q: %v", removed, again, err)
		}
	})
}
