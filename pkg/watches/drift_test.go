package watches_test

import (
	"reflect"
	"testing"

	"github.com/operon-sdk/operon/pkg/watches"
)

func TestDriftDetection(t *testing.T) {
	t.Parallel()
	const text = `- group: example.com
  version: v1
  kind: App
  chart: a
  driftDetection:
    ignore:
      - paths:
          - /spec/replicas
        target:
          kind: Deployment
          labelSelector: app=web
      - paths:
          - ""
          - /data/a~1b
    mode: warn
`
	got, err := watches.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := watches.DriftDetection{Mode: watches.DriftWarn, Ignore: []watches.IgnoreRule{
		{Paths: []string{"/spec/replicas"}, Target: watches.Target{Kind: "Deployment", LabelSelector: "app=web"}},
		{Paths: []string{"", "/data/a~1b"}},
	}}
	if !reflect.DeepEqual(got[0].DriftDetection, want) {
		t.Errorf("got %+v", got[0].DriftDetection)
	}
	if written, err := watches.Add(nil, got[0]); err != nil || string(written) != text {
		t.Errorf("%v, wrote\n%s", err, written)
	}
}

func TestDriftDetectionFindings(t *testing.T) {
	t.Parallel()
	_, err := watches.Parse([]byte(`- kind: App
  version: v1
  chart: a
  driftDetection:
    mode: Warn
    ignored: []
    ignore:
    - paths: [spec.replicas, []]
      target: {kind: "(", labelSelector: "a in b", nam: x}
    - target: Deployment
    - x
- {kind: B, version: v1, chart: b, driftDetection: warn}
- {kind: C, version: v1, chart: c, driftDetection: {ignore: {}, mode: off}}
`))
	const want = `watches.yaml:5:11: "Warn": must be enabled, warn or disabled; did you mean "warn"?
watches.yaml:6:5: unknown key "ignored"; did you mean "ignore"?
watches.yaml:8:15: "spec.replicas": must be a JSON pointer, such as /spec/replicas
watches.yaml:8:30: "": must be a JSON pointer, such as /spec/replicas
watches.yaml:9:22: "(": must be a regular expression: error parsing regexp: missing closing ): ` + "`(`" + `
watches.yaml:9:42: "a in b": must be a label selector, such as app=web: unable to parse requirement: found 'b' expected: '('
watches.yaml:9:52: unknown key "nam"; did you mean "name"?
watches.yaml:10:7: paths is required
watches.yaml:10:15: must have at least one of the keys group, version, kind, name, namespace and labelSelector
watches.yaml:11:7: a rule must have the key paths, and can have target
watches.yaml:12:52: must have the keys mode and ignore
watches.yaml:13:61: must be a list of rules with paths and target
watches.yaml:13:71: "off": must be enabled, warn or disabled`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
