package ansiblerole

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// sample returns the fields of spec in a sample: the required arguments with examples, and the others as comments with their
// defaults. isEmpty reports whether there are comments only.
func sample(arguments []*argument) (data []byte, isEmpty bool) {
	var b bytes.Buffer
	isEmpty = true
	for i, o := range arguments {
		if o.aliasOf != "" {
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, line := range wrap(o.description, 100) {
			fmt.Fprintln(&b, strings.TrimSpace("# "+line))
		}
		if o.required {
			isEmpty = false
			if o.description != "" {
				b.WriteString("# ")
			} else {
				b.WriteString("# " + o.field + ": ")
			}
			b.WriteString("Required; replace this example.\n")
			b.Write(fieldText(o, ""))
			continue
		}
		b.Write(fieldText(o, "# "))
	}
	return b.Bytes(), isEmpty
}

// fieldText returns an argument with its default or an example. Each line begins with a prefix.
func fieldText(o *argument, prefix string) []byte {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: o.field}
	if err := encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, o.example(0)}}); err != nil {
		return nil
	}
	var out bytes.Buffer
	for line := range strings.Lines(b.String()) {
		out.WriteString(prefix + line)
	}
	return out.Bytes()
}

// example returns a value of an argument: its default, or one of its type.
func (o *argument) example(depth int) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	}
	typ := map[string]string{"int": "integer", "float": "number", "bool": "boolean"}[o.typ]
	if typ == "" {
		typ = "string"
	}
	isScalar := o.typ != "list" && o.typ != "dict"
	for _, node := range []*yaml.Node{content(o.fallback), content(o.current)} {
		if node == nil || hasTemplates(node, 0) {
			continue
		}
		if _, ok := scalarOf(node, typ); ok && isScalar {
			return o.scalarExample(node.Value)
		}
		if isScalar == (node.Kind == yaml.ScalarNode) && len(o.options) == 0 && node.Tag != "!!null" {
			return plain(node, 0)
		}
	}
	if len(o.choices) > 0 && isScalar {
		return o.scalarExample(text(o.choices[0]))
	}
	switch o.typ {
	case "int", "float":
		return scalar("!!int", "0")
	case "bool":
		return scalar("!!bool", "false")
	case "list":
		return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	case "dict":
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, option := range o.options {
			if option.required && depth < maxSchemaDepth {
				node.Content = append(node.Content, scalar("!!str", option.field), option.example(depth+1))
			}
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle
		}
		return node
	}
	return o.scalarExample("")
}

func (o *argument) scalarExample(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	switch o.typ {
	case "int", "float", "bool", "bytes", "bits", "raw", "json", "jsonarg":
		if text == "" {
			node.Tag = "!!str"
		}
	default:
		node.Tag = "!!str"
	}
	return node
}

// plain returns a copy of a value without comments, anchors and tags of the file.
func plain(node *yaml.Node, depth int) *yaml.Node {
	node = content(node)
	if node == nil || depth > maxDepth {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	copied := &yaml.Node{Kind: node.Kind, Tag: node.Tag, Value: node.Value, Style: node.Style &^ yaml.TaggedStyle}
	for _, child := range node.Content {
		copied.Content = append(copied.Content, plain(child, depth+1))
	}
	return copied
}

// wrap splits a text into lines of at most width bytes, unless a word is longer.
func wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines = append(lines, line)
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
