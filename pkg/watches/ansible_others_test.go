package watches_test

import (
	"testing"

	"github.com/operon-sdk/operon/pkg/watches"
)

func TestOtherResourcesFindings(t *testing.T) {
	t.Parallel()
	const text = `- version: v1
  kind: A
  role: r
  watchOtherResources:
  - {version: v1, kind: Secret}
  - {version: v1, kind: Secret, name: a, nameFrom: spec.b}
  - {version: v1, kind: Secret, nameform: spec.b, selector: {}}
  - {version: v1, kind: Secret, nameFrom: data.b}
  - {kind: Secret, name: A_b, namespace: c.d}
  - secret
- {version: v1, kind: B, role: r, watchOtherResources: {name: a}}
- {version: v1, kind: C, role: r, watchOtherResource: []}
`
	const want = `w.yaml:5:5: name, nameFrom or selector is required
w.yaml:6:5: name and nameFrom exclude each other; remove one of them
w.yaml:7:33: unknown key "nameform"; did you mean "nameFrom"?
w.yaml:8:43: "data.b": must be the path of a field of the custom resource, such as spec.secretName
w.yaml:9:5: version is required
w.yaml:9:26: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
w.yaml:9:42: "c.d": must not contain dots
w.yaml:10:5: must have the keys group, version, kind, namespace, and name, nameFrom or selector
w.yaml:11:56: must be a list of objects with the keys group, version, kind, namespace, and name, nameFrom or selector
w.yaml:12:35: unknown key "watchOtherResource"; did you mean "watchOtherResources"?`
	_, err := watches.ParseAnsible("w.yaml", []byte(text), environment)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
