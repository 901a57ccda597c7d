package helmchart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A valueKind is the kind of a value in values.yaml.
type valueKind int

const (
	nullValue valueKind = iota
	boolValue
	intValue
	floatValue
	stringValue
	listValue
	mapValue
	// mixedValue is a value whose kind differs between a chart and its parent.
	mixedValue
)

// A value is a value of values.yaml, as Helm reads it: aliases and merge keys are resolved.
type value struct {
	kind valueKind
	// text is the text of a scalar; block is true if it has several lines.
	text  string
	block bool
	// keys are the keys of a mapping in their order, fields its values.
	keys   []string
	fields map[string]*value
	items  []*value
	// note is the comment of the key.
	note note
}

// documentMark matches the lines that separate the documents of a stream.
var documentMark = lazyregexp.New(`(?m)^---[ \t]*(#.*)?\r?$`)

// readValues reads values.yaml. Later documents of a stream override earlier ones, as in Helm.
func readValues(name string, data []byte) (*value, error) {
	values := &value{kind: mapValue, fields: map[string]*value{}}
	if err := safeyaml.Check(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	params := readParams(data)
	for _, document := range documentMark.Split(string(data), -1) {
		var root yaml.Node
		err := safeyaml.NewDecoder([]byte(document)).Decode(&root)
		if errors.Is(err, io.EOF) || err == nil && isEmptyDocument(&root) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r := valueReader{lines: bytes.Split([]byte(document), []byte("\n")), params: params}
		read := r.read(&root, "")
		if read.kind != mapValue {
			return nil, fmt.Errorf("%s: must be a mapping of keys to values", name)
		}
		values = overlay(values, read)
	}
	return values, nil
}

// isEmptyDocument reports whether a document has comments only.
func isEmptyDocument(root *yaml.Node) bool {
	return len(root.Content) == 0 || len(root.Content) == 1 && root.Content[0].Kind == yaml.ScalarNode && root.Content[0].Tag == "!!null"
}

// A valueReader converts the nodes of a document.
type valueReader struct {
	lines  [][]byte
	params map[string]note
}

func (r valueReader) read(node *yaml.Node, path string) *value {
	switch node.Kind {
	case yaml.DocumentNode:
		return r.read(node.Content[0], path)
	case yaml.AliasNode:
		return r.read(node.Alias, path)
	case yaml.SequenceNode:
		v := &value{kind: listValue}
		for _, item := range node.Content {
			v.items = append(v.items, r.read(item, path+"[]"))
		}
		return v
	case yaml.MappingNode:
		v := &value{kind: mapValue, fields: map[string]*value{}}
		r.readFields(v, node, path)
		return v
	}
	return readScalar(node)
}

// readFields adds the fields of a mapping to a value. Fields of merged mappings do not replace fields of the mapping.
func (r valueReader) readFields(v *value, node *yaml.Node, path string) {
	var merged []*yaml.Node
	spelled := map[string]string{}
	for key, child := range safeyaml.Fields(node) {
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			merged = append(merged, child)
			continue
		}
		name := keyName(key)
		here := name
		if path != "" {
			here = path + "." + name
		}
		field := r.read(child, here)
		field.note = r.noteOf(key, child, here)
		if first, ok := spelled[name]; ok && first != key.Value {
			field = &value{kind: mixedValue, note: field.note} // Helm has either of 1 and 1.0
		}
		spelled[name] = key.Value
		v.set(name, field)
	}
	for _, from := range merged {
		from = safeyaml.Resolve(from)
		sources := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			sources = from.Content
		}
		for _, source := range sources {
			other := r.read(source, path)
			for _, name := range other.keys {
				if v.fields[name] == nil {
					v.set(name, other.fields[name])
				}
			}
		}
	}
}

// keyName returns the name of a key as Helm reads it. A number or a boolean is named by its value: 010 is "8", and on is "true".
func keyName(key *yaml.Node) string {
	key = safeyaml.Resolve(key)
	if key.Kind != yaml.ScalarNode {
		return key.Value
	}
	var decoded any
	switch readScalar(key).kind {
	case boolValue:
		if i := slices.Index(yaml11Booleans, key.Value); i >= 0 {
			return strconv.FormatBool(i < len(yaml11Booleans)/2)
		}
		fallthrough
	case intValue:
		if key.Decode(&decoded) == nil {
			return fmt.Sprint(decoded)
		}
	case floatValue:
		var number float64
		if key.Decode(&number) == nil {
			return strconv.FormatFloat(number, 'g', -1, 64)
		}
	}
	return key.Value
}

func (v *value) set(name string, field *value) {
	if _, ok := v.fields[name]; !ok {
		v.keys = append(v.keys, name)
	}
	v.fields[name] = field
}

// yaml11Booleans are the plain scalars that YAML 1.1, which Helm reads, has as booleans in addition to true and false. The first
// half is true.
var yaml11Booleans = []string{"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"}

func readScalar(node *yaml.Node) *value {
	v := &value{kind: stringValue, text: node.Value, block: node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0}
	switch node.ShortTag() {
	case "!!null":
		v.kind = nullValue
	case "!!bool":
		v.kind = boolValue
	case "!!int":
		v.kind = intValue
	case "!!float":
		v.kind = floatValue
	case "!!str":
		const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
		if node.Style&quoted == 0 && slices.Contains(yaml11Booleans, node.Value) {
			v.kind = boolValue
		}
	}
	return v
}

// overlay returns the values below with those above in their place, as Helm merges them: mappings are merged, null deletes.
func overlay(below, above *value) *value {
	if below.kind != mapValue || above.kind != mapValue {
		return above
	}
	out := &value{kind: mapValue, fields: map[string]*value{}, note: above.note}
	if out.note.text == "" {
		out.note = below.note
	}
	for _, name := range below.keys {
		out.set(name, below.fields[name])
	}
	for _, name := range above.keys {
		field := above.fields[name]
		if old := out.fields[name]; old != nil {
			field = overlay(old, field)
			if field.note.text == "" {
				copied := *field
				copied.note = old.note
				field = &copied
			}
			if old.kind != field.kind && old.kind != nullValue && field.kind != nullValue {
				field = &value{kind: mixedValue, note: field.note}
			}
		}
		out.set(name, field)
	}
	return out
}
