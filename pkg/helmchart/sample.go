package helmchart

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A SampleSpec describes the sample of a kind whose objects are releases of a chart.
type SampleSpec struct {
	// APIVersion and Kind describe the object: cache.example.com/v1alpha1, Memcached.
	APIVersion, Kind string
	// Name is the name of the object. The default is the kind in lower case with the suffix -sample.
	Name string
	// Labels are the labels of the object.
	Labels map[string]string
	// Chart are the files of the chart.
	Chart Files
	// Full sets all default values of the chart, as operator-sdk does. Otherwise, they are comments, so that later defaults of the chart
	// apply to the object.
	Full bool
	// Examples are examples of further values that the chart requires.
	Examples map[string]any
}

// Sample returns the manifest of a sample. It contains the values of the chart in their order and with their comments.
func Sample(spec SampleSpec) ([]byte, error) {
	tree, err := readTree(spec.Chart)
	if err != nil {
		return nil, err
	}
	lines, err := valueLines(spec.Chart["values.yaml"])
	if err != nil {
		return nil, fmt.Errorf("values.yaml: %w", err)
	}
	name := spec.Name
	if name == "" {
		name = strings.ToLower(spec.Kind) + "-sample"
	}
	metadata := map[string]any{"name": name}
	if len(spec.Labels) > 0 {
		metadata["labels"] = spec.Labels
	}
	head, err := sigsyaml.Marshal(map[string]any{"apiVersion": spec.APIVersion, "kind": spec.Kind, "metadata": metadata})
	if err != nil {
		return nil, err
	}
	chart := strings.TrimSpace(tree.name + " " + tree.version)
	values := tree.describe(inference{tested: testedKeys(spec.Chart)}, tree.values)
	examples := withExamples(values.examples(tree.values), spec.Examples)
	body, top := sampleLines(lines, examples)
	var b bytes.Buffer
	b.WriteString(sampleNotes(chart, len(lines) > 0, spec.Full, examplePaths(examples, tree.values)))
	b.Write(head)
	if len(examples) > 0 || len(lines) > 0 && spec.Full {
		b.WriteString("spec:\n")
	} else {
		b.WriteString("spec: {}\n")
	}
	if len(top) > 0 {
		for _, line := range indented(top, 0) {
			writeLine(&b, line, "  ")
		}
	}
	for _, line := range body {
		prefix := "  # "
		if line.isSet || spec.Full {
			prefix = "  "
		}
		writeLine(&b, line.text, prefix)
	}
	return b.Bytes(), nil
}

// sampleNotes returns the comments at the start of a sample.
func sampleNotes(chart string, hasValues, full bool, examples []string) string {
	var b strings.Builder
	switch {
	case !hasValues:
		fmt.Fprintf(&b, "# The chart %s has no default values.\n", chart)
	case full:
		fmt.Fprintf(&b, "# spec contains all default values of the chart %s.\n# Values that are removed have the default of the chart.\n", chart)
	default:
		fmt.Fprintf(&b, "# spec overrides the default values of the chart %s, which are listed as comments.\n", chart)
		if len(examples) > 0 {
			b.WriteString("# To change some, uncomment them with the keys above them.\n")
		} else {
			b.WriteString("# To change some, remove the braces after spec and uncomment them with the keys above them.\n")
		}
	}
	if len(examples) > 0 {
		fmt.Fprintf(&b, "# The chart requires values that have no default; replace these examples: %s.\n", strings.Join(examples, ", "))
	}
	return b.String()
}

// examples returns examples of the values that the schema requires and that have no default.
func (s *valueSchema) examples(defaults *value) map[string]any {
	found := map[string]any{}
	for _, name := range s.required {
		found[name] = s.properties[name].placeholder()
	}
	for name, property := range s.properties {
		if own := defaults.child(name); found[name] == nil && own != nil && own.kind == mapValue && property != nil {
			if inner := property.examples(own); len(inner) > 0 {
				found[name] = inner
			}
		}
	}
	return found
}

// child returns the value of a key, or nil.
func (v *value) child(name string) *value {
	if v == nil || v.kind != mapValue {
		return nil
	}
	return v.fields[name]
}

// withExamples returns examples with more, which don't replace any.
func withExamples(examples, more map[string]any) map[string]any {
	for name, value := range more {
		inner, isMap := examples[name].(map[string]any)
		added, both := value.(map[string]any)
		switch {
		case isMap && both:
			withExamples(inner, added)
		case examples[name] == nil || examples[name] == "":
			examples[name] = value
		}
	}
	return examples
}

// examplePaths returns the paths of examples, sorted. A mapping with defaults has a path for each key that is an example.
func examplePaths(examples map[string]any, defaults *value) []string {
	var paths []string
	for name, example := range examples {
		inner, isMapping := example.(map[string]any)
		if own := defaults.child(name); !isMapping || own == nil || own.kind != mapValue {
			paths = append(paths, name)
			continue
		}
		for _, path := range examplePaths(inner, defaults.child(name)) {
			paths = append(paths, name+"."+path)
		}
	}
	slices.Sort(paths)
	return paths
}

// placeholder returns an example of the values that the schema accepts, if its constraints allow one.
func (s *valueSchema) placeholder() any {
	if len(s.enum) > 0 {
		return s.enum[0]
	}
	switch s.typ {
	case objectType:
		fields := map[string]any{}
		for _, name := range s.required {
			fields[name] = s.properties[name].placeholder()
		}
		return fields
	case arrayType:
		return []any{}
	case booleanType:
		return false
	case integerType, numberType:
		if minimum, ok := s.constraints["minimum"]; ok {
			return minimum
		}
		return 0
	default:
		if minimum, ok := s.constraints["minLength"].(int64); ok && minimum > 0 {
			return strings.Repeat(exampleText, 1+int(min(minimum, 1000))/len(exampleText))[:max(1, min(minimum, 1000))]
		}
		return ""
	}
}

// writeLine writes a line with a prefix. Blank lines remain blank.
func writeLine(b *bytes.Buffer, line, prefix string) {
	if line != "" {
		b.WriteString(prefix)
		b.WriteString(line)
	}
	b.WriteByte('\n')
}

// valueLines returns the lines of a mapping with the values of values.yaml and their comments, or none if there are no values.
func valueLines(data []byte) ([]string, error) {
	data = []byte(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), "\ufeff")))
	roots, err := valueNodes(data)
	if err != nil || len(roots) == 0 {
		return nil, err
	}
	if _, err := safeyaml.Documents[yaml.Node](data); err == nil && len(roots) == 1 && isPlainBlock(roots[0]) {
		return textLines(data), nil
	}
	merged := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, root := range roots {
		mergeNodes(merged, resolveNode(root))
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(merged); err != nil {
		return nil, err
	}
	return textLines(b.Bytes()), nil
}

// textLines returns the lines of a text with one document, without its marks, and without blank lines at its ends.
func textLines(data []byte) []string {
	var lines []string
	for line := range strings.SplitSeq(string(data), "\n") {
		if documentMark.MatchString(line) || strings.HasPrefix(line, "...") {
			continue
		}
		if strings.TrimSpace(line) == "" {
			line = ""
		}
		if line != "" || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
