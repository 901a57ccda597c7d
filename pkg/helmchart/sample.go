package helmchart

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// A SampleSpec describes the sample of a kind whose objects are releases of a chart.
type SampleSpec struct {
	// APIVersion and Kind are those of the object: cache.example.com/v1alpha1, Memcached.
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
	var b bytes.Buffer
	switch {
	case len(lines) == 0:
		fmt.Fprintf(&b, "# The chart %s has no default values.\n%sspec: {}\n", chart, head)
	case spec.Full:
		fmt.Fprintf(&b, "# spec contains all default values of the chart %s. Values that are removed have the default of the chart.\n%sspec:\n", chart, head)
		writeLines(&b, lines, "  ")
	default:
		fmt.Fprintf(&b, "# spec overrides the default values of the chart %s, which are listed as comments.\n"+
			"# To change some, remove the braces after spec and uncomment them with the keys above them.\n%sspec: {}\n", chart, head)
		writeLines(&b, lines, "  # ")
	}
	return b.Bytes(), nil
}

// writeLines writes lines with a prefix. Blank lines remain blank.
func writeLines(b *bytes.Buffer, lines []string, prefix string) {
	for _, line := range lines {
		if line != "" {
			b.WriteString(prefix)
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
}

// valueLines returns the lines of a mapping with the values of values.yaml and their comments, or none if there are no values.
func valueLines(data []byte) ([]string, error) {
	roots, err := valueNodes(data)
	if err != nil || len(roots) == 0 {
		return nil, err
	}
	if len(roots) == 1 && isPlainBlock(roots[0]) {
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

// textLines returns the lines of a text with one document, without its marks and directives, and without blank lines at its ends.
func textLines(data []byte) []string {
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if documentMark.MatchString(line) || strings.HasPrefix(line, "...") || strings.HasPrefix(line, "%") && len(lines) == 0 {
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
