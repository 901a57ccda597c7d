package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// An Object is a Kubernetes object with its position.
type Object struct {
	// Position is the beginning of the object.
	diag.Position
	// Fields are the fields of the object, with numbers as int64 or float64.
	Fields map[string]any
	// data is the YAML of the object.
	data []byte
	// source is the YAML at Position that the object was built from, or nil if it is data.
	source []byte
	// item is true for an item of a list, of which the positions of fields are unknown.
	item bool
}

// APIVersion returns the API version of the object, or "" if it has none.
func (o Object) APIVersion() string { return TextAt(o.Fields, "apiVersion") }

// Kind returns the kind of the object, or "" if it has none.
func (o Object) Kind() string { return TextAt(o.Fields, "kind") }

// Name returns metadata.name of the object, or "" if it has none.
func (o Object) Name() string { return TextAt(o.Fields, "metadata", "name") }

// Namespace returns metadata.namespace of the object, or "" if it has none.
func (o Object) Namespace() string { return TextAt(o.Fields, "metadata", "namespace") }

// Group returns the API group, which is "" for the core group.
func (o Object) Group() string {
	group, _, ok := strings.Cut(o.APIVersion(), "/")
	if !ok {
		return ""
	}
	return group
}

// Version returns the version in the API group.
func (o Object) Version() string {
	version := o.APIVersion()
	return version[strings.LastIndex(version, "/")+1:]
}

// String returns kind, namespace and name, such as "Service mail/smtp".
func (o Object) String() string {
	name := o.Name()
	if ns := o.Namespace(); ns != "" {
		name = ns + "/" + name
	}
	return o.Kind() + " " + name
}

// Data returns the YAML of the object.
func (o Object) Data() []byte { return o.data }

// Into decodes the object into a Go type of Kubernetes like kubectl: unknown fields are ignored, and numbers are converted to
// strings if necessary.
func (o Object) Into(target any) error {
	if err := safeyaml.UnmarshalJSON(o.data, target); err != nil {
		return o.explain(err)
	}
	return nil
}

// MapAt returns the mapping at a path of nested mappings, or nil.
func MapAt(fields map[string]any, path ...string) map[string]any {
	for _, key := range path {
		fields, _ = fields[key].(map[string]any)
	}
	return fields
}

// TextAt returns the string at a path of nested mappings, or "".
func TextAt(fields map[string]any, path ...string) string {
	last := len(path) - 1
	text, _ := MapAt(fields, path[:last]...)[path[last]].(string)
	return text
}

// incomplete returns the problem of an object without API version, kind or valid metadata.
func (o Object) incomplete() diag.Findings {
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		if TextAt(o.Fields, key) == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		problem := diag.Finding{Position: o.Position, Problem: "is not a Kubernetes object: missing " + strings.Join(missing, " and ")}
		if len(missing) == 2 {
			problem.Err = ErrNotKubernetes
		}
		return diag.Findings{problem}
	}
	return o.metadata()
}

// metadata returns the problem of metadata that are not a mapping.
func (o Object) metadata() diag.Findings {
	if _, ok := o.Fields["metadata"].(map[string]any); !ok && o.Fields["metadata"] != nil {
		return diag.Findings{{Position: o.Locate("metadata"), Problem: fmt.Sprintf("metadata of the %s must be a mapping", o.Kind())}}
	}
	return nil
}

// A DecodeError is the cause of a finding about an object that does not match its Go type.
type DecodeError struct {
	// Problem is the problem without the object and the field, such as "must be a string, not a number".
	Problem string
	// Wanted is the type of the field, such as "a string", or empty if the problem is not the type of a value.
	Wanted string
}

func (e *DecodeError) Error() string { return e.Problem }

// explain adds position and field to the error of a value that does not fit a Go type.
func (o Object) explain(err error) error {
	if typed, ok := errors.AsType[*jsonTypeError](err); ok {
		field := strings.TrimPrefix(typed.Field, "TypeMeta.")
		path := strings.Split(field, ".")
		kind, _, _ := strings.Cut(typed.Value, " ")
		if exact, ok := misfit(o.Fields, path, kind); ok {
			path = exact
		}
		wanted := typed.Type.String()
		if typed.Type.Kind() == reflect.String {
			wanted = "string" // also for named types
		}
		wrong := &DecodeError{Problem: fmt.Sprintf("must be %s, not %s", article(wanted), article(typed.Value)), Wanted: article(wanted)}
		return diag.Findings{{Position: o.Locate(path...), Field: FieldPath(path), Problem: fmt.Sprintf("%s: %s %s", o, field, wrong), Err: wrong}}
	}
	message := err.Error()
	for _, prefix := range []string{"error unmarshaling JSON: ", "while decoding JSON: ", "json: "} {
		message = strings.TrimPrefix(message, prefix)
	}
	return diag.Findings{{Position: o.Position, Problem: fmt.Sprintf("%s: %s", o, message), Err: &DecodeError{Problem: message}}}
}

// misfit returns the complete path of a value of a wrong kind. The path of JSON errors does not contain the indices of lists.
func misfit(value any, path []string, kind string) ([]string, bool) {
	switch v := value.(type) {
	case []any:
		if len(path) == 0 && kind == "array" {
			return nil, true
		}
		for i, item := range v {
			if rest, ok := misfit(item, path, kind); ok {
				return append([]string{strconv.Itoa(i)}, rest...), true
			}
		}
		return nil, false
	case map[string]any:
		if len(path) == 0 {
			break
		}
		rest, ok := misfit(v[path[0]], path[1:], kind)
		return append([]string{path[0]}, rest...), ok
	}
	return nil, len(path) == 0 && kindOf(value) == kind
}

// kindOf returns the kind of a value in the form of JSON errors.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case nil:
		return "null"
	}
	return "number"
}
