package manifest

import (
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Encode writes a value as the Kubernetes tools do: keys sorted, two blanks of indentation, lists not
// indented, long plain texts folded.
func Encode(v any) ([]byte, error) { return yaml.Marshal(v) }

// Fields gives a Go type of Kubernetes as an object's fields.
func Fields(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return fields, nil
}

// DropTimes takes every creationTimestamp away, which the Go types add to all metadata within a value.
func DropTimes(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "creationTimestamp")
		for _, value := range v {
			DropTimes(value)
		}
	case []any:
		for _, value := range v {
			DropTimes(value)
		}
	}
}

// Size is the number of bytes of the object as JSON.
func (o Object) Size() int {
	data, err := json.Marshal(o.Fields)
	if err != nil {
		return len(o.data)
	}
	return len(data)
}
