// Package variables forms the variables of a run from a custom resource, with the names and precedence of operator-sdk.
package variables

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// unsafeKey marks a string that Ansible does not evaluate as a template.
const unsafeKey = "__ansible_unsafe"

// Input is what variables are formed from.
type Input struct {
	GVK schema.GroupVersionKind
	// Object is the custom resource.
	Object map[string]any
	// SourceVars come from Secrets and ConfigMaps. Their strings are always marked: they are data, and often contain braces.
	SourceVars map[string]any
	// Namespace is the one in ansible_operator_meta; empty is the one of the custom resource.
	Namespace string
	// Vars come from the watch, and FinalizerVars from its finalizer in a run of the finalizer.
	Vars, FinalizerVars map[string]any
	// SnakeCase converts keys of the spec.
	SnakeCase bool
	// MarkUnsafe marks all strings of the custom resource, and refuses keys with which it could run code in another way.
	MarkUnsafe bool
	// Schema is the schema of the version in the CRD, or nil. With a schema, keys of maps are not converted.
	Schema *apiextensionsv1.JSONSchemaProps
}

// Of returns the variables of a run, in order of precedence: SourceVars; the spec's keys; ansible_operator_meta with name and namespace;
// _GROUP_KIND, the custom resource, and _GROUP_KIND_spec, its spec, both unchanged; Vars; FinalizerVars. Values of the input are
// not changed, but may be shared with the result. The error names keys of the spec that MarkUnsafe refuses.
func Of(in Input) (map[string]any, error) {
	spec, _ := in.Object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	result := map[string]any{}
	if in.SnakeCase {
		var properties *apiextensionsv1.JSONSchemaProps
		if in.Schema != nil {
			if s, ok := in.Schema.Properties["spec"]; ok {
				properties = &s
			}
		}
		result = convertObject(spec, properties)
	} else {
		maps.Copy(result, spec)
	}
	if in.MarkUnsafe {
		if err := checkKeys(spec, result); err != nil {
			return nil, err
		}
	}
	metadata, _ := in.Object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	namespace = cmp.Or(in.Namespace, namespace)
	result["ansible_operator_meta"] = map[string]any{"name": name, "namespace": namespace}
	object := ObjectName(in.GVK.Group, in.GVK.Kind)
	result[object] = in.Object
	result[object+"_spec"] = spec
	if in.MarkUnsafe {
		result, _ = markUnsafe(result).(map[string]any)
	}
	maps.Copy(result, in.Vars)
	maps.Copy(result, in.FinalizerVars)
	for name, value := range in.SourceVars {
		if _, given := result[name]; !given {
			result[name] = markUnsafe(value)
		}
	}
	return result, nil
}

// reservedPrefix begins the variables that control Ansible itself, such as ansible_python_interpreter.
const reservedPrefix = "ansible_"

// CheckSource returns what is wrong with the keys of variables from a Secret or ConfigMap, or "". It contains none of them.
func CheckSource(values map[string]any) string {
	for name := range values {
		if strings.HasPrefix(name, reservedPrefix) {
			return "must not set variables that are reserved for Ansible, whose names begin with " + reservedPrefix
		}
	}
	if len(checkTemplates("", values)) > 0 {
		return "must not have keys with Jinja templates"
	}
	return ""
}

// checkKeys returns an error for keys of a spec and its variables that marks do not make safe: Ansible reads variables with
// reservedPrefix whether they are marked or not, and it cannot mark keys, which become values in loops over a map.
func checkKeys(spec, variables map[string]any) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if strings.HasPrefix(name, reservedPrefix) {
			errs = append(errs, fmt.Errorf("spec: the variable %s is reserved for Ansible; rename the key", name))
		}
	}
	return errors.Join(append(errs, checkTemplates("spec", spec)...)...)
}

// checkTemplates returns an error for each key in a value that contains a template.
func checkTemplates(path string, value any) (errs []error) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if strings.Contains(key, "{{") || strings.Contains(key, "{%") || strings.Contains(key, "{#") {
				errs = append(errs, fmt.Errorf("%s: key %q: must not contain a Jinja template", path, key))
			}
			errs = append(errs, checkTemplates(path+"."+key, value[key])...)
		}
	case []any:
		for i, item := range value {
			errs = append(errs, checkTemplates(fmt.Sprintf("%s[%d]", path, i), item)...)
		}
	}
	return errs
}

// ObjectName returns the name of the variable that contains the custom resources of a kind, such as _cache_example_com_memcached.
func ObjectName(group, kind string) string {
	return "_" + strings.NewReplacer(".", "_", "-", "_").Replace(strings.ToLower(group+"_"+kind))
}

// convert converts the keys in a value. The schema is nil for values that no schema describes.
func convert(value any, schema *apiextensionsv1.JSONSchemaProps) any {
	switch value := value.(type) {
	case map[string]any:
		if schema == nil || !isMap(schema) {
			return convertObject(value, schema)
		}
		if !hasProperties(schema) {
			return value
		}
		converted := make(map[string]any, len(value))
		for key, v := range value {
			converted[key] = convert(v, schema.AdditionalProperties.Schema)
		}
		return converted
	case []any:
		var items *apiextensionsv1.JSONSchemaProps
		if schema != nil && schema.Items != nil {
			items = schema.Items.Schema
		}
		converted := make([]any, len(value))
		for i, item := range value {
			converted[i] = convert(item, items)
		}
		return converted
	default:
		return value
	}
}

// hasProperties reports whether a schema or one below it defines keys.
func hasProperties(schema *apiextensionsv1.JSONSchemaProps) bool {
	return len(schema.Properties) > 0 ||
		schema.Items != nil && schema.Items.Schema != nil && hasProperties(schema.Items.Schema) ||
		schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil && hasProperties(schema.AdditionalProperties.Schema)
}

// isMap reports whether the keys of an object are data of the user.
func isMap(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.AdditionalProperties != nil && len(schema.Properties) == 0 &&
		(schema.AdditionalProperties.Allows || schema.AdditionalProperties.Schema != nil)
}

// convertObject converts the keys of an object. If two keys have the same name in snake case, the one that is in snake case already
// takes precedence, then the last one in order.
func convertObject(object map[string]any, schema *apiextensionsv1.JSONSchemaProps) map[string]any {
	converted := make(map[string]any, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		var property *apiextensionsv1.JSONSchemaProps
		if schema != nil {
			if p, ok := schema.Properties[key]; ok {
				property = &p
			}
		}
		name := SnakeCase(key)
		if _, exact := object[name]; exact && name != key {
			continue
		}
		converted[name] = convert(object[key], property)
	}
	return converted
}

func markUnsafe(value any) any {
	switch value := value.(type) {
	case string:
		return map[string]any{unsafeKey: value}
	case map[string]any:
		marked := make(map[string]any, len(value))
		for key, v := range value {
			marked[key] = markUnsafe(v)
		}
		return marked
	case []any:
		marked := make([]any, len(value))
		for i, v := range value {
			marked[i] = markUnsafe(v)
		}
		return marked
	default:
		return value
	}
}
