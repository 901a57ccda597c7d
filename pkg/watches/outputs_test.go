package watches_test

import (
	"reflect"
	"testing"

	"github.com/operon-sdk/operon/pkg/watches"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	const text = `- group: example.com
  version: v1
  kind: App
  chart: a
  outputs:
    port:
      description: port of the server
      template: '{{ .Values.port }}'
      type: integer
    url:
      template: http://{{ include "app.host" . }}
`
	got, err := watches.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []watches.Output{
		{Name: "port", From: "{{ .Values.port }}", Type: "integer", Description: "port of the server"},
		{Name: "url", From: `http://{{ include "app.host" . }}`, Type: "string"},
	}
	if !reflect.DeepEqual(got[0].Outputs, want) {
		t.Errorf("got %+v", got[0].Outputs)
	}
	if written, err := watches.Add(nil, got[0]); err != nil || string(written) != text {
		t.Errorf("%v, wrote\n%s", err, written)
	}
	ansible, err := watches.ParseAnsible("w.yaml", []byte("- {version: v1, kind: A, role: r, outputs: {url: service_url, port: {type: integer}, host: {stat: $HOST}}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want = []watches.Output{{Name: "url", From: "service_url", Type: "string"}, {Name: "port", From: "port", Type: "integer"}, {Name: "host", From: "$HOST", Type: "string"}}
	if !reflect.DeepEqual(ansible[0].Outputs, want) {
		t.Errorf("got %+v", ansible[0].Outputs)
	}
}

func TestOutputFindings(t *testing.T) {
	t.Parallel()
	_, err := watches.Parse([]byte(`- kind: App
  version: v1
  chart: a
  outputs:
    my-url: x
    url: "{{ .Values.port"
    port: {template: "{{ .Values.port }}", type: int}
    host: {tempate: "x"}
    list: [a]
    text: {template: [a]}
    none: ""
    adminPassword: "{{ .Values.adminPassword }}"
    adminSecretName: "{{ .Values.existingSecret }}"
    url: y
- {kind: B, version: v1, chart: b, outputs: [url]}
`))
	const want = `watches.yaml:5:5: output "my-url": a name has letters, digits and underscores, and starts with a letter
watches.yaml:6:10: template: template:1: unclosed action
watches.yaml:7:50: "int": must be string, integer, number, boolean, array or object
watches.yaml:8:11: template is required
watches.yaml:8:12: unknown key "tempate"; did you mean "template"?
watches.yaml:9:11: must be a template, or have the keys template, type and description
watches.yaml:10:22: must be a string
watches.yaml:11:11: template is required
watches.yaml:12:5: output "adminPassword" has the name of a secret, which everyone who can read the resource would see; write the name of a Secret instead, as adminPasswordName
watches.yaml:14:5: key "url" is given twice, first in line 6
watches.yaml:15:45: must be a map of names to values with the keys template, type and description`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	_, err = watches.ParseAnsible("w.yaml", []byte(`- {version: v1, kind: A, role: r, manageStatus: false, outputs: {url: a}}
- {version: v1, kind: B, role: r, outputs: {url: {stat: a.b}}}
- {version: v1, kind: C, role: r, outputs: {url: {template: a}}}
`), nil)
	const wantAnsible = `w.yaml:1:3: outputs are part of the status, which the operator doesn't write with manageStatus: false; remove one of the two keys
w.yaml:2:57: stat "a.b": must be the name of a variable
w.yaml:3:51: unknown key "template"`
	if err == nil || err.Error() != wantAnsible {
		t.Errorf("got\n%v\nwant\n%s", err, wantAnsible)
	}
}
