package rolebinding

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// The lists of a kustomization that contain the generated files.
const (
	resources    = "resources"
	transformers = "transformers"
)

// List adds a generated file to a kustomization, or removes it. The bindings follow the file roles. It returns false if the kustomization
// is written in a way that it cannot edit.
func List(kustomization []byte, file, roles string, add bool) (edited []byte, ok bool) {
	text, crlf := textdiff.AllToLF(kustomization)
	key, block := transformers, []byte(nil)
	if file == BindingsFile {
		key = resources
	} else {
		entry := map[string]string{NamesFile: "names_entry.yaml", NamespacesFile: "namespaces_entry.yaml"}[file]
		var err error
		if block, err = render(entry, nil); err != nil {
			return nil, false
		}
	}
	if add {
		text, ok = addItem(text, key, file, roles, block)
	} else {
		text, ok = removeItem(text, key, file, block)
	}
	if !ok {
		return nil, false
	}
	return textdiff.FromLF(text, crlf), true
}

// IsCommentedOut reports whether a kustomization contains the bindings in a comment, as a user does who wants none.
func IsCommentedOut(kustomization []byte) bool {
	for line := range strings.Lines(string(kustomization)) {
		if line, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok && strings.TrimSpace(strings.TrimLeft(line, "# \t-")) == BindingsFile {
			return true
		}
	}
	return false
}

// IsListed reports whether the resources of a kustomization contain the bindings.
func IsListed(kustomization []byte) bool {
	_, at := items(kustomization, resources, BindingsFile)
	return at >= 0
}

// items returns the list of a key and the position of an item in it, -1 if it is not in the list.
func items(text []byte, key, item string) (list *yaml.Node, at int) {
	var document yaml.Node
	if safeyaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return nil, -1
	}
	if list = safeyaml.Child(document.Content[0], key); list == nil {
		return nil, -1
	}
	return list, slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return n.Value == item })
}

// addItem adds an item to a list: below another one, or else at the end. block is the text that adds a missing list.
func addItem(text []byte, key, item, after string, block []byte) ([]byte, bool) {
	list, at := items(text, key, item)
	switch {
	case at >= 0:
		return text, true
	case list == nil && block == nil:
		return nil, false
	case list == nil:
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(slices.Clone(text), '\n')
		}
		text = slices.Concat(text, block)
	case !isBlock(list):
		return nil, false
	default:
		above := list.Content[len(list.Content)-1]
		if i := slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return n.Value == after }); i >= 0 {
			above = list.Content[i]
		}
		line := above.Line
		if above.Kind != yaml.ScalarNode || above.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 { // it has several lines
			line = list.Content[0].Line - 1
		}
		lines := strings.SplitAfter(string(text), "\n")
		if line > 0 && !strings.HasSuffix(lines[line-1], "\n") {
			lines[line-1] += "\n"
		}
		text = []byte(strings.Join(slices.Insert(lines, line, strings.Repeat(" ", list.Column-1)+"- "+item+"\n"), ""))
	}
	_, at = items(text, key, item)
	return text, at >= 0
}

// isBlock reports whether a node is a list with an item in each line.
func isBlock(list *yaml.Node) bool {
	return list.Kind == yaml.SequenceNode && list.Style&yaml.FlowStyle == 0 && len(list.Content) > 0
}

// removeItem removes an item from a list, and the list with the block that added it.
func removeItem(text []byte, key, item string, block []byte) ([]byte, bool) {
	list, at := items(text, key, item)
	if at < 0 {
		return text, true
	}
	if !isBlock(list) {
		return nil, false
	}
	if rest := bytes.Replace(text, block, nil, 1); len(block) > 0 && len(list.Content) == 1 && len(rest) < len(text) {
		return rest, true
	}
	lines := strings.SplitAfter(string(text), "\n")
	line := list.Content[at].Line - 1
	lines = slices.Delete(lines, line, line+1)
	for i := line - 1; i >= 0 && len(list.Content) == 1; i-- {
		if strings.TrimSpace(lines[i]) == key+":" { // of an empty list
			lines = slices.Delete(lines, i, i+1)
			break
		}
	}
	return []byte(strings.Join(lines, "")), true
}
