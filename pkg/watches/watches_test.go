package watches_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/watches"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := watches.Parse([]byte(`# A comment
- group: cache.example.com
  version: v1alpha1
  kind: Memcached
  chart: helm-charts/memcached
- version: v1
  kind: Database
  chart: /charts/db
  group: ""
  watchDependentResources: false
  overrideValues: &values
    image.tag: "1.0"
    replicas: 3
    on: true
    none:
    expanded: $HOME ${X}
  typedOverrideValues:
    replicas: 3
    image: {pull: false, list: [1, 1.5, x, null]}
  selector:
    matchLabels: {a: b}
    matchExpressions: [{key: c, operator: In, values: [d, e]}]
  reconcilePeriod: 1m30s
  timeout: 0s
  dryRunOption: server
  maxHistory: 0
  install: {retries: 2, strategy: none}
  upgrade:
    retries: -1
  maxConcurrentReconciles: 4
  crds: createReplace
  takeOwnership: report
  test: {enable: true, ignoreFailures: true, timeout: 5m}
- {kind: Memcached, version: v1, group: other.example.com, chart: x, reconcilePeriod: , overrideValues: *values}
# +kubebuilder:scaffold:watch
`))
	if err != nil {
		t.Fatal(err)
	}
	zero, two, unlimited, noTimeout := 0, 2, -1, time.Duration(0)
	values := map[string]string{"image.tag": "1.0", "replicas": "3", "on": "true", "none": "", "expanded": "$HOME ${X}"}
	at := func(line int) diag.Position { return diag.Position{File: "watches.yaml", Line: line, Column: 3} }
	want := []watches.Watch{
		{Group: "cache.example.com", Version: "v1alpha1", Kind: "Memcached", Chart: "helm-charts/memcached", WatchDependentResources: true, Position: at(2)},
		{
			Version: "v1", Kind: "Database", Chart: "/charts/db", OverrideValues: values,
			TypedOverrideValues: map[string]any{"replicas": 3, "image": map[string]any{"pull": false, "list": []any{1, 1.5, "x", nil}}},
			Selector: &metav1.LabelSelector{
				MatchLabels:      map[string]string{"a": "b"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "c", Operator: "In", Values: []string{"d", "e"}}},
			},
			ReconcilePeriod: 90 * time.Second, Timeout: &noTimeout, DryRunOption: "server", MaxHistory: &zero, MaxConcurrentReconciles: 4, CRDs: watches.CRDsCreateReplace, TakeOwnership: "report", Test: watches.Test{Enable: true, IgnoreFailures: true, Timeout: 5 * time.Minute}, Position: at(6),
			Install: watches.Remediation{Retries: &two, Strategy: "none"}, Upgrade: watches.Remediation{Retries: &unlimited},
		},
		{Group: "other.example.com", Version: "v1", Kind: "Memcached", Chart: "x", WatchDependentResources: true, OverrideValues: values, Position: at(34)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	for _, empty := range []string{"", "---\n", "# only\n# comments\n", "[]", "null\n", "---\n---\n"} {
		if got, err := watches.Parse([]byte(empty)); err != nil || len(got) != 0 {
			t.Errorf("%q: %v, %v", empty, got, err)
		}
	}
}

func TestParseFindings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`- group: Cache_
  version: V 1
  kind: my_kind
  chart: oci://example.com/x
  watchDependantResources: true
  reconcilePeriod: 60
  timeout: -5m
  timeuot: 5m
  maxHistory: -1
  maxConcurrentReconciles: 0
  dryRunOption: sever
  overrideValues: {a: [b]}
  selector: {matchLabel: {a: b}}
  role: x
  nonsense: y
- x
- group: a.example.com
- group: a.example.com
  kind: Kind
  version: v1
  kind: Other
  chart: ""
- {group: b, version: v1, kind: A, chart: x, install: {retries: -2, strategy: rollback}, upgrade: {retrys: 1, strategy: rolback}}
- {group: b, version: v1, kind: A, chart: y, install: 3, watchDependentResources: maybe, selector: {matchExpressions: [{key: a, operator: Is}]}}
`: `watches.yaml:1:10: "Cache_": a lowercase RFC 1123 subdomain must consist of
watches.yaml:2:12: "V 1": a DNS-1035 label must consist of
watches.yaml:3:9: "my_kind": a DNS-1035 label must consist of
watches.yaml:4:10: "oci://example.com/x": must be a directory; add the chart to the project with 'operon create api --helm-chart'
watches.yaml:5:3: unknown key "watchDependantResources"; did you mean "watchDependentResources"?
watches.yaml:6:20: "60": must be a duration that is not negative, such as 1m30s
watches.yaml:7:12: "-5m": must be a duration that is not negative, such as 1m30s
watches.yaml:8:3: unknown key "timeuot"; did you mean "timeout"?
watches.yaml:9:15: must be a whole number, at least 0
watches.yaml:10:28: must be a whole number, at least 1
watches.yaml:11:17: "sever": must be client, none or server; did you mean "server"?
watches.yaml:12:23: override value "a" must be a string; typedOverrideValues has values with types
watches.yaml:13:13: must be a label selector: unknown field "matchLabel"
watches.yaml:14:3: key "role" belongs to Ansible operators; an entry of a Helm operator has no such key
watches.yaml:15:3: unknown key "nonsense"
watches.yaml:16:3: an entry must have the keys group, version, kind and chart
watches.yaml:17:3: chart is required
watches.yaml:17:3: kind is required
watches.yaml:17:3: version is required
watches.yaml:18:3: chart is required
watches.yaml:21:3: key "kind" is given twice, first in line 19
watches.yaml:23:65: must be a whole number, at least -1
watches.yaml:23:79: "rollback": must be uninstall or none
watches.yaml:23:100: unknown key "retrys"; did you mean "retries"?
watches.yaml:23:121: "rolback": must be rollback, uninstall or none; did you mean "rollback"?
watches.yaml:24:3: group, version and kind are the same as in line 23; remove one of the two
watches.yaml:24:55: must have the keys retries and strategy
watches.yaml:24:83: must be true or false
watches.yaml:24:100: must be a label selector: "Is" is not a valid label selector operator`,
		"a: b\n":                        "watches.yaml:1:1: must be a list of entries with group, version, kind and chart",
		"- a: [\n":                      "watches.yaml: not valid YAML: line 1: did not find expected node content",
		"- {}\n---\n- {}\n":             "watches.yaml:3:1: a second YAML document starts here; write all entries in one list",
		"[" + strings.Repeat("[", 9999): "watches.yaml:1: the file ",
		"- {version: v1, kind: A, chart: x, crds: CreateReplace}\n":                           "watches.yaml:1:42: \"CreateReplace\": must be create, createReplace or skip; did you mean \"createReplace\"?",
		"- {version: v1, kind: A, chart: x, crds: Skip}\n":                                    "watches.yaml:1:42: \"Skip\": must be create, createReplace or skip; did you mean \"skip\"?",
		"- {version: v1, kind: A, chart: x, takeOwnership: true}\n":                           "watches.yaml:1:51: \"true\": must be enabled, report or disabled",
		"- {version: v1, kind: A, chart: x, takeOwnership: enable, takeOwnerships: report}\n": "watches.yaml:1:51: \"enable\": must be enabled, report or disabled; did you mean \"enabled\"?\nwatches.yaml:1:59: unknown key \"takeOwnerships\"; did you mean \"takeOwnership\"?",
		"- {version: v1, kind: A, chart: x, test: true}\n":                                    "watches.yaml:1:42: must have the keys enable, ignoreFailures and timeout",
		"- {version: v1, kind: A, chart: x, test: {enable: yes please, ignoreFailure: true, timeout: 5}}\n": `watches.yaml:1:51: must be true or false
watches.yaml:1:63: unknown key "ignoreFailure"; did you mean "ignoreFailures"?
watches.yaml:1:93: "5": must be a duration that is not negative, such as 1m30s`,
		"- {version: v1, kind: A, chart: x, crds: [skip]}\n":                        "watches.yaml:1:42: \"\": must be create, createReplace or skip",
		"- {version: v1, kind: A, chart: x, typedOverrideValues: {a: [{b: .inf}]}}": "watches.yaml:1:57: a.[0].b: keys must be texts, and numbers finite",
	} {
		_, err := watches.Parse([]byte(text))
		checkFindings(t, text, err, want)
	}
}

// checkFindings compares the lines of an error with prefixes.
func checkFindings(t *testing.T, text string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("%.200s: no error", text)
		return
	}
	got, wanted := strings.Split(err.Error(), "\n"), strings.Split(want, "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || !strings.HasPrefix(got[i], wanted[i]) {
			t.Errorf("%.80s: finding %d of\n%s\nwant\n%s", text, i+1, strings.Join(got, "\n"), want)
			return
		}
	}
}
