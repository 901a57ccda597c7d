package watches_test

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/watches"
)

func TestTargetNamespace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]watches.TargetNamespace{
		"  targetNamespace: caches\n":             {Name: "caches"},
		"  targetNamespaceFrom: spec.to.caches\n": {From: "spec.to.caches"},
		"": {},
	} {
		helm := "- group: example.com\n  version: v1\n  kind: App\n  chart: a\n" + text
		got, err := watches.Parse([]byte(helm))
		if err != nil || got[0].TargetNamespace != want || want.IsSet() != (text != "") {
			t.Fatalf("%v, got %+v", err, got)
		}
		if written, err := watches.Add(nil, got[0]); err != nil || string(written) != helm {
			t.Errorf("%v, wrote\n%s", err, written)
		}
		ansible := "- version: v1\n  group: example.com\n  kind: App\n  role: a\n" + text
		entries, err := watches.ParseAnsible("watches.yaml", []byte(ansible), noVariables)
		if err != nil || entries[0].TargetNamespace != want {
			t.Fatalf("%v, got %+v", err, entries)
		}
		if written, err := watches.AddAnsible(nil, entries[0]); err != nil || string(written) != ansible {
			t.Errorf("%v, wrote\n%s", err, written)
		}
	}
}

func TestTargetNamespaceFindings(t *testing.T) {
	t.Parallel()
	const entries = `- {kind: A, version: v1, SOURCE: a, targetNamespace: Caches}
- {kind: B, version: v1, SOURCE: a, targetNamespaceFrom: spec.}
- {kind: C, version: v1, SOURCE: a, targetNamespace: caches, targetNamespaceFrom: spec.to}
- {kind: D, version: v1, SOURCE: a, targetNamspace: caches}
- {kind: E, version: v1, SOURCE: a, targetNamespace: [caches]}
`
	const want = `watches.yaml:1:53: "Caches": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character
watches.yaml:2:57: "spec.": must be the path of a field of the custom resource, such as spec.secretName
watches.yaml:3:3: targetNamespace and targetNamespaceFrom exclude each other; remove one of them
watches.yaml:4:36: unknown key "targetNamspace"; did you mean "targetNamespace"?
watches.yaml:5:53: must be a string`
	if _, err := watches.Parse([]byte(strings.ReplaceAll(entries, "SOURCE", "chart"))); err == nil || err.Error() != want {
		t.Errorf("chart: got\n%v\nwant\n%s", err, want)
	}
	// The name of the role keeps the columns.
	ansible := strings.ReplaceAll(entries, "SOURCE: a", "role: ab")
	if _, err := watches.ParseAnsible("watches.yaml", []byte(ansible), noVariables); err == nil || err.Error() != want {
		t.Errorf("role: got\n%v\nwant\n%s", err, want)
	}
}
