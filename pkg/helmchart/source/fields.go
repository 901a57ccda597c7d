package source

import (
	_ "embed" // for fields.txt
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// newFields lists the fields that versions of Kubernetes added to types: MINOR TYPE.FIELD. TestNewFields makes it from the test data of k8s.io/api.
//
//go:embed fields.txt
var newFields string

// addedFields returns the minor version that added a field, by type and field, of those in newFields.
func addedFields() map[string]int {
	added := map[string]int{}
	for line := range strings.Lines(newFields) {
		var minor int
		var field string
		if n, _ := fmt.Sscanf(line, "%d %s", &minor, &field); n == 2 {
			added[field] = minor
		}
	}
	return added
}

// A fieldProblem is a field that the API server of a version drops or refuses.
type fieldProblem struct {
	path, problem, fix string
	// unknown is true for a field that the server drops with a warning.
	unknown bool
}

// A fieldChecker compares the fields of an object with a Go type of its kind, as in a version of Kubernetes.
type fieldChecker struct {
	added    map[string]int
	minor    int
	problems []fieldProblem
}

func (c *fieldChecker) wrong(path string, value any, want string) {
	problem := "must be " + want
	if got := jsonType(value); got != "a number" || !strings.Contains(want, "integer") {
		problem += ", not " + got
	}
	c.problems = append(c.problems, fieldProblem{path: path, problem: problem})
}

// check compares a value with a type. A missing value and null fit any.
func (c *fieldChecker) check(path string, value any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil {
		return
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		c.checkOwn(path, value, t)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if object, ok := value.(map[string]any); ok {
			c.checkStruct(path, object, t)
		} else {
			c.wrong(path, value, "a mapping")
		}
	case reflect.Map:
		object, ok := value.(map[string]any)
		if !ok {
			c.wrong(path, value, "a mapping")
		}
		for _, key := range sortedKeys(object) {
			c.check(fmt.Sprintf("%s[%s]", path, key), object[key], t.Elem())
		}
	case reflect.Slice:
		c.checkSlice(path, value, t)
	case reflect.String:
		if _, ok := value.(string); !ok {
			c.wrong(path, value, "a string")
		}
	case reflect.Bool:
		if _, ok := value.(bool); !ok {
			c.wrong(path, value, "true or false")
		}
	case reflect.Int32, reflect.Int64:
		number, ok := value.(int64)
		if !ok || t.Kind() == reflect.Int32 && (number > math.MaxInt32 || number < math.MinInt32) {
			c.wrong(path, value, "an integer of "+strings.TrimPrefix(t.Kind().String(), "int")+" bits")
		}
	case reflect.Float64:
		switch value.(type) {
		case int64, float64:
		default:
			c.wrong(path, value, "a number")
		}
	}
}

// checkOwn checks a value of a type that decodes itself.
func (c *fieldChecker) checkOwn(path string, value any, t reflect.Type) {
	if t.Kind() == reflect.Struct { // a schema or a boolean, or a list of schemas
		schema, ok := t.FieldByName("Schema")
		if object, isObject := value.(map[string]any); ok && isObject {
			c.check(path, object, schema.Type)
			return
		}
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON(data)
	}
	if err != nil {
		c.problems = append(c.problems, fieldProblem{path: path, problem: "has an invalid value: " + oneLine(string(data))})
	}
}

func (c *fieldChecker) checkSlice(path string, value any, t reflect.Type) {
	if t.Elem().Kind() == reflect.Uint8 {
		text, ok := value.(string)
		if _, err := base64.StdEncoding.DecodeString(text); !ok || err != nil {
			c.problems = append(c.problems, fieldProblem{path: path, problem: "must be a string in base64"})
		}
		return
	}
	list, ok := value.([]any)
	if !ok {
		c.wrong(path, value, "a list")
	}
	for i, element := range list {
		c.check(fmt.Sprintf("%s[%d]", path, i), element, t.Elem())
	}
}

// checkStruct checks the fields of an object.
func (c *fieldChecker) checkStruct(path string, object map[string]any, t reflect.Type) {
	fields := jsonFields(t)
	for _, key := range sortedKeys(object) {
		at := strings.TrimPrefix(path+"."+key, ".")
		field, ok := fields[key]
		if !ok {
			problem := fieldProblem{path: at, problem: "is not a field of " + t.Name(), unknown: true}
			if near, ok := diag.Nearest(key, sortedKeys(fields)); ok {
				problem.fix = "did you mean " + near + "?"
			}
			c.problems = append(c.problems, problem)
			continue
		}
		if minor := c.added[field.name]; minor > c.minor {
			c.problems = append(c.problems, fieldProblem{path: at, problem: fmt.Sprintf("needs Kubernetes 1.%d or later", minor), unknown: true})
			continue
		}
		c.check(at, object[key], field.kind)
	}
}

// A jsonField is a field of a Go type as JSON has it.
type jsonField struct {
	kind reflect.Type
	// name is the type that declares the field, and the field: k8s.io/api/core/v1.PodSpec.hostname.
	name string
}

// jsonFields returns the fields of a struct by key, embedded ones included.
func jsonFields(t reflect.Type) map[string]jsonField {
	fields := map[string]jsonField{}
	for f := range slices.Values(reflect.VisibleFields(t)) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" || key == "-" || len(f.Index) > 1 {
			continue
		}
		fields[key] = jsonField{f.Type, t.PkgPath() + "." + t.Name() + "." + key}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Anonymous && key == "" && f.Type.Kind() == reflect.Struct {
			for key, inner := range jsonFields(f.Type) {
				if _, ok := fields[key]; !ok {
					fields[key] = inner
				}
			}
		}
	}
	return fields
}

// jsonType names the type of a decoded value, without the value, which may be secret.
func jsonType(value any) string {
	switch value.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	}
	return "a number"
}
