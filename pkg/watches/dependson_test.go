package watches_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/watches"
)

func TestDependsOn(t *testing.T) {
	t.Parallel()
	const text = `- group: example.com
  version: v1
  kind: App
  chart: a
  dependsOn:
    - group: db.example.com
      kind: Database
      nameFrom: spec.databases.name
      namespace: shared
      version: v1
    - kind: Node
      name: a
      optional: true
      version: v1
`
	want := []watches.Dependency{
		{GroupVersionKind: schema.GroupVersionKind{Group: "db.example.com", Version: "v1", Kind: "Database"}, NameFrom: "spec.databases.name", Namespace: "shared"},
		{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Name: "a", Optional: true},
	}
	got, err := watches.Parse([]byte(text))
	if err != nil || !reflect.DeepEqual(got[0].DependsOn, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if written, err := watches.Add(nil, got[0]); err != nil || string(written) != text {
		t.Errorf("%v, wrote\n%s", err, written)
	}
	const ansible = `- version: v1
  group: example.com
  kind: App
  role: a
  dependsOn:
    - kind: Node
      name: a
      optional: true
      version: v1
`
	runs, err := watches.ParseAnsible("w.yaml", []byte(ansible), nil)
	if err != nil || !reflect.DeepEqual(runs[0].DependsOn, want[1:]) {
		t.Fatalf("got %+v, %v", runs, err)
	}
	if written, err := watches.AddAnsible(nil, runs[0]); err != nil || string(written) != ansible {
		t.Errorf("%v, wrote\n%s", err, written)
	}
}

func TestDependsOnFindings(t *testing.T) {
	t.Parallel()
	_, err := watches.Parse([]byte(`- kind: App
  version: v1
  chart: a
  dependsOn:
  - {kind: Database, name: a}
  - {version: v1, kind: Database, name: a, nameFrom: spec.a}
  - {version: v1, kind: Database, namefrom: spec.a}
  - {version: v1, kind: Database, name: A_b, namespace: c.d, optional: maybe}
  - {version: v1, kind: Database, nameFrom: "{{ .spec.a }}"}
  - database
- {kind: B, version: v1, chart: b, dependsOn: {kind: Database}}
- {kind: C, version: v1, chart: c, dependOn: []}
`))
	const want = `watches.yaml:5:5: version is required
watches.yaml:6:5: name and nameFrom exclude each other; remove one of them
watches.yaml:7:5: name or nameFrom is required
watches.yaml:7:35: unknown key "namefrom"; did you mean "nameFrom"?
watches.yaml:8:41: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
watches.yaml:8:57: "c.d": must not contain dots
watches.yaml:8:72: must be true or false
watches.yaml:9:45: "{{ .spec.a }}": must be the path of a field of the custom resource, such as spec.secretName
watches.yaml:10:5: must have the keys group, version, kind, name or nameFrom, and can have namespace and optional
watches.yaml:11:47: must be a list of objects; each must have the keys group, version, kind, name or nameFrom, and can have namespace and optional
watches.yaml:12:36: unknown key "dependOn"; did you mean "dependsOn"?`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestDependencyCycles refuses dependencies that could never be ready, and no others.
func TestDependencyCycles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"itself": {
			"- {version: v1, kind: A, chart: a, dependsOn: [{version: v2, kind: A, name: base, optional: true}]}",
			"watches.yaml:1:3: dependsOn: A base would depend on itself, and wait forever",
		},
		"through others": {
			`- {version: v1, kind: Z, chart: z, dependsOn: [{version: v1, kind: A, name: a}]}
- {version: v1, kind: A, chart: a, dependsOn: [{version: v1, kind: X, name: x}, {version: v1, kind: B, namespace: other, name: b}]}
- {version: v1, kind: B, chart: b, dependsOn: [{version: v1, kind: C, name: c}]}
- {version: v1, kind: C, chart: c, dependsOn: [{version: v1, kind: A, name: a}]}
- {version: v1, kind: D, chart: d, dependsOn: [{version: v1, kind: D, namespace: n, name: d}]}`,
			"watches.yaml:2:3: dependsOn: B other/b → C other/c → A other/a → B other/b would wait for each other forever\n" +
				"watches.yaml:5:3: dependsOn: D n/d would depend on itself, and wait forever",
		},
		"other objects": {
			`- {version: v1, kind: A, chart: a, dependsOn: [{version: v1, kind: B, name: b}, {version: v1, kind: A, nameFrom: spec.a}]}
- {version: v1, kind: B, chart: b, dependsOn: [{version: v1, kind: A, nameFrom: spec.a}, {group: a, version: v1, kind: B, name: b}]}
- {version: v1, kind: C, chart: c, selector: {}, dependsOn: [{version: v1, kind: C, name: c}]}`, "",
		},
	} {
		if _, err := watches.Parse([]byte(c.text)); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, c.want)
		}
	}
}
