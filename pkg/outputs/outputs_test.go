package outputs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/outputs"
	"github.com/operon-sdk/operon/pkg/redact"
)

// TestValues sets an output and compares the merge patch of a status, and the problem.
func TestValues(t *testing.T) {
	t.Parallel()
	secrets := &redact.Redactor{}
	secrets.AddValues(map[string]any{"password": "pass/word 1", "pin": map[string]any{"secret": "4711"}})
	for _, test := range []struct {
		kind    string
		value   any
		status  string
		patch   string
		problem string
	}{
		{"string", " a\n", `{}`, `{"outputs":{"x":"a"}}`, ""},
		{"string", "a", `{"outputs":{"x":"a"}}`, `{}`, ""},
		{"string", "010", `{}`, `{"outputs":{"x":"010"}}`, ""},
		{"string", true, `{}`, `{"outputs":{"x":"true"}}`, ""},
		{"string", []any{"a"}, `{"outputs":{"x":"a"}}`, `{}`, `x: ["a"] isn't of type string`},
		{"string", " \n", `{"outputs":{"x":"a"}}`, `{"outputs":null}`, ""},
		{"string", nil, `{"outputs":{"x":"a"}}`, `{"outputs":null}`, ""},
		{"integer", " 8080\n", `{"outputs":{"old":1}}`, `{"outputs":{"old":null,"x":8080}}`, ""},
		{"integer", 8080, `{"outputs":{"x":8080}}`, `{}`, ""},
		{"integer", 3.0, `{"outputs":{"x":3}}`, `{}`, ""},
		{"integer", "1.5", `{"outputs":{"x":3}}`, `{}`, "x: 1.5 isn't of type integer"},
		{"integer", "a: [", `{}`, `{}`, `x: "a: [" isn't of type integer`},
		{"number", "2.0", `{"outputs":{"x":2}}`, `{}`, ""},
		{"number", 1.5, `{}`, `{"outputs":{"x":1.5}}`, ""},
		{"boolean", "true", `{}`, `{"outputs":{"x":true}}`, ""},
		{"boolean", "maybe", `{}`, `{}`, `x: "maybe" isn't of type boolean`},
		{"array", "- a\n- {b: null, c: 1}\n", `{}`, `{"outputs":{"x":["a",{"c":1}]}}`, ""},
		{"object", `{"a": {"b": 1}}`, `{"outputs":{"x":{"a":{"c":1},"d":1}}}`, `{"outputs":{"x":{"a":{"b":1,"c":null},"d":null}}}`, ""},
		{"object", "a", `{}`, `{}`, `x: "a" isn't of type object`},
		{"object", strings.Repeat("- a\n", 10000), `{}`, `{}`, "x: has 40001 bytes, more than 32768"},
		// Secrets remove what is in the status.
		{"string", "http://a:pass%2Fword+1@b", `{"outputs":{"x":"a"}}`, `{"outputs":null}`, "x: contains a secret"},
		{"string", "cGFzcy93b3JkIDE=", `{}`, `{}`, "x: contains a secret"},
		{"integer", "4711", `{}`, `{}`, "x: contains a secret"},
		{"array", `[{"a": ["pass/word 1"]}]`, `{}`, `{}`, "x: contains a secret"},
		{"object", `{"token": "abc"}`, `{}`, `{}`, "x: contains a secret"},
		{"integer", "pass/word 1", `{}`, `{}`, `x: "[redacted]" isn't of type integer`},
	} {
		var values outputs.Values
		values.Set(outputs.Output{Name: "x", Type: test.kind}, test.value, secrets)
		check(t, &values, test.status, test.patch, test.problem)
	}
	var values outputs.Values
	values.Set(outputs.Output{Name: "x", Type: "string"}, "new", secrets)
	values.Fail("y", errors.New("no template"))
	check(t, &values, `{"outputs":{"x":"old","y":"old","z":"old"}}`, `{"outputs":{"x":"new","z":null}}`, "y: no template")
	values.FailAll([]outputs.Output{{Name: "x"}, {Name: "y"}}, errors.New("no chart"))
	check(t, &values, `{"outputs":{"x":"old","y":"old","z":"old"}}`, `{"outputs":{"z":null}}`, "no chart")
}

func check(t *testing.T, values *outputs.Values, status, want, problem string) {
	t.Helper()
	var old map[string]any
	if err := json.Unmarshal([]byte(status), &old); err != nil {
		t.Fatal(err)
	}
	wholeNumbers(old)
	patch := map[string]any{}
	values.AddTo(patch, old)
	if got, err := json.Marshal(patch); err != nil || string(got) != want {
		t.Errorf("the patch of %s is %s, want %s (%v)", status, got, want, err)
	}
	if got := values.Problem(); (problem == "") != (got == "") || !strings.HasPrefix(got, problem) {
		t.Errorf("the problem is %q, want %q", got, problem)
	}
	if values.IsIn(old) != (want == "{}") {
		t.Errorf("%s has the outputs: %v", status, values.IsIn(old))
	}
}

// wholeNumbers makes numbers int64, as in a status that was read.
func wholeNumbers(object map[string]any) {
	for key, value := range object {
		switch v := value.(type) {
		case map[string]any:
			wholeNumbers(v)
		case float64:
			object[key] = int64(v)
		}
	}
}
