package scaffold

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// findList finds the list for a text in a file without the marker: lists of kustomizations by their keys, and the
// environment of the container manager.
func (y *yamlSyntax) findList(marker string) (insertionPoint, bool) {
	key, ok := map[string]string{
		"resources": "resources", "crdkustomizeresource": "resources", "manifestskustomizesamples": "resources",
		"crdkustomizewebhookpatch": "patches", "env": "",
	}[marker]
	if !y.valid || !ok {
		return insertionPoint{}, false
	}
	for _, doc := range y.documents() {
		if key != "" {
			if list := safeyaml.Child(doc, key); list != nil {
				return y.endOfList(list)
			}
			continue
		}
		containers := safeyaml.Child(doc, "spec", "template", "spec", "containers")
		if containers == nil {
			continue
		}
		for _, c := range containers.Content {
			if name := safeyaml.Child(c, "name"); name == nil || name.Value != "manager" {
				continue
			}
			if env := safeyaml.Child(c, "env"); env != nil {
				return y.endOfList(env)
			}
			if image := safeyaml.Child(c, "image"); image != nil && c.Style&yaml.FlowStyle == 0 {
				// The list follows the image, in the column of the container's keys.
				return insertionPoint{line: image.Line, indent: strings.Repeat(" ", c.Content[0].Column-1), key: "env:"}, true
			}
		}
	}
	return insertionPoint{}, false
}

// documents returns the mappings in the documents of the file.
func (y *yamlSyntax) documents() []*yaml.Node {
	all, err := safeyaml.Documents[yaml.Node]([]byte(strings.Join(y.lines, "")))
	if err != nil {
		return nil
	}
	var docs []*yaml.Node
	for _, doc := range all {
		if len(doc.Content) == 1 {
			docs = append(docs, doc.Content[0])
		}
	}
	return docs
}

// endOfList returns the insertion point after the last item of a block sequence.
func (y *yamlSyntax) endOfList(list *yaml.Node) (insertionPoint, bool) {
	if list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 {
		return insertionPoint{}, false
	}
	column := list.Column - 1
	end := list.Line
	for i := list.Line - 1; i < len(y.lines); i++ {
		line := strings.TrimSpace(y.lines[i])
		depth := len(indentation(y.lines[i]))
		if line == "" || strings.HasPrefix(line, "#") && !y.scalar[i] {
			continue
		}
		if depth < column || depth == column && !strings.HasPrefix(line, "-") {
			break
		}
		end = i + 1
	}
	return insertionPoint{line: end, indent: strings.Repeat(" ", column)}, true
}

// itemIndent returns the indentation of items of the list that ends above a marker and is indented at least like it, or "". Some
// formatters indent lists, but not the comments after them.
func (y *yamlSyntax) itemIndent(marker int) string {
	if !y.valid {
		return ""
	}
	end := marker
	for end > 0 && strings.TrimSpace(y.lines[end-1]) == "" {
		end--
	}
	for _, doc := range y.documents() {
		if own, ok := y.indentOfList(doc, end, len(indentation(y.lines[marker]))); ok {
			return own
		}
	}
	return ""
}

// indentOfList returns the indentation of the outermost list at or below a node that has at least a number of columns before its
// items and ends before a line.
func (y *yamlSyntax) indentOfList(n *yaml.Node, end, columns int) (string, bool) {
	if at, ok := y.endOfList(n); ok && at.line == end && len(at.indent) >= columns {
		return at.indent, true
	}
	for _, child := range n.Content {
		if indent, ok := y.indentOfList(child, end, columns); ok {
			return indent, true
		}
	}
	return "", false
}

// hasNamed reports whether the list at an insertion point contains an item with the name of a multi-line item.
func (y *yamlSyntax) hasNamed(item []string, at insertionPoint) bool {
	if len(item) < 2 || !strings.HasPrefix(item[0], "- name: ") || at.key != "" {
		return false
	}
	indent := cmp.Or(at.list, at.indent)
	look := func(from, step int) bool {
		for i := from; i >= 0 && i < len(y.lines); i += step {
			line := strings.TrimSpace(y.lines[i])
			if line == "" || strings.HasPrefix(line, "#") || y.scalar[i] {
				continue
			}
			depth := len(indentation(y.lines[i]))
			if depth < len(indent) || depth == len(indent) && !strings.HasPrefix(line, "-") {
				return false
			}
			if depth == len(indent) && line == strings.TrimSpace(item[0]) {
				return true
			}
		}
		return false
	}
	return look(at.line-1, -1) || look(at.line, 1)
}

// lacksLists reports whether the manager's Deployment lacks one of the lists that current patches add to.
func lacksLists(tree *worktree.Tree) bool {
	content, err := tree.ReadFile(project.ManagerFile)
	if err != nil {
		return false
	}
	for _, doc := range scanYAML([]string{string(content)}, project.ManagerFile).documents() {
		pod := safeyaml.Child(doc, "spec", "template", "spec")
		containers := safeyaml.Child(pod, "containers")
		if containers == nil || len(containers.Content) == 0 {
			continue
		}
		for _, list := range []*yaml.Node{
			safeyaml.Child(pod, "volumes"), safeyaml.Child(containers.Content[0], "args"), safeyaml.Child(containers.Content[0], "ports"), safeyaml.Child(containers.Content[0], "volumeMounts"),
		} {
			if list == nil {
				return true
			}
		}
	}
	return false
}

// mergesPatches reports whether config/default lists its patches as strategic merge patches, as older tools do.
func mergesPatches(tree *worktree.Tree) bool {
	content, err := tree.ReadFile(project.DefaultKustomization)
	return err == nil && slices.Contains(strings.Fields(string(content)), "patchesStrategicMerge:")
}

// WithoutEmptyEnv removes env keys without a list from the manager's Deployment.
func WithoutEmptyEnv(content []byte) []byte {
	lines := strings.SplitAfter(string(content), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.TrimSpace(lines[i]) != "env:" {
			continue
		}
		below := lines[i+1:]
		next := slices.IndexFunc(below, func(line string) bool {
			line = strings.TrimSpace(line)
			return line != "" && !strings.HasPrefix(line, "#")
		})
		if next < 0 || len(indentation(below[next])) <= len(indentation(lines[i])) && !strings.HasPrefix(strings.TrimSpace(below[next]), "-") {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return []byte(strings.Join(lines, ""))
}
