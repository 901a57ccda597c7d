package release

import (
	"encoding/base64"
	"math"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A view is the objects of a manifest, normalized for comparison, with their templates.
type view struct {
	objects map[key]*unstructured.Unstructured
	sources map[key]string
	// keys are in the order of the manifest.
	keys []key
	// renamed are the keys that objects had before alignNames.
	renamed map[key]key
}

func newView() *view {
	return &view{objects: map[key]*unstructured.Unstructured{}, sources: map[key]string{}, renamed: map[key]key{}}
}

func (r *Release) view(manifest string) (*view, error) {
	objects, err := parseManifest(manifest)
	if err != nil {
		return nil, r.errorf("read its manifest: %w", err)
	}
	v := newView()
	for _, object := range objects {
		r.normalize(object.Unstructured)
		v.add(r.keyOf(object.Unstructured), object)
	}
	return v, nil
}

func (v *view) add(k key, object manifestObject) {
	if _, ok := v.objects[k]; !ok {
		v.keys = append(v.keys, k)
	}
	v.objects[k], v.sources[k] = object.Unstructured, object.source
}

// normalize removes differences that the server does not see.
func (r *Release) normalize(object *unstructured.Unstructured) {
	normalizeValue(object.Object)
	if object.GetNamespace() == r.namespace {
		object.SetNamespace("")
	}
	metadata, _ := object.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		if values, ok := metadata[field].(map[string]any); ok && len(values) == 0 {
			delete(metadata, field)
		}
	}
	if object.GetKind() == "Secret" && object.GetAPIVersion() == "v1" {
		encodeStringData(object)
	}
}

// encodeStringData converts stringData into data, as the server does.
func encodeStringData(object *unstructured.Unstructured) {
	plain, ok := object.Object["stringData"].(map[string]any)
	if !ok {
		return
	}
	data, ok := object.Object["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for name, value := range plain {
		text, ok := value.(string)
		if !ok {
			return // refused by the server
		}
		data[name] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(object.Object, "stringData")
	object.Object["data"] = data
}

// normalizeValue removes nulls from maps and converts integral floats to integers.
func normalizeValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if item == nil {
				delete(value, name)
				continue
			}
			value[name] = normalizeValue(item)
		}
	case []any:
		for i, item := range value {
			value[i] = normalizeValue(item)
		}
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
			return int64(value)
		}
	}
	return value
}
