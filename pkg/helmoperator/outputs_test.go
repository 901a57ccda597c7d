package helmoperator_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/outputs"
)

const (
	outputValues  = "{text: a, service: {port: 80}, ingress: {hosts: [a.example.com]}, fail: false}"
	outputHelpers = `{{ define "web.fullname" }}{{ .Release.Name }}-web{{ end }}`
)

// waitOutputs waits until status.outputs has a content in JSON, and returns the resource.
func (e *env) waitOutputs(name, want string) *unstructured.Unstructured {
	e.Helper()
	var obj *unstructured.Unstructured
	e.eventually("the outputs "+want, func() (err error) {
		if obj, err = e.resource(name); err != nil {
			return err
		}
		status, _ := obj.Object["status"].(map[string]any)
		got, err := json.Marshal(status["outputs"])
		if string(got) != want {
			return fmt.Errorf("%s, status %v (%w)", got, obj.Object["status"], err)
		}
		return nil
	})
	return obj
}

// TestDocumentedOutputs executes the example of docs/helm.md: outputs follow upgrades, stay after failed ones, and need no requests while
// nothing changes.
func TestDocumentedOutputs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c, seen := &transport{}, &requests{}
	config := e.config
	e.config = seen.wrap(config)
	e.startDocumented(c, "outputs:", outputValues, map[string]string{"configmap.yaml": configMap, "_helpers.tpl": outputHelpers, "job.yaml": failingHook})
	e.config = config
	obj := e.create("one", nil)
	want := fmt.Sprintf(`{"hosts":["a.example.com"],"port":80,"url":"http://one-web.%s.svc:80"}`, e.namespace)
	e.waitOutputs("one", want)
	e.waitFor("one", helmoperator.ConditionOutputsReady, "True/OutputsWritten")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	seen.take()
	e.patch(obj, "metadata: {labels: {a: b}}") // a pass without changes
	e.patch(obj, `metadata: {annotations: {helm.sdk.operatorframework.io/reconcile-requested-at: "1"}}`)
	e.waitHandled("one", "1", 0)
	writes := 0
	for _, request := range seen.take() {
		if strings.HasPrefix(request, "PATCH ") && strings.HasSuffix(request, "/status") {
			writes++
		}
	}
	if writes > 1 { // the value of the annotation
		t.Errorf("%d writes of the status without changes", writes)
	}
	e.patch(obj, "spec: {text: b, fail: true, service: {port: 81}}")
	e.waitFor("one", helmoperator.ConditionReady, "False/UpgradeError")
	e.waitOutputs("one", want)
	e.patch(obj, "spec: {fail: false, ingress: {hosts: []}}")
	obj = e.waitOutputs("one", fmt.Sprintf(`{"hosts":[],"port":81,"url":"http://one-web.%s.svc:81"}`, e.namespace))
	// The release is upgraded although outputs fail.
	e.patch(obj, "spec: {text: c, service: {port: many}}")
	e.waitFor("one", helmoperator.ConditionReady, "False/OutputsFailed")
	obj = e.waitOutputs("one", fmt.Sprintf(`{"hosts":[],"port":81,"url":"http://one-web.%s.svc:many"}`, e.namespace))
	if _, message := conditionOf(obj, helmoperator.ConditionOutputsReady); message != `port: "many" isn't of type integer` {
		t.Errorf("message %q", message)
	}
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "c" {
		t.Errorf("%v %v, want an upgrade", err, config)
	}
}

// TestOutputFailures checks what isn't written to the status, and what removes it.
func TestOutputFailures(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ .Release.Name }}}\nstringData: {dsn: \"db://{{ .Values.user }}\"}\n"
	options := []helmoperator.Option{
		helmoperator.WithChart(chart("app", "{text: a, user: admin}", map[string]string{"configmap.yaml": configMap, "secret.yaml": secret})),
	}
	list := []outputs.Output{
		{Name: "text", From: "{{ .Values.text }}", Type: "string"},
		{Name: "dsn", From: "db://{{ .Values.user }}", Type: "string"},
		{Name: "login", From: "{{ .Values.user }}:{{ urlquery .Values.password }}", Type: "string"},
		{Name: "random", From: "{{ randAlphaNum 8 }}", Type: "string"},
		{Name: "found", From: `{{ lookup "v1" "Secret" "" "" }}`, Type: "string"},
		{Name: "missing", From: "{{ .Values.a.b.c }}", Type: "string"},
		{Name: "none", From: "{{ .Values.none }}", Type: "string"},
	}
	stop := e.start(append(options, helmoperator.WithOutputs(list...))...)
	e.create("one", map[string]any{"password": "pass word/1"})
	obj := e.waitOutputs("one", `{"text":"a"}`)
	e.waitFor("one", helmoperator.ConditionReady, "False/OutputsFailed")
	_, message := conditionOf(obj, helmoperator.ConditionOutputsReady)
	for _, want := range []string{
		"dsn: contains a secret", "login: contains a secret", "random: the template has random content", "found: ", "lookup isn't available", "missing: ", "nil pointer",
	} {
		if !strings.Contains(message, want) {
			t.Errorf("%q is not in the message %q", want, message)
		}
	}
	if text := fmt.Sprint(obj.Object["status"], e.log); strings.Contains(text, "pass word") || strings.Contains(text, "pass+word") || strings.Contains(text, "db://") {
		t.Errorf("a secret is in %s", text)
	}
	stop()
	stop = e.start(append(options, helmoperator.WithOutputs(list[:1]...))...)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitOutputs("one", `{"text":"a"}`)
	stop()
	// Without outputs, they disappear; those of others stay.
	two := e.create("two", nil)
	e.patch(two, "status: {outputs: {theirs: 1}}", "status")
	e.start(options...)
	obj = e.waitOutputs("one", "null")
	if status, _ := conditionOf(obj, helmoperator.ConditionOutputsReady); status != "absent" {
		t.Errorf("OutputsReady is %s", status)
	}
	e.waitFor("two", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitOutputs("two", `{"theirs":1}`)
}

// TestOutputsOfNarrowSchemas reports outputs that the CRD drops or refuses, without further writes.
func TestOutputsOfNarrowSchemas(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	crd, err := e.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", strings.ToLower(e.gvk.Kind)+"s.example.com")
	if err != nil {
		t.Fatal(err)
	}
	narrow := func(properties, want string) {
		t.Helper()
		e.patch(crd, fmt.Sprintf(`spec: {versions: [{name: v1alpha1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
  spec: {type: object, x-kubernetes-preserve-unknown-fields: true},
  status: {type: object, properties: {conditions: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}%s}}}}}}]}`, properties))
		stop := e.start(helmoperator.WithChart(chart("app", "text: a", map[string]string{"configmap.yaml": configMap})),
			helmoperator.WithOutputs(outputs.Output{Name: "url", From: "{{ .Values.text }}", Type: "string"}))
		defer stop()
		e.eventually("the condition of a narrow schema", func() error {
			obj, err := e.resource("one")
			if err != nil {
				return err
			}
			status, message := conditionOf(obj, helmoperator.ConditionReady)
			if status != "False/OutputsFailed" || !strings.Contains(message, want) {
				return fmt.Errorf("%s %s", status, message)
			}
			return nil
		})
	}
	e.create("one", nil)
	narrow("", "has no field status.outputs")
	narrow(", outputs: {type: object, properties: {url: {type: integer}}}", "doesn't accept them")
}

// TestInvalidOutputs names the line of an entry whose template is not valid for Helm.
func TestInvalidOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("{apiVersion: v2, name: app, version: 1.0.0}"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "watches.yaml")
	if err := os.WriteFile(file, []byte("- version: v1\n  kind: A\n  chart: "+filepath.ToSlash(dir)+"\n  outputs:\n    url: '{{ kebabcase .Values.a | kebab }}'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := helmoperator.LoadWatches(file, nil)
	if want := `watches.yaml:1:3: output "url": `; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `function "kebab" not defined`) {
		t.Errorf("error %v, want %s", err, want)
	}
}
