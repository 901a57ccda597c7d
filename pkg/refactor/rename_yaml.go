package refactor

import (
	"errors"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/templates"
)

// manifest gives a YAML file the new names by what its values mean: objects, roles and definitions of renamed
// APIs, the files that a kustomization lists, and values that the scaffold wrote. A file that is no YAML is
// left as it is. Everything but those values stays to the byte.
func (x *renamer) manifest(name string, data []byte, pairs []scaffold.RenderedPair) []byte {
	docs, err := documents(data)
	if err != nil {
		return data
	}
	y := &yamlRenamer{renamer: x, dir: path.Dir(name), known: valuesOf(pairs), new: map[*yaml.Node]string{}}
	for _, doc := range docs {
		y.node("", doc)
	}
	var edits []edit
	for node, value := range y.new {
		if e, ok := placeOf(data, node, value); ok && value != node.Value {
			edits = append(edits, e)
		}
	}
	return textdiff.Apply(data, edits)
}

func documents(data []byte) ([]*yaml.Node, error) {
	var docs []*yaml.Node
	for decoder := safeyaml.NewDecoder(data); ; {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, &doc)
	}
}

// keyed is a value below a key.
type keyed struct{ key, value string }

// valuesOf are the values of whole YAML files that have another one by the new names, where that is clear.
func valuesOf(pairs []scaffold.RenderedPair) map[keyed]string {
	known, doubtful := map[keyed]string{}, map[keyed]bool{}
	var walk func(key string, was, is *yaml.Node)
	walk = func(key string, was, is *yaml.Node) {
		if was.Kind != is.Kind || len(was.Content) != len(is.Content) {
			return
		}
		if was.Kind == yaml.ScalarNode {
			at := keyed{key, was.Value}
			other, there := known[at]
			doubtful[at] = doubtful[at] || there && other != is.Value
			known[at] = is.Value
			return
		}
		for i := range was.Content {
			below := key
			if was.Kind == yaml.MappingNode && i%2 == 0 {
				continue
			}
			if was.Kind == yaml.MappingNode {
				below = was.Content[i-1].Value
			}
			walk(below, was.Content[i], is.Content[i])
		}
	}
	for _, t := range pairs {
		was, err := documents([]byte(t.Old))
		is, otherErr := documents([]byte(t.New))
		if t.Part || err != nil || otherErr != nil || len(was) != len(is) {
			continue
		}
		for i := range was {
			walk("", was[i], is[i])
		}
	}
	for at := range doubtful {
		if doubtful[at] {
			delete(known, at)
		}
	}
	return known
}

// yamlRenamer finds the values of a file that change.
type yamlRenamer struct {
	*renamer
	dir   string
	known map[keyed]string
	new   map[*yaml.Node]string
}

func (y *yamlRenamer) node(key string, n *yaml.Node) {
	switch n.Kind {
	case yaml.ScalarNode:
		y.scalar(key, n)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			y.node(n.Content[i].Value, n.Content[i+1])
		}
		y.mapping(n)
	default:
		for _, inner := range n.Content {
			y.node(key, inner)
		}
	}
}

// scalar renames values that mean one thing wherever they stand.
func (y *yamlRenamer) scalar(key string, n *yaml.Node) {
	if to, ok := y.known[keyed{key, n.Value}]; ok {
		y.new[n] = to
		return
	}
	for _, api := range y.APIs {
		was, is := api[0], api[1]
		switch n.Value {
		case was.Plural + "." + was.Group:
			y.new[n] = is.Plural + "." + is.Group
		case was.Group + "/" + was.Version:
			if key == "apiVersion" {
				y.new[n] = is.Group + "/" + is.Version
			}
		}
	}
	if y.Project[0] != y.Project[1] && n.Value == y.Project[0]+"-system" {
		y.new[n] = y.Project[1] + "-system"
	}
	if to := y.files[path.Join(y.dir, n.Value)]; to != "" && path.Ext(n.Value) != "" && strings.Trim(n.Value, "./") != "" {
		if rel, err := filepath.Rel(filepath.FromSlash(y.dir), filepath.FromSlash(to)); err == nil {
			y.new[n] = filepath.ToSlash(rel)
		}
	}
	for _, removed := range y.Removed {
		if path.Join(y.dir, n.Value) == removed && len(y.APIs) > 0 {
			for _, api := range y.APIs {
				if path.Base(removed) == api[0].Group+"_"+api[0].Plural+".yaml" {
					y.new[n] = strings.TrimSuffix(n.Value, path.Base(removed)) + api[1].Group + "_" + api[1].Plural + ".yaml"
				}
			}
		}
	}
}

// mapping renames what several values of a mapping mean together.
func (y *yamlRenamer) mapping(n *yaml.Node) {
	get := func(key string) *yaml.Node {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
		return &yaml.Node{}
	}
	kind, name, version, group := get("kind"), get("name"), get("version"), get("group")
	for _, api := range y.APIs {
		was, is := api[0], api[1]
		if get("apiVersion").Value == was.Group+"/"+was.Version {
			switch kind.Value {
			case was.Kind:
				y.new[kind] = is.Kind
			case was.Kind + "List":
				y.new[kind] = is.Kind + "List"
			}
		}
		if kind.Value == was.Kind && group.Value == was.Group && (version.Value == was.Version || version.Value == "") {
			y.new[kind], y.new[group] = is.Kind, is.Group // the target of a patch
			if version.Value != "" {
				y.new[version] = is.Version
			}
		}
		if kind.Value == was.Kind && name.Value == was.Plural+"."+was.Group && version.Value == was.Version {
			y.definition(was, is, kind, version, get("displayName"), get("description"))
		}
	}
	y.rule(get("apiGroups"), get("resources"))
}

// definition renames what a ClusterServiceVersion says about a CRD.
func (y *yamlRenamer) definition(was, is APIName, kind, version, display, description *yaml.Node) {
	y.new[kind], y.new[version] = is.Kind, is.Version
	if display.Value == was.Kind {
		y.new[display] = is.Kind
	}
	if description.Value != "" && (was.Kind != is.Kind || was.Plural != is.Plural) {
		y.new[description] = replaceWord(replaceWord(description.Value, was.Kind, is.Kind), was.Plural, is.Plural)
	}
}

// rule renames the groups and resources of a role's rule.
func (y *yamlRenamer) rule(groups, resources *yaml.Node) {
	if groups.Kind != yaml.SequenceNode || resources.Kind != yaml.SequenceNode {
		return
	}
	for _, api := range y.APIs {
		was, is := api[0], api[1]
		at := slices.IndexFunc(groups.Content, func(g *yaml.Node) bool { return g.Value == was.Group })
		if at < 0 {
			continue
		}
		y.new[groups.Content[at]] = is.Group
		for _, r := range resources.Content {
			if now := swapResource([]string{r.Value}, was.Plural, is.Plural)[0]; now != r.Value {
				y.new[r] = now
			}
		}
	}
}

// placeOf is the edit that gives a scalar another value. It is not ok for texts that are written in a way
// which cannot be told in place, such as with escapes.
func placeOf(data []byte, n *yaml.Node, value string) (edit, bool) {
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
	for _, word := range strings.Fields(n.Value) {
		words = append(words, regexp.QuoteMeta(word))
	}
	found := regexp.MustCompile(`^` + strings.Join(words, `\s+`)).FindIndex(data[at:])
	if found == nil {
		return edit{}, false
	}
	return edit{From: at, To: at + found[1], Text: value}, true
}
