package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// encode encodes a new document in the format of its file, like opm.
func encode(f *file, v any) ([]byte, error) {
	if !f.json {
		return manifest.Encode(v)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "    ")
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// editEntries sets the entries of a channel in its text. Unchanged entries keep their text.
func editEntries(f *file, text []byte, entries []declcfg.ChannelEntry) ([]byte, error) {
	return edit(f, text, func(root *yaml.Node) error {
		list := safeyaml.Child(root, "entries")
		if list == nil || list.Kind != yaml.SequenceNode {
			list = &yaml.Node{Kind: yaml.SequenceNode}
			setField(root, "entries", list)
		}
		if len(list.Content) == 0 {
			list.Style = 0
		}
		existing := map[string]*yaml.Node{}
		for _, item := range list.Content {
			if name := safeyaml.Child(item, "name"); name != nil {
				existing[name.Value] = item
			}
		}
		list.Content = nil
		for _, e := range entries {
			if item := existing[e.Name]; item != nil && isEntry(item, e) {
				list.Content = append(list.Content, item)
				continue
			}
			data, err := manifest.Encode(e)
			if err != nil {
				return err
			}
			var item yaml.Node
			if err := safeyaml.Unmarshal(data, &item); err != nil {
				return err
			}
			list.Content = append(list.Content, item.Content[0])
		}
		return nil
	})
}

// isEntry reports whether a node has the value of an entry.
func isEntry(item *yaml.Node, e declcfg.ChannelEntry) bool {
	var fields any
	if err := item.Decode(&fields); err != nil {
		return false
	}
	written, err := json.Marshal(fields)
	if err != nil {
		return false
	}
	var existing declcfg.ChannelEntry
	if err := json.Unmarshal(written, &existing); err != nil {
		return false
	}
	a, err := json.Marshal(normalize(existing))
	if err != nil {
		return false
	}
	b, err := json.Marshal(normalize(e))
	return err == nil && bytes.Equal(a, b)
}

// editText sets a field of a document to a string.
func editText(f *file, text []byte, key, value string) ([]byte, error) {
	return edit(f, text, func(root *yaml.Node) error {
		if existing := safeyaml.Child(root, key); existing != nil && existing.Kind == yaml.ScalarNode {
			existing.SetString(value)
			return nil
		}
		node := &yaml.Node{}
		node.SetString(value)
		setField(root, key, node)
		return nil
	})
}

func setField(node *yaml.Node, key string, value *yaml.Node) {
	if i := safeyaml.ChildIndex(node, key); i >= 0 {
		node.Content[i+1] = value
		return
	}
	name := &yaml.Node{}
	name.SetString(key)
	node.Content = append(node.Content, name, value)
}

// edit changes a document through its nodes and keeps order, comments and other fields.
func edit(f *file, text []byte, change func(root *yaml.Node) error) ([]byte, error) {
	var doc yaml.Node
	if err := safeyaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("must be a mapping")
	}
	if err := change(doc.Content[0]); err != nil {
		return nil, err
	}
	if f.json {
		var compact, out bytes.Buffer
		if err := writeJSON(&compact, doc.Content[0]); err != nil {
			return nil, err
		}
		err := json.Indent(&out, compact.Bytes(), "", "    ")
		return out.Bytes(), err
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if !indented().Match(text) {
		encoder.CompactSeqIndent()
	}
	if err := encoder.Encode(&doc); err != nil {
		return nil, err
	}
	return b.Bytes(), encoder.Close()
}

// indented matches documents whose list items are indented below their key.
func indented() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^entries:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]+-`)
}

// writeJSON encodes a node with its fields in order.
func writeJSON(b *bytes.Buffer, node *yaml.Node) error {
	open, end := byte('['), byte(']')
	switch node.Kind {
	case yaml.AliasNode:
		return writeJSON(b, node.Alias)
	case yaml.MappingNode:
		open, end = '{', '}'
	case yaml.ScalarNode:
		var value any
		if err := node.Decode(&value); err != nil {
			return err
		}
		encoder := json.NewEncoder(b)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	}
	b.WriteByte(open)
	for i, child := range node.Content {
		switch {
		case i > 0 && node.Kind == yaml.MappingNode && i%2 == 1:
			b.WriteByte(':')
		case i > 0:
			b.WriteByte(',')
		}
		if err := writeJSON(b, child); err != nil {
			return err
		}
	}
	b.WriteByte(end)
	return nil
}
