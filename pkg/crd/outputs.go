package crd

import "maps"

// An Output is a value that the operator writes to status.outputs.
type Output struct {
	Name string
	// Type is string, integer, number, boolean, array or object.
	Type string
	// Description may be empty.
	Description string
}

// outputsDescription marks the schemas that Outputs returns.
const outputsDescription = "outputs are values that other programs use. The operator's watches.yaml defines them."

// Outputs returns the schema of status.outputs, or nil if there are none.
func Outputs(outputs []Output) map[string]any {
	if len(outputs) == 0 {
		return nil
	}
	properties := map[string]any{}
	for _, o := range outputs {
		schema := map[string]any{"type": o.Type}
		switch o.Type {
		case "integer":
			schema["format"] = "int64"
		case "array":
			schema["items"] = map[string]any{PreserveUnknown: true}
		case "object":
			schema[PreserveUnknown] = true
		}
		if o.Description != "" {
			schema["description"] = o.Description
		}
		properties[o.Name] = schema
	}
	return map[string]any{"type": "object", "description": outputsDescription, PreserveUnknown: true, "properties": properties}
}

// OutputsOf returns the schema of status.outputs in a version of a manifest, if Outputs has made it, or nil.
func OutputsOf(version map[string]any) map[string]any {
	for _, key := range []string{"schema", "openAPIV3Schema", "properties", "status", "properties", "outputs"} {
		version, _ = version[key].(map[string]any)
	}
	if version["description"] != outputsDescription {
		return nil
	}
	return version
}

// withOutputs returns the schema of a status with the one of status.outputs, which may be nil.
func withOutputs(status, outputs map[string]any) map[string]any {
	if outputs == nil {
		return status
	}
	status = maps.Clone(status)
	properties, _ := status["properties"].(map[string]any)
	properties = maps.Clone(properties)
	properties["outputs"] = outputs
	status["properties"] = properties
	return status
}
