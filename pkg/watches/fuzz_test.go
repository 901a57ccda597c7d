package watches_test

import (
	"bytes"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/watches"
)

// FuzzParse checks that files are parsed without a panic, and that edits change one entry and keep the others.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "# c\n# +kubebuilder:scaffold:watch\n", entry + "# +kubebuilder:scaffold:watch\r\n", "[]", "- &a {version: v1, kind: A, chart: x}\n- *a\n",
		entry + "  selector: {matchLabels: {a: b}}\n  typedOverrideValues: {a: [1, .inf]}\n  overrideValues: {a: 0x10}\n  reconcilePeriod: 1m\n",
		entry + "  valuesFrom: [{kind: Secret, name: a, targetPath: a\\.b[0].c, optional: true}, {kind: ConfigMap, nameFrom: spec.a, valuesKey: k}]\n",
		entry + "  dependsOn: [{version: v1, kind: A, name: a}, {version: v1, kind: B, nameFrom: spec.a, namespace: b, optional: true}]\n",
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

// FuzzParseAnsible checks that files are parsed without a panic, that positions are in the file, and that edits change one entry and
// keep the others.
func FuzzParseAnsible(f *testing.F) {
	for _, seed := range []string{
		"", "# +kubebuilder:scaffold:watch\n", "- {version: v1, kind: A, role: $ROLE}\n# $LINES\n- x\n", "- {version: v1, kind: A, playbook: x, vars: {a: $N, 1: 2001-01-01}, b: c}\r\n",
		"- version: v1\n  kind: A\n  role: \"$LONG\"\n  finalizer: {name: a/b, vars: {a: ${EMPTY}}}\n  blacklist: [{version: v1, kind: B}]\n  selector: ${UNSET}\n",
		"- &a {version: v1, kind: ä$LINES$, x: *a}\n", "$EMPTY\u0085$LINES\r[", "- kind: A\n  version: v1\n  # role: x\n",
		"- version: v1\n  kind: A\n  role: a\n  varsFrom: [{kind: Secret, name: $N, targetVar: a, optional: $O}]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var findings diag.Findings
		if _, err := watches.ParseAnsible(watches.FileName, data, environment); errors.As(err, &findings) {
			for _, finding := range findings {
				if finding.Line > 1+len(data) || finding.Column > 1+len(data) {
					t.Fatalf("%q has no position %s", data, finding.Position)
				}
			}
		}
		before, err := watches.ParseAnsible(watches.FileName, data, nil)
		if err != nil {
			return
		}
		w := watches.NewAnsibleWatch(schema.GroupVersionKind{Group: "fuzz.example.com", Version: "v1", Kind: "Fuzz"})
		w.Role, w.Comments = "fuzz", map[string]string{"role": "fuzz"}
		added, err := watches.AddAnsible(data, w)
		if err != nil {
			return
		}
		if got, err := watches.ParseAnsible(watches.FileName, added, nil); err != nil || len(got) != len(before)+1 {
			t.Fatalf("%q has %d entries, %v; with one more %q", data, len(before), err, added)
		}
		removed, err := watches.RemoveAnsible(added, w.GroupVersionKind())
		if err != nil {
			return
		}
		if got, err := watches.ParseAnsible(watches.FileName, removed, nil); err != nil || len(got) != len(before) {
			t.Fatalf("%q without the entry is %q: %v", added, removed, err)
		}
	})
}
