package ansibleoperator_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/testdata/documented"
)

// outputs returns status.outputs of a resource in JSON.
func outputsIn(obj *unstructured.Unstructured) string {
	status, _ := obj.Object["status"].(map[string]any)
	data, _ := json.Marshal(status["outputs"])
	return string(data)
}

// patchStatus merges YAML into the status of an object.
func (e *env) patchStatus(obj *unstructured.Unstructured, text string) {
	e.Helper()
	data, err := yaml.YAMLToJSON([]byte("status: " + text))
	if err == nil {
		err = e.client.Status().Patch(e.Context(), obj.DeepCopy(), client.RawPatch("application/merge-patch+json", data))
	}
	if err != nil {
		e.Fatal(err)
	}
}

// TestDocumentedOutputs executes the examples of docs/ansible.md: values of set_stats become outputs, which stay after failed runs. Other
// kinds have values that must not be written, and no outputs anymore.
func TestDocumentedOutputs(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "Memcached", "Secretive", "Former")
	e.createKind(e.group, "Narrow", `{type: object, properties: {spec: {type: object}, status: {type: object, properties: {
  observedGeneration: {type: integer}, conditions: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}`)
	e.role("memcached", documented.Example(t, "ansible.md", "- name: Publish", "set_stats:")+"- ansible.builtin.fail: {msg: failed}\n  when: port | default(0) | int == 1\n")
	e.role("secretive", `- ansible.builtin.set_stats: {data: {plain: {a: 1, b: [x]}, number: "{{ 80 }}", hidden: visible, empty: "", leak: "https://a:{{ api_token | urlencode }}@b"}}
- ansible.builtin.set_stats: {data: {hidden: "{{ 6 * 7 }}-hidden"}}
  no_log: true
`)
	e.role("plain", "- ansible.builtin.set_stats: {data: {url: x}}\n")
	former, theirs := e.resource("Former", "former", ""), e.resource("Former", "theirs", "")
	e.patchStatus(former, "{outputs: {url: old}, conditions: [{type: OutputsReady, status: 'True'}]}")
	e.patchStatus(theirs, "{outputs: {url: theirs}}")
	entry := strings.NewReplacer("v1alpha1", "v1", "cache.example.com", "GROUP").Replace(documented.Example(t, "ansible.md", "- version", "outputs:"))
	e.start(entry + `
- {version: v1, group: GROUP, kind: Secretive, role: secretive, outputs: {plain: {type: object}, number: {type: integer}, hidden: {}, leak: {}, empty: {}, absent: {}}}
- {version: v1, group: GROUP, kind: Former, role: plain}
- {version: v1, group: GROUP, kind: Narrow, role: plain, outputs: {url: url}}
`)
	one := e.resource("Memcached", "one", "spec: {size: 3}")
	secretive := e.resource("Secretive", "one", "spec: {apiToken: 'to ken/1'}")
	narrow := e.resource("Narrow", "one", "")

	one = e.waitReady(one, "True/Successful")
	want := fmt.Sprintf(`{"replicas":3,"url":"memcached://one.%s.svc:11211"}`, e.namespace)
	if got := outputsIn(one); got != want {
		t.Errorf("outputs %s, want %s", got, want)
	}
	e.waitCondition(one, "OutputsReady", "True/OutputsWritten")
	e.patch(one, "spec: {size: many, port: 1}")
	if got := outputsIn(e.waitReady(one, "False/Failed")); got != want {
		t.Errorf("outputs %s after a failed run, want %s", got, want)
	}
	e.patch(one, "spec: {port: 2}")
	one = e.waitReady(one, "False/OutputsFailed")
	if got, want := outputsIn(one), strings.Replace(want, "11211", "2", 1); got != want {
		t.Errorf("outputs %s, want %s", got, want)
	}
	if got := conditionOf(one, "Ready")["message"]; got != `outputs: replicas: "many" isn't of type integer` || conditionOf(one, "Successful")["status"] != "True" {
		t.Errorf("status %v", one.Object["status"])
	}

	secretive = e.waitReady(secretive, "False/OutputsFailed")
	message := fmt.Sprint(conditionOf(secretive, "OutputsReady")["message"])
	for _, want := range []string{"hidden: a task sets it with no_log", "leak: contains a secret", `absent: no task of the run sets "absent"`} {
		if !strings.Contains(message, want) {
			t.Errorf("%q is not in %q", want, message)
		}
	}
	if got := outputsIn(secretive); got != `{"number":80,"plain":{"a":1,"b":["x"]}}` {
		t.Errorf("outputs %s", got)
	}
	e.waitReady(theirs, "True/Successful")
	if former = e.waitReady(former, "True/Successful"); outputsIn(former) != "null" || conditionOf(former, "OutputsReady") != nil {
		t.Errorf("status %v", former.Object["status"])
	}
	if theirs, err := e.read(theirs); err != nil || outputsIn(theirs) != `{"url":"theirs"}` {
		t.Errorf("status %v (%v)", theirs.Object["status"], err)
	}
	narrow = e.waitReady(narrow, "False/OutputsFailed")
	if got := fmt.Sprint(conditionOf(narrow, "Ready")["message"]); !strings.Contains(got, "has no field status.outputs") {
		t.Errorf("message %q", got)
	}
}
