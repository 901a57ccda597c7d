package ansiblerole

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
)

// A definition is an object that a task handles, and where it is defined.
type definition struct {
	value value
	at    diag.Position
}

// definitions are objects. complete is false if there may be others.
type definitions struct {
	objects  []definition
	complete bool
}

func (d *definitions) add(more definitions) {
	d.objects, d.complete = append(d.objects, more.objects...), d.complete && more.complete
}

// definitions returns the objects in the arguments definition, src and template of a task.
func (m *modules) definitions(c *call) definitions {
	all := definitions{complete: true}
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
					all.objects = append(all.objects, definition{value{alts: []any{b}}, diag.Position{File: c.at.File, Line: node.Line}})
				}
				continue
			}
		}
		all.add(m.objects(m.eval.node(node, s), c.at))
	}
	if v, ok := c.argument("src"); ok {
		found = true
		all.add(m.fileObjects("file", v, c))
	}
	if node, s := c.argumentNode("template"); node != nil {
		found = true
		for _, item := range m.eval.itemsOf(m.eval.node(node, s)).items {
			if p := m.eval.get(item, "path"); len(p.alts) > 0 {
				item = p
			}
			all.add(m.fileObjects("template", item, c))
		}
	}
	all.complete = all.complete && found
	return all
}

func (m *modules) fileObjects(plugin string, names value, c *call) definitions {
	all := definitions{complete: true}
	for _, pattern := range names.patterns() {
		if pattern == "" || m.eval.literal && !known(pattern) {
			continue
		}
		if sources := m.eval.env.written[pattern]; len(sources) > 0 {
			all.add(m.objects(m.eval.templates.parsed(union(sources...)), c.at))
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
			v := value{alts: []any{rendered{file, s}}, open: !known(pattern)}
			all.objects = append(all.objects, m.objects(v, c.at).objects...)
			m.scanner.scanFiles(v)
		}
	}
	return all
}

// noteChosen notes a template or file whose name depends on variables.
func (p *progress) noteChosen(pattern string, files int, at diag.Position) {
	switch {
	case known(pattern):
	case files == 0:
		p.notef(at, "the name of the file depends on variables; the manager's role may lack permissions for its objects")
	default:
		p.notef(at, "the name of the file depends on variables; the rules cover %s", diag.Count(files, "file"))
	}
}

// objects returns the objects that a value is: a mapping, a list, or YAML in a string.
func (m *modules) objects(v value, at diag.Position) definitions {
	all := definitions{complete: !v.open}
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case bound:
			if alt.node.Kind == yaml.SequenceNode {
				all.add(m.objects(union(m.eval.itemsOf(value{alts: []any{alt}}).items...), at))
				continue
			}
			all.objects = append(all.objects, definition{value{alts: []any{alt}}, m.eval.files.position(alt.node, at)})
		case list:
			all.add(m.objects(union(alt.items...), at))
		case *dict:
			all.objects = append(all.objects, definition{value{alts: []any{alt}}, at})
		case rendered:
			documents := m.eval.templates.documents(alt)
			if len(documents) == 0 && !v.open { // the files for an open value can belong to other tasks, too
				m.notef(diag.Position{File: alt.file}, "no object found; the manager's role may lack permissions for those that the file defines")
			}
			for _, b := range documents {
				all.objects = append(all.objects, definition{value{alts: []any{b}}, m.eval.files.position(b.node, at)})
			}
		case string:
			all.add(m.objects(m.eval.templates.parsed(textValue(alt)), at))
		}
	}
	return all
}
