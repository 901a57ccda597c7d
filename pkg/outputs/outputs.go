// Package outputs holds what Helm and Ansible operators write to status.outputs of custom resources: values of a release or of a run, with
// the types that the CRD gives them, and without secrets.
package outputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operon-sdk/operon/pkg/redact"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// StatusKey is the key of the status that contains the outputs.
const StatusKey = "outputs"

const (
	// Condition is the type of the condition that says whether all outputs could be written. Without it, status.outputs isn't the
	// operator's.
	Condition = "OutputsReady"
	// ReasonWritten and ReasonFailed are its reasons. Ready has ReasonFailed, too.
	ReasonWritten = "OutputsWritten"
	ReasonFailed  = "OutputsFailed"
)

// maxBytes limits the JSON of an output, as all of a resource have to fit in etcd.
const maxBytes = 32 << 10

// An Output is a value that is written to the status.
type Output struct {
	// Name is the key in status.outputs.
	Name string
	// From is a template of a Helm operator, or the name of a value that the module set_stats sets.
	From string
	// Type is string, integer, number, boolean, array or object.
	Type string
	// Description is the description of the field in the CRD.
	Description string
}

// Values are the outputs of a pass. The zero value has none: all that are in the status are removed.
type Values struct {
	values   map[string]any
	kept     map[string]bool
	problems []string
}

// Set sets an output to a value in the form of JSON, or to a text from which the value is parsed. A value that doesn't have the type leaves
// the one in the status; one with a secret removes it. Without a value, or with a blank text, there is no output.
func (v *Values) Set(o Output, value any, secrets *redact.Redactor) {
	converted, err := convert(o.Type, value)
	switch {
	case err != nil:
		v.Fail(o.Name, errors.New(secrets.Redact(err.Error())))
	case converted == nil:
	case hasSecret(converted, secrets):
		v.Refuse(o.Name, "contains a secret, which everyone who can read the resource would see")
	default:
		if v.values == nil {
			v.values = map[string]any{}
		}
		v.values[o.Name] = converted
	}
}

// Fail leaves an output as it is in the status. The error must not contain secrets.
func (v *Values) Fail(name string, err error) {
	if v.kept == nil {
		v.kept = map[string]bool{}
	}
	v.kept[name] = true
	v.problems = append(v.problems, fmt.Sprintf("%s: %v", name, err))
}

// Refuse removes an output from the status for a reason.
func (v *Values) Refuse(name, reason string) { v.problems = append(v.problems, name+": "+reason) }

// FailAll leaves all outputs as they are in the status.
func (v *Values) FailAll(outputs []Output, err error) {
	v.kept, v.values = map[string]bool{}, nil
	for _, o := range outputs {
		v.kept[o.Name] = true
	}
	v.problems = []string{err.Error()}
}

// Problem returns why not all outputs could be written, or "".
func (v *Values) Problem() string { return strings.Join(v.problems, "; ") }

// AddTo adds what a merge patch of a status has to contain, unless the status has the outputs already.
func (v *Values) AddTo(patch, status map[string]any) {
	old, _ := status[StatusKey].(map[string]any)
	want := maps.Clone(v.values)
	if want == nil {
		want = map[string]any{}
	}
	for name := range v.kept {
		if value, ok := old[name]; ok {
			want[name] = value
		}
	}
	if change := mergePatch(old, want); len(want) == 0 && status[StatusKey] != nil {
		patch[StatusKey] = nil
	} else if len(change) > 0 {
		patch[StatusKey] = change
	}
}

// IsIn reports whether a status has the outputs. The schema of the kind may drop them.
func (v *Values) IsIn(status map[string]any) bool {
	patch := map[string]any{}
	v.AddTo(patch, status)
	return len(patch) == 0
}

// mergePatch returns the merge patch that turns an object into another one.
func mergePatch(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range after {
		old, exists := before[key]
		fields, isObject := value.(map[string]any)
		oldFields, wasObject := old.(map[string]any)
		switch {
		case isObject && wasObject:
			if change := mergePatch(oldFields, fields); len(change) > 0 {
				patch[key] = change
			}
		case !exists || !reflect.DeepEqual(old, value):
			patch[key] = value
		}
	}
	for key := range before {
		if _, kept := after[key]; !kept {
			patch[key] = nil
		}
	}
	return patch
}

// hasSecret reports whether a value contains a secret, or has a key whose values are secret.
func hasSecret(value any, secrets *redact.Redactor) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, element := range v {
			if redact.IsSecretKey(key) || hasSecret(key, secrets) || hasSecret(element, secrets) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return hasSecret(element, secrets) })
	case string:
		return secrets.Redact(v) != v
	case int64, float64:
		text := fmt.Sprint(v)
		return secrets.Redact(text) != text
	}
	return false
}

// convert returns a value with a type, in the form of JSON, or nil if there is none.
func convert(kind string, value any) (any, error) {
	text, isText := value.(string)
	if isText && strings.TrimSpace(text) == "" {
		return nil, nil
	}
	data, err := json.Marshal(value)
	if isText && kind != "string" {
		if data, err = safeyaml.ToJSON([]byte(text)); err != nil {
			data, err = json.Marshal(text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("isn't a value that a status can have: %w", err)
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("has %d bytes, more than %d", len(data), maxBytes)
	}
	var decoded any
	if err := utiljson.Unmarshal(data, &decoded); err != nil {
		return nil, err
	}
	converted, ok := toType(kind, normalize(decoded))
	if !ok {
		return nil, fmt.Errorf("%s isn't of type %s", shorten(strings.TrimSpace(string(data))), kind)
	}
	return converted, nil
}

// toType returns a value in the form of JSON with a type, and whether that is possible.
func toType(kind string, value any) (any, bool) {
	if value == nil {
		return nil, true
	}
	ok := false
	switch kind {
	case "integer":
		_, ok = value.(int64)
	case "number":
		_, isInteger := value.(int64)
		_, isFloat := value.(float64)
		ok = isInteger || isFloat
	case "boolean":
		_, ok = value.(bool)
	case "array":
		_, ok = value.([]any)
	case "object":
		_, ok = value.(map[string]any)
	default:
		switch v := value.(type) {
		case string:
			return strings.TrimSpace(v), true
		case bool, int64, float64:
			data, err := json.Marshal(v)
			return string(data), err == nil
		}
	}
	return value, ok
}

// normalize returns a copy of a value in the form in which a status is read: numbers are int64 or float64, and there are no nulls in
// objects, which a merge patch can't set.
func normalize(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := map[string]any{}
		for key, element := range v {
			if element != nil {
				copied[key] = normalize(element)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, element := range v {
			copied[i] = normalize(element)
		}
		return copied
	case float64:
		if whole := int64(v); float64(whole) == v && whole < 1<<53 && whole > -(1<<53) {
			return whole
		}
	}
	return value
}

// maxShown limits a value in a message.
const maxShown = 100

func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
