package ansiblerole

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
)

type position = diag.Position

// A definition is an object that a task handles, and where it is defined.
type definition struct {
	value value
	at    position
}

// definitions returns the objects in the arguments definition, src and template of a task. complete is false if there may be others.
func (m *modules) definitions(c *call) (objects []definition, complete bool) {
	complete = true
	found := false
	for _, name := range []string{"definition", "resource_definition", "inline"} {
		node, s := c.argumentNode(name)
		if node == nil {
			continue
		}
		found = true
		if node.Kind == yaml.ScalarNode {
			if _, isExpression := jinja.Expression(node.Value); !isExpression && strings.Contains(node.Value, "\n") {
				for _, b := range m.eval.templates.textDocuments(node.Value, s, c.at.File, node.Line) {
					objects = append(objects, definition{value{alts: []any{b}}, position{File: c.at.File, Line: node.Line}})
				}
				continue
			}
		}
		added, ok := m.objects(m.eval.node(node, s), c.at)
		objects, complete = append(objects, added...), complete && ok
	}
	if v, ok := c.argument("src"); ok {
		found = true
		added, ok := m.fileObjects("file", v, c)
		objects, complete = append(objects, added...), complete && ok
	}
	if node, s := c.argumentNode("template"); node != nil {
		found = true
		for _, item := range m.eval.itemsOf(m.eval.node(node, s)).items {
			if p := m.eval.get(item, "path"); len(p.alts) > 0 {
				item = p
			}
			added, ok := m.fileObjects("template", item, c)
			objects, complete = append(objects, added...), complete && ok
		}
	}
	return objects, complete && found
}

func (m *modules) fileObjects(plugin string, names value, c *call) (objects []definition, complete bool) {
	complete = true
	for _, pattern := range names.patterns() {
		if pattern == "" {
			continue
		}
		if sources := m.eval.env.written[pattern]; len(sources) > 0 {
			added, ok := m.objects(m.eval.templates.parsed(union(sources...)), c.at)
			objects, complete = append(objects, added...), complete && ok
			continue
		}
		files := m.eval.files.find(plugin, pattern, c.scope)
		if known(pattern) && len(files) == 0 {
			m.notef(c.at, "%s: not found in the project; the manager's role may lack permissions for its objects", pattern)
		}
		m.noteChosen(pattern, len(files), c.at)
		for _, file := range files {
			s := c.scope
			if plugin == "file" {
				s = &scope{}
			}
			added, _ := m.objects(value{alts: []any{rendered{file, s}}, open: !known(pattern)}, c.at)
			objects = append(objects, added...)
			m.scanner.scanFiles(value{alts: []any{rendered{file, s}}})
		}
	}
	return objects, complete
}

// noteChosen notes a template or file whose name depends on variables.
func (p *progress) noteChosen(pattern string, files int, at position) {
	switch {
	case known(pattern):
	case files == 0:
		p.notef(at, "the name of the file depends on variables; the manager's role may lack permissions for its objects")
	default:
		p.notef(at, "the name of the file depends on variables; the rules include those of %s", diag.Count(files, "file"))
	}
}

// objects returns the objects that a value is: a mapping, a list, or a text of YAML.
func (m *modules) objects(v value, at position) (objects []definition, complete bool) {
	complete = !v.open
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case bound:
			if alt.node.Kind == yaml.SequenceNode {
				added, ok := m.objects(union(m.eval.itemsOf(value{alts: []any{alt}}).items...), at)
				objects, complete = append(objects, added...), complete && ok
				continue
			}
			objects = append(objects, definition{value{alts: []any{alt}}, m.eval.files.position(alt.node, at)})
		case list:
			added, ok := m.objects(union(alt.items...), at)
			objects, complete = append(objects, added...), complete && ok
		case *dict:
			objects = append(objects, definition{value{alts: []any{alt}}, at})
		case rendered:
			documents := m.eval.templates.documents(alt)
			if len(documents) == 0 && !v.open { // the files for an open value can belong to other tasks, too
				m.notef(position{File: alt.file}, "no object found; the manager's role may lack permissions for those that the file defines")
			}
			for _, b := range documents {
				objects = append(objects, definition{value{alts: []any{b}}, m.eval.files.position(b.node, at)})
			}
		case string:
			added, ok := m.objects(m.eval.templates.parsed(textValue(alt)), at)
			objects, complete = append(objects, added...), complete && ok
		}
	}
	return objects, complete
}
