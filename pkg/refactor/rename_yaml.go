package refactor

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/templates"
)

// renameManifest applies the new names to a YAML file by the meaning of its values: objects, roles and definitions of
// renamed APIs, the files in a kustomization, and values that the scaffold wrote. Other bytes are kept, and so is a
// file that is not valid YAML.
func (x *renamer) renameManifest(name string, data []byte, pairs []scaffold.RenderedPair) []byte {
	docs, err := safeyaml.Documents[yaml.Node](data)
	if err != nil {
		return data
	}
	y := &yamlRenamer{renamer: x, dir: path.Dir(name), known: valuesOf(pairs), new: map[*yaml.Node]string{}}
	for _, doc := range docs {
		y.node("", doc)
	}
	var edits []edit
	for node, value := range y.new {
		if e, ok := scalarEdit(data, node, value); ok && value != node.Value {
			edits = append(edits, e)
		}
	}
	return textdiff.Apply(data, edits)
}

// A keyedValue is a value with its key.
type keyedValue struct{ key, value string }

// valuesOf returns the values of whole YAML files that have a unique new form.
func valuesOf(pairs []scaffold.RenderedPair) map[keyedValue]string {
	known, doubtful := map[keyedValue]string{}, map[keyedValue]bool{}
	var walk func(key string, before, after *yaml.Node)
	walk = func(key string, before, after *yaml.Node) {
		if before.Kind != after.Kind || len(before.Content) != len(after.Content) {
			return
		}
		if before.Kind == yaml.ScalarNode {
			at := keyedValue{key, before.Value}
			other, found := known[at]
			doubtful[at] = doubtful[at] || found && other != after.Value
			known[at] = after.Value
			return
		}
		for i := range before.Content {
			below := key
			if before.Kind == yaml.MappingNode && i%2 == 0 {
				continue
			}
			if before.Kind == yaml.MappingNode {
				below = before.Content[i-1].Value
			}
			walk(below, before.Content[i], after.Content[i])
		}
	}
	for _, t := range pairs {
		before, err := safeyaml.Documents[yaml.Node]([]byte(t.Old))
		after, otherErr := safeyaml.Documents[yaml.Node]([]byte(t.New))
		if t.Part || err != nil || otherErr != nil || len(before) != len(after) {
			continue
		}
		for i := range before {
			walk("", before[i], after[i])
		}
	}
	for at := range doubtful {
		if doubtful[at] {
			delete(known, at)
		}
	}
	return known
}

// A yamlRenamer finds the values of a file to change.
type yamlRenamer struct {
	*renamer
	dir   string
	known map[keyedValue]string
	new   map[*yaml.Node]string
}

func (y *yamlRenamer) node(key string, n *yaml.Node) {
	switch n.Kind {
	case yaml.ScalarNode:
		y.scalar(key, n)
	case yaml.MappingNode:
		for key, value := range safeyaml.Fields(n) {
			y.node(key.Value, value)
		}
		y.mapping(n)
	default:
		for _, inner := range n.Content {
			y.node(key, inner)
		}
	}
}

// scalar renames values with a clear meaning.
func (y *yamlRenamer) scalar(key string, n *yaml.Node) {
	if to, ok := y.known[keyedValue{key, n.Value}]; ok {
		y.new[n] = to
		return
	}
	for _, api := range y.APIs {
		before, after := api[0], api[1]
		switch n.Value {
		case before.CRDName():
			y.new[n] = after.CRDName()
		case before.QualifiedGroup() + "/" + before.Version:
			if key == "apiVersion" || key == "api_version" { // the latter in Ansible tasks
				y.new[n] = after.QualifiedGroup() + "/" + after.Version
			}
		}
	}
	if y.Project[0] != y.Project[1] && n.Value == project.ObjectNamespace(y.Project[0]) {
		y.new[n] = project.ObjectNamespace(y.Project[1])
	}
	if to := y.files[path.Join(y.dir, n.Value)]; to != "" && path.Ext(n.Value) != "" && strings.Trim(n.Value, "./") != "" {
		if rel, err := filepath.Rel(filepath.FromSlash(y.dir), filepath.FromSlash(to)); err == nil {
			y.new[n] = filepath.ToSlash(rel)
		}
	}
	for _, removed := range y.Removed {
		if path.Join(y.dir, n.Value) == removed {
			for _, api := range y.APIs {
				if path.Base(removed) == api[0].CRDFile() {
					y.new[n] = strings.TrimSuffix(n.Value, path.Base(removed)) + api[1].CRDFile()
				}
			}
		}
	}
}

// mapping renames values whose meaning depends on other values of their mapping.
func (y *yamlRenamer) mapping(n *yaml.Node) {
	get := func(key string) *yaml.Node {
		return cmp.Or(safeyaml.Child(n, key), &yaml.Node{})
	}
	kind, name, version, group := get("kind"), get("name"), get("version"), get("group")
	for _, api := range y.APIs {
		before, after := api[0], api[1]
		if version := before.QualifiedGroup() + "/" + before.Version; get("apiVersion").Value == version || get("api_version").Value == version {
			switch kind.Value {
			case before.Kind:
				y.new[kind] = after.Kind
			case before.Kind + "List":
				y.new[kind] = after.Kind + "List"
			}
		}
		if kind.Value == before.Kind && group.Value == before.QualifiedGroup() && (version.Value == before.Version || version.Value == "") {
			y.new[kind], y.new[group] = after.Kind, after.QualifiedGroup() // the target of a patch
			if version.Value != "" {
				y.new[version] = after.Version
			}
		}
		if kind.Value == before.Kind && name.Value == before.CRDName() && version.Value == before.Version {
			y.definition(before, after, kind, version, get("displayName"), get("description"))
		}
	}
	y.rule(get("apiGroups"), get("resources"))
	y.roles(n)
}

// definition renames the description of a CRD in a ClusterServiceVersion.
func (y *yamlRenamer) definition(before, after project.Resource, kind, version, display, description *yaml.Node) {
	y.new[kind], y.new[version] = after.Kind, after.Version
	if display.Value == before.Kind {
		y.new[display] = after.Kind
	}
	if description.Value != "" && (before.Kind != after.Kind || before.Plural != after.Plural) {
		y.new[description] = replaceWord(replaceWord(description.Value, before.Kind, after.Kind), before.Plural, after.Plural)
	}
}

// rule renames the groups and resources of a role's rule.
func (y *yamlRenamer) rule(groups, resources *yaml.Node) {
	if groups.Kind != yaml.SequenceNode || resources.Kind != yaml.SequenceNode {
		return
	}
	for _, api := range y.APIs {
		before, after := api[0], api[1]
		at := slices.IndexFunc(groups.Content, func(g *yaml.Node) bool { return g.Value == before.QualifiedGroup() })
		if at < 0 {
			continue
		}
		y.new[groups.Content[at]] = after.QualifiedGroup()
		for _, r := range resources.Content {
			if now := replaceName([]string{r.Value}, before.Plural, after.Plural)[0]; now != r.Value {
				y.new[r] = now
			}
		}
	}
}

// scalarEdit returns the edit that replaces the value of a scalar. It is not ok for values that are not written
// literally, such as with escapes.
func scalarEdit(data []byte, n *yaml.Node, value string) (edit, bool) {
	starts := lineStarts(data)
	if n.Line < 1 || n.Line >= len(starts) || n.Value == "" {
		return edit{}, false
	}
	at := starts[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	if at < len(data) && (data[at] == '"' || data[at] == '\'') {
		at++
	} else {
		value = templates.YAML(value)
	}
	var words []string
	for word := range strings.FieldsSeq(n.Value) {
		words = append(words, regexp.QuoteMeta(word))
	}
	found := regexp.MustCompile(`^` + strings.Join(words, `\s+`)).FindIndex(data[at:])
	if found == nil {
		return edit{}, false
	}
	return edit{From: at, To: at + found[1], Text: value}, true
}
