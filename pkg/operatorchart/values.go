package operatorchart

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A row documents a value in the README of a chart.
type row struct{ Path, Description, Default string }

// readValues returns the rows and the JSON schema of values. Comments above the keys are the descriptions.
func readValues(data []byte) ([]row, []byte, error) {
	var document yaml.Node
	if err := safeyaml.Unmarshal(data, &document); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", valuesFile, err)
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, nil, fmt.Errorf("%s: must be a mapping of values", valuesFile)
	}
	var rows []row
	schema := &valueSchema{Schema: "http://json-schema.org/draft-07/schema#"}
	if err := schema.readMapping(document.Content[0], "", &rows); err != nil {
		return nil, nil, err
	}
	schema.Properties["global"] = &valueSchema{Type: "object", Description: "Values that Helm passes to all charts."}
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	return rows, append(text, '\n'), nil
}

// A valueSchema is the JSON schema of a value, draft 7 as Helm reads it.
type valueSchema struct {
	Schema      string                  `json:"$schema,omitempty"`
	Type        any                     `json:"type,omitempty"`
	Description string                  `json:"description,omitempty"`
	Enum        []string                `json:"enum,omitempty"`
	Minimum     *int                    `json:"minimum,omitempty"`
	Maximum     *int                    `json:"maximum,omitempty"`
	Properties  map[string]*valueSchema `json:"properties,omitempty"`
	// Closed is false for a section whose further keys are errors.
	Closed *bool        `json:"additionalProperties,omitempty"`
	Items  *valueSchema `json:"items,omitempty"`
}

// readMapping reads a section of the values.
func (s *valueSchema) readMapping(section *yaml.Node, path string, rows *[]row) error {
	closed := false
	s.Type, s.Properties, s.Closed = "object", map[string]*valueSchema{}, &closed
	for i := 0; i+1 < len(section.Content); i += 2 {
		key, value := section.Content[i], section.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		description := description(key)
		property := &valueSchema{Description: description}
		s.Properties[key.Value] = property
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && (description == "" || slices.Contains(sections(), at) || isDescribed(value)) {
			if err := property.readMapping(value, at, rows); err != nil {
				return err
			}
			continue
		}
		property.readDefault(key.Value, value)
		text, err := compact(value)
		if err != nil {
			return err
		}
		*rows = append(*rows, row{at, strings.ReplaceAll(description, "|", `\|`), strings.ReplaceAll(text, "|", `\|`)})
	}
	return nil
}

// isDescribed reports whether a mapping has a key with a comment, so that it is a section and not a value.
func isDescribed(section *yaml.Node) bool {
	for i := 0; i < len(section.Content); i += 2 {
		if section.Content[i].HeadComment != "" {
			return true
		}
	}
	return false
}

// description returns the comment directly above a key. An empty line separates the comment of a section from it.
func description(key *yaml.Node) string {
	comment := key.HeadComment
	if i := strings.LastIndex(comment, "\n\n"); i >= 0 {
		comment = comment[i+2:]
	}
	var words []string
	for line := range strings.Lines(comment) {
		words = append(words, strings.TrimSpace(strings.TrimLeft(line, "# -")))
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// readDefault sets the type of a value, by its default and name.
func (s *valueSchema) readDefault(name string, value *yaml.Node) {
	limit := func(low, high int) {
		s.Minimum = &low
		if high > 0 {
			s.Maximum = &high
		}
	}
	switch {
	case value.Kind == yaml.MappingNode:
		s.Type = "object"
	case value.Kind == yaml.SequenceNode:
		s.Type = "array"
		if name == "args" {
			s.Items = &valueSchema{Type: []string{"string", "number", "boolean"}}
		}
	case value.Tag == "!!bool":
		s.Type = "boolean"
	case value.Tag == "!!int":
		s.Type = "integer"
		if name == "replicas" {
			s.Type = []string{"integer", "null"}
		}
		switch name {
		case "port":
			limit(1, 65535)
		case "replicas", "terminationGracePeriodSeconds":
			limit(0, 0)
		}
	case name == "pullPolicy":
		s.Type, s.Enum = "string", []string{"", "Always", "IfNotPresent", "Never"}
	case value.Tag == "!!str":
		s.Type = "string"
		if name == "tag" { // --set gives 1.2 as a number
			s.Type = []string{"string", "number"}
		}
	}
}

// compact returns a value as JSON in one line.
func compact(value *yaml.Node) (string, error) {
	var decoded any
	if err := value.Decode(&decoded); err != nil {
		return "", fmt.Errorf("%s: %w", valuesFile, err)
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(decoded); err != nil {
		return "", fmt.Errorf("%s: %w", valuesFile, err)
	}
	return strings.TrimSpace(text.String()), nil
}
