package ansibleoperator_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
)

// record is a task that writes variables to a file named after the resource.
const record = `- ansible.builtin.copy:
    content: "{{ {'labels': pod_labels, 'nested': nested, 'text': text, 'spec': vars['_GROUP_' + kind + '_spec']['podLabels'], 'name': ansible_operator_meta.name} | to_json }}"
    dest: "{{ dir }}/{{ ansible_operator_meta.name }}.json"
`

// TestVariables checks that the schema of a kind decides which keys are converted, and that markUnsafe prevents the evaluation of texts.
func TestVariables(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "Open")
	e.createKind(e.group, "Typed", `{type: object, properties: {spec: {type: object, properties: {
  podLabels: {type: object, additionalProperties: {type: string}}, text: {type: string},
  nested: {type: object, properties: {innerKey: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}},
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`)
	e.role("app", strings.ReplaceAll(record, "GROUP", strings.ReplaceAll(e.group, ".", "_")))
	e.start("- {version: v1, group: GROUP, kind: Open, role: app, vars: {kind: open, dir: " + e.dir + "}}\n" +
		"- {version: v1, group: GROUP, kind: Typed, role: app, markUnsafe: true, vars: {kind: typed, dir: " + e.dir + "}}\n")
	const spec = "spec: {podLabels: {fooBar: x}, nested: {innerKey: {otherKey: {}}}, text: '{{ 1 + 1 }}'}"
	open, typed := e.resource("Open", "open", spec), e.resource("Typed", "typed", spec)
	for _, test := range []struct{ name, want string }{
		{"open", `{"labels": {"foo_bar": "x"}, "nested": {"inner_key": {"other_key": {}}}, "text": "2", "spec": {"fooBar": "x"}, "name": "open"}`},
		// Below inner_key, no schema describes the keys.
		{"typed", `{"labels": {"fooBar": "x"}, "nested": {"inner_key": {"other_key": {}}}, "text": "{{ 1 + 1 }}", "spec": {"fooBar": "x"}, "name": "typed"}`},
	} {
		obj := open
		if test.name == "typed" {
			obj = typed
		}
		e.waitReady(obj, "True/Successful")
		if got, err := os.ReadFile(filepath.Join(e.dir, test.name+".json")); err != nil || string(got) != test.want {
			t.Errorf("%s: variables\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	const warning = `evaluated as Jinja templates`
	if got := strings.Count(e.log.String(), warning); got != 1 || !strings.Contains(e.log.String(), `"kind"="Open"`) {
		t.Errorf("%d warnings that texts are evaluated, want one about Open", got)
	}
}

// metric returns the metric with a name and labels, or nil.
func metric(t *testing.T, name string, labels map[string]string) *dto.Metric {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			matching := 0
			for _, label := range m.GetLabel() {
				if labels[label.GetName()] == label.GetValue() {
					matching++
				}
			}
			if family.GetName() == name && matching == len(labels) {
				return m
			}
		}
	}
	return nil
}

// TestMetrics checks that durations cover whole runs, and the metrics that tasks create.
func TestMetrics(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.environ = append(e.environ, "ANSIBLE_COLLECTIONS_PATH="+collections(t))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address) // it is one
	e.role("app", strings.ReplaceAll(`- operator_sdk.util.osdk_metric: {name: app_counter, description: A counter, counter: {add: 2}, port: PORT}
- operator_sdk.util.osdk_metric: {name: app_gauge, description: A gauge, gauge: {set: 7}, port: PORT}
- operator_sdk.util.osdk_metric: {name: app_histogram, description: A histogram, histogram: {observe: 3}, port: PORT}
- operator_sdk.util.osdk_metric: {name: app_summary, description: A summary, summary: {observe: 4}, port: PORT}
- operator_sdk.util.osdk_metric: {name: app_gauge, description: A gauge, counter: {increment: true}, port: PORT}
  register: wrong
  failed_when: wrong is not failed
- ansible.builtin.command: sleep 2
- ansible.builtin.fail: {msg: broken}
  when: broken | default(false)
`, "PORT", port))
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n", func(s *ansibleoperator.Settings, _ *manager.Options) { s.MetricsAddress = address })
	app := e.waitReady(e.resource("App", "one", "spec: {}"), "True/Successful")
	gvk := map[string]string{"GVK": e.gvk("App").String()}
	if h := metric(t, "ansible_operator_reconciles", gvk).GetHistogram(); h.GetSampleCount() != 1 || h.GetSampleSum() < 2 {
		t.Errorf("ansible_operator_reconciles is %v, want one run of at least 2 s", h)
	}
	for result, want := range map[string]float64{"succeeded": 1, "failed": 0} {
		if got := metric(t, "ansible_operator_reconcile_result", map[string]string{"GVK": gvk["GVK"], "result": result}).GetGauge().GetValue(); got != want {
			t.Errorf("%s: %v, want %v", result, got, want)
		}
	}
	if m := metric(t, "ansible_operator_build_info", nil); m.GetGauge().GetValue() != 1 {
		t.Errorf("ansible_operator_build_info is %v", m)
	}
	got := fmt.Sprint(metric(t, "app_counter", nil).GetCounter().GetValue(), metric(t, "app_gauge", nil).GetGauge().GetValue(),
		metric(t, "app_histogram", nil).GetHistogram().GetSampleSum(), metric(t, "app_summary", nil).GetSummary().GetSampleSum())
	if got != "2 7 3 4" {
		t.Errorf("metrics of tasks are %s", got)
	}
	e.patch(app, "spec: {broken: true}")
	e.waitReady(app, "False/Failed")
	if got := metric(t, "ansible_operator_reconcile_result", map[string]string{"GVK": gvk["GVK"], "result": "failed"}).GetGauge().GetValue(); got < 1 {
		t.Errorf("failed: %v, want at least 1", got)
	}
}

// TestDrift checks that objects of a resource are created again after others delete or change them, and not after the runs themselves
// change them.
func TestDrift(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", configMap)
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n")
	app := e.waitReady(e.resource("App", "one", "spec: {text: first}"), "True/Successful")
	cm, err := e.get("v1", "ConfigMap", "one")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(cm, "data: {text: changed}")
	e.eventually("the change is repaired", func() error { return e.checkText("one", "first") })
	e.waitCondition(app, "Running", "True/Successful")
	if err := e.client.Delete(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	e.eventually("the object is created again", func() error { return e.checkText("one", "first") })
}

// TestDriftAfterFailure checks that changes of objects are repaired after a failed run, also if they change during the run that succeeds.
func TestDriftAfterFailure(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	e.role("app", `- ansible.builtin.fail: {msg: "no text"}
  when: text == "none"
`+configMap+`- ansible.builtin.wait_for: {path: "{{ continue_path }}", sleep: 1}
`)
	e.start("- {version: v1, group: GROUP, kind: App, role: app}\n")
	path := filepath.Join(e.dir, "continue")
	app := e.waitReady(e.resource("App", "one", "spec: {text: none, continuePath: "+path+"}"), "False/Failed")
	e.patch(app, "spec: {text: first}")
	e.eventually("the object is created", func() error { return e.checkText("one", "first") })
	cm, err := e.get("v1", "ConfigMap", "one")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(cm, "metadata: {labels: {changed: yes-by-others}}")
	e.write("continue", "")
	e.waitReady(app, "True/Successful")
	if err := e.client.Delete(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	e.eventually("the object is created again", func() error { return e.checkText("one", "first") })
}
