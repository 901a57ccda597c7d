package variables_test

import (
	"encoding/json"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
)

var gvk = schema.GroupVersionKind{Group: "cache.my-company.com", Version: "v1", Kind: "Memcached"}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func encode(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func of(t *testing.T, in variables.Input) map[string]any {
	t.Helper()
	result, err := variables.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const object = `{"apiVersion":"cache.my-company.com/v1","kind":"Memcached","metadata":{"name":"a","namespace":"b"},
	"spec":{"podCount":1,"extraLabels":{"myLabel":"{{ x }}"},"list":[{"itemName":"c"}],"text":"d"},"status":{"isReady":true}}`

func TestOf(t *testing.T) {
	t.Parallel()
	in := variables.Input{GVK: gvk, Object: decode[map[string]any](t, object), SnakeCase: true}
	before := encode(t, in.Object)
	got := of(t, in)
	want := decode[map[string]any](t, `{"pod_count":1,"extra_labels":{"my_label":"{{ x }}"},"list":[{"item_name":"c"}],"text":"d",
		"ansible_operator_meta":{"name":"a","namespace":"b"}}`)
	want["_cache_my_company_com_memcached"] = in.Object
	want["_cache_my_company_com_memcached_spec"] = in.Object["spec"]
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", encode(t, got), encode(t, want))
	}
	if got := of(t, variables.Input{GVK: gvk}); encode(t, got["_cache_my_company_com_memcached_spec"]) != "{}" {
		t.Errorf("without a spec: %s", encode(t, got))
	}
	in.SnakeCase = false
	if got := of(t, in); got["podCount"] != 1.0 || got["pod_count"] != nil || got["extraLabels"] == nil {
		t.Errorf("without snake case: %s", encode(t, got))
	}
	if after := encode(t, in.Object); after != before {
		t.Errorf("the object was changed to %s", after)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	in := variables.Input{
		GVK: gvk, SnakeCase: true, Object: decode[map[string]any](t, `{"metadata":{"name":"n"},"spec":{
			"a":"spec","b":"spec","c":"spec","ansibleOperatorMeta":"spec","_cache_my_company_com_memcached":"spec","fooBar":1,"foo_bar":2,"FooBar":3}}`),
		Vars:          map[string]any{"b": "watch", "c": "watch"},
		FinalizerVars: map[string]any{"c": "finalizer"},
	}
	got := of(t, in)
	for name, want := range map[string]any{"a": "spec", "b": "watch", "c": "finalizer", "foo_bar": 2.0, "_foo_bar": 3.0} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	for _, name := range []string{"ansible_operator_meta", "_cache_my_company_com_memcached", "_cache_my_company_com_memcached_spec"} {
		if _, ok := got[name].(map[string]any); !ok {
			t.Errorf("%s = %v", name, got[name])
		}
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	preserve := `"x-kubernetes-preserve-unknown-fields":true`
	in := variables.Input{
		GVK: gvk, SnakeCase: true,
		Object: decode[map[string]any](t, `{"spec":{
			"extraLabels":{"myLabel":{"anyKey":1}},"podTemplate":{"nodeSelector":{"diskType":"ssd"},"hostPorts":[{"portName":"x","someEnv":{"MY_Var":"1"}}]},
			"openPart":{"someKey":{"otherKey":1}},"mixedPart":{"knownKey":1,"otherKey":{"subKey":1}},"unknownKey":{"subKey":1},
			"closedPart":{"someKey":1},"hosts":{"hostA":{"portNumber":1,"podLabels":{"myLabel":"x"}}},"hostLists":{"hostA":[{"portNumber":1}]},"nested":[[{"innerKey":{"mapKey":1}}]]}}`),
		Schema: new(decode[apiextensionsv1.JSONSchemaProps](t, `{"type":"object","properties":{"spec":{"type":"object","properties":{
			"extraLabels":{"type":"object","additionalProperties":{"type":"object",`+preserve+`}},
			"podTemplate":{"type":"object","properties":{
				"nodeSelector":{"type":"object","additionalProperties":{"type":"string"}},
				"hostPorts":{"type":"array","items":{"type":"object","properties":{
					"portName":{"type":"string"},"someEnv":{"type":"object","additionalProperties":true}}}}}},
			"openPart":{"type":"object",`+preserve+`},
			"mixedPart":{"type":"object",`+preserve+`,"properties":{"knownKey":{"type":"integer"}}},
			"closedPart":{"type":"object","additionalProperties":false},
			"hosts":{"type":"object","additionalProperties":{"type":"object","properties":{
				"portNumber":{"type":"integer"},"podLabels":{"type":"object","additionalProperties":{"type":"string"}}}}},
			"hostLists":{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","properties":{"portNumber":{"type":"integer"}}}}},
			"nested":{"type":"array","items":{"type":"array","items":{"type":"object","properties":{"innerKey":{"type":"object","additionalProperties":{"type":"integer"}}}}}}
		}}}}`)),
	}
	got := of(t, in)
	delete(got, "_cache_my_company_com_memcached")
	delete(got, "_cache_my_company_com_memcached_spec")
	delete(got, "ansible_operator_meta")
	want := decode[map[string]any](t, `{
		"extra_labels":{"myLabel":{"anyKey":1}},"pod_template":{"node_selector":{"diskType":"ssd"},"host_ports":[{"port_name":"x","some_env":{"MY_Var":"1"}}]},
		"open_part":{"some_key":{"other_key":1}},"mixed_part":{"known_key":1,"other_key":{"sub_key":1}},"unknown_key":{"sub_key":1},
		"closed_part":{"some_key":1},"hosts":{"hostA":{"port_number":1,"pod_labels":{"myLabel":"x"}}},"host_lists":{"hostA":[{"port_number":1}]},"nested":[[{"inner_key":{"mapKey":1}}]]}`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", encode(t, got), encode(t, want))
	}
}

// unmark returns a value without marks, and reports strings that are not marked.
func unmark(t *testing.T, value any) any {
	t.Helper()
	switch value := value.(type) {
	case string:
		t.Errorf("%q is not marked", value)
		return value
	case map[string]any:
		if text, ok := value["__ansible_unsafe"].(string); ok && len(value) == 1 {
			return text
		}
		result := map[string]any{}
		for key, v := range value {
			result[key] = unmark(t, v)
		}
		return result
	case []any:
		result := []any{}
		for _, v := range value {
			result = append(result, unmark(t, v))
		}
		return result
	default:
		return value
	}
}

func checkMarkUnsafe(t *testing.T, text string) {
	t.Helper()
	var spec map[string]any
	if json.Unmarshal([]byte(text), &spec) != nil || spec == nil {
		return
	}
	in := variables.Input{GVK: gvk, Object: map[string]any{"spec": spec, "metadata": map[string]any{"name": "{{ n }}"}}, SnakeCase: true}
	plain := of(t, in)
	in.MarkUnsafe = true
	if _, err := variables.Of(in); err != nil {
		return // TestRefusedKeys checks which keys are refused
	}
	if got := unmark(t, of(t, in)); !reflect.DeepEqual(got, plain) {
		t.Errorf("got  %s\nwant %s", encode(t, got), encode(t, plain))
	}
	in.Vars = map[string]any{"template": "{{ x }}"}
	if got := of(t, in); got["template"] != "{{ x }}" {
		t.Errorf("a variable of the watch was marked: %v", got["template"])
	}
}

func TestRefusedKeys(t *testing.T) {
	t.Parallel()
	in := variables.Input{GVK: gvk, SnakeCase: true, Object: decode[map[string]any](t, `{"metadata":{"name":"n"},
		"spec":{"ansiblePythonInterpreter":"/bin/sh","ansible_connection":"ssh","myAnsibleKey":1,"list":[{"{{ x }}":1}],"map":{"a{%b":{"{#":1}}}}`)}
	of(t, in)
	in.MarkUnsafe = true
	_, err := variables.Of(in)
	want := `spec: the variable ansible_connection is reserved for Ansible; rename the key
spec: the variable ansible_python_interpreter is reserved for Ansible; rename the key
spec.list[0]: key "{{ x }}": must not contain a Jinja template
spec.map: key "a{%b": must not contain a Jinja template
spec.map.a{%b: key "{#": must not contain a Jinja template`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func FuzzMarkUnsafe(f *testing.F) {
	for _, text := range []string{
		`{"a":"{{ lookup('pipe','id') }}","b":{"cD":["{% x %}",1,null,true,{"e":"f"}]}}`, `{"__ansible_unsafe_":"x"}`, `{"":""}`,
	} {
		f.Add(text)
	}
	f.Fuzz(checkMarkUnsafe)
}
