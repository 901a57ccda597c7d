package manifest

import (
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Encode encodes a value like Kubernetes tools: with sorted keys, two spaces of indentation, lists that are not indented, and folded
// long strings.
func Encode(v any) ([]byte, error) { return yaml.Marshal(v) }

// Fields returns the fields of a Go type of Kubernetes.
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

// DropTimes removes each creationTimestamp, which Go types add to all metadata in a value.
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

// Size returns the size of the object as JSON in bytes.
func (o Object) Size() int {
	data, err := json.Marshal(o.Fields)
	if err != nil {
		return len(o.data)
	}
	return len(data)
}
