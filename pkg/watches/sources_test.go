package watches_test

import (
	"reflect"
	"testing"

	"github.com/operon-sdk/operon/pkg/watches"
)

func TestSources(t *testing.T) {
	t.Parallel()
	const text = `- group: example.com
  version: v1
  kind: App
  chart: a
  valuesFrom:
    - kind: Secret
      nameFrom: spec.credentials.secretName
      optional: true
      targetPath: auth.a\.b[0].c
      valuesKey: password
    - kind: ConfigMap
      name: defaults
      namespace: shared
`
	got, err := watches.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []watches.Source{
		{Kind: "Secret", NameFrom: "spec.credentials.secretName", Key: "password", Target: `auth.a\.b[0].c`, Optional: true},
		{Kind: "ConfigMap", Name: "defaults", Namespace: "shared"},
	}
	if !reflect.DeepEqual(got[0].ValuesFrom, want) {
		t.Errorf("got %+v", got[0].ValuesFrom)
	}
	if written, err := watches.Add(nil, got[0]); err != nil || string(written) != text {
		t.Errorf("%v, wrote\n%s", err, written)
	}
	const ansible = `- version: v1
  group: example.com
  kind: App
  role: a
  varsFrom:
    - kind: Secret
      name: a
      targetVar: db_password
      varsKey: password
`
	vars, err := watches.ParseAnsible("w.yaml", []byte(ansible), nil)
	if err != nil || !reflect.DeepEqual(vars[0].VarsFrom, []watches.Source{{Kind: "Secret", Name: "a", Key: "password", Target: "db_password"}}) {
		t.Fatalf("got %+v, %v", vars, err)
	}
	if written, err := watches.AddAnsible(nil, vars[0]); err != nil || string(written) != ansible {
		t.Errorf("%v, wrote\n%s", err, written)
	}
}

func TestSourceFindings(t *testing.T) {
	t.Parallel()
	_, err := watches.Parse([]byte(`- kind: App
  version: v1
  chart: a
  valuesFrom:
  - {kind: secret, name: a}
  - {name: a, nameFrom: spec.a}
  - {kind: Secret, valueKey: a}
  - {kind: Secret, nameFrom: spec.a, namespace: b}
  - {kind: ConfigMap, name: A_b, namespace: c.d, valuesKey: e/f, targetPath: "g=h,i", optional: maybe}
  - {kind: Secret, nameFrom: "{{ .spec.a }}", targetVar: a}
  - secret
- {kind: B, version: v1, chart: b, valuesFrom: {kind: Secret}}
- {kind: C, version: v1, chart: c, varsFrom: []}
`))
	const want = `watches.yaml:5:12: "secret": must be Secret or ConfigMap; did you mean "Secret"?
watches.yaml:6:5: kind is required
watches.yaml:6:5: name and nameFrom exclude each other; remove one of them
watches.yaml:7:5: name or nameFrom is required
watches.yaml:7:20: unknown key "valueKey"; did you mean "valuesKey"?
watches.yaml:8:5: namespace requires name: with nameFrom, whoever creates a custom resource could read every object of the namespace
watches.yaml:9:29: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
watches.yaml:9:45: "c.d": must not contain dots
watches.yaml:9:61: "e/f": a valid config key must consist of alphanumeric characters, '-', '_' or '.'
watches.yaml:9:78: "g=h,i": must be the path of a value, such as auth.password or servers[0].token
watches.yaml:9:97: must be true or false
watches.yaml:10:30: "{{ .spec.a }}": must be the path of a field of the custom resource, such as spec.secretName
watches.yaml:10:47: unknown key "targetVar"; did you mean "targetPath"?
watches.yaml:11:5: must have the keys kind, name or nameFrom, and can have valuesKey, targetPath and optional
watches.yaml:12:48: must be a list of Secrets and ConfigMaps; each must have the keys kind, name or nameFrom, and can have valuesKey, targetPath and optional
watches.yaml:13:36: key "varsFrom" belongs to Ansible operators; an entry of a Helm operator has no such key`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
