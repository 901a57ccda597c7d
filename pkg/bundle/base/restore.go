package base

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
)

// restore adds the fields to a decoded CSV that its Go type does not have, so that newer and misspelled fields are kept.
func restore(csv, raw map[string]any) {
	known := reflect.TypeFor[v1alpha1.ClusterServiceVersion]()
	restoreFields(known, raw, csv)
	// The type encodes this field even if it is unset.
	if spec, ok := csv["spec"].(map[string]any); ok {
		if rawSpec, _ := raw["spec"].(map[string]any); rawSpec["cleanup"] == nil {
			delete(spec, "cleanup")
		}
	}
}

func restoreValue(t reflect.Type, raw, out any) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		raw, ok := raw.(map[string]any)
		out, sameForm := out.(map[string]any)
		if ok && sameForm {
			restoreFields(t, raw, out)
		}
	case reflect.Map:
		raw, ok := raw.(map[string]any)
		out, sameForm := out.(map[string]any)
		if ok && sameForm {
			for key, value := range raw {
				restoreValue(t.Elem(), value, out[key])
			}
		}
	case reflect.Slice:
		raw, ok := raw.([]any)
		out, sameForm := out.([]any)
		if ok && sameForm && len(raw) == len(out) {
			for i, value := range raw {
				restoreValue(t.Elem(), value, out[i])
			}
		}
	}
}

func restoreFields(t reflect.Type, raw, out map[string]any) {
	for key, value := range raw {
		name, field := fieldOf(t, key)
		switch {
		case field == nil:
			out[key] = value
		case out[name] != nil:
			restoreValue(field, value, out[name])
		}
	}
}

// fieldOf returns the name and type of the field that the JSON decoder would choose for a key.
func fieldOf(t reflect.Type, key string) (string, reflect.Type) {
	var sameForm string
	var found reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			inner := field.Type
			for inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				if name, typ := fieldOf(inner, key); typ != nil && (name == key || found == nil) {
					if name == key {
						return name, typ
					}
					sameForm, found = name, typ
				}
			}
			continue
		}
		if name == key {
			return name, field.Type
		}
		if name != "" && name != "-" && strings.EqualFold(name, key) && found == nil {
			sameForm, found = name, field.Type
		}
	}
	return sameForm, found
}
