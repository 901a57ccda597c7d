package ansiblerole

import (
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
)

// render returns the text of a template with the bodies of all branches and loops. Expressions, and branches within a line, are
// references to their values. The result has the same lines as the template, apart from those that inline marks. Other templates are only
// included if included is not nil, which gets their objects.
func (t *templates) render(text string, s *scope, at diag.Position, included *inclusion) string {
	root := s.child()
	r := rendering{templates: t, root: root, at: at, included: included}
	r.nodes(t.syntax(text), root)
	return r.out.String()
}

// An inclusion is what a template includes.
type inclusion struct{ objects []bound }

// A rendering is a template that is being rendered.
type rendering struct {
	*templates
	out   strings.Builder
	depth int
	// root is the outermost scope of the template, and at its position.
	root     *scope
	at       diag.Position
	included *inclusion
}

// maxRendered is the maximum size of a rendered template.
const maxRendered = 4 << 20

// nodes renders the nodes of a body. Variables are set in the scope.
func (r *rendering) nodes(nodes []jinja.Node, s *scope) {
	if r.depth++; r.depth > maxDepth || r.out.Len() > maxRendered {
		return
	}
	defer func() { r.depth-- }()
	for _, n := range nodes {
		if r.spend(1) {
			return
		}
		switch n := n.(type) {
		case jinja.Text:
			r.out.WriteString(n.Text)
		case jinja.Blank:
			r.out.WriteString(strings.Repeat("\n", n.Lines))
		case jinja.Output:
			if !r.outputMacro(n.Value, s) {
				r.output(r.eval.evaluate(n.Value, s))
			}
		case jinja.Branch:
			r.branch(n, s)
		case jinja.Loop:
			r.loop(n, s)
		case jinja.Block:
			r.nodes(n.Body, s.child())
		case jinja.Set:
			r.set(n, s)
		case jinja.Include:
			if r.included != nil {
				r.include(n.Name, s, func(file string) { r.includeFile(file, n, s.child()) })
			}
		case *jinja.Macro:
			r.assign(n.Name, value{alts: []any{macro{n, s, r.at.File}}}, s)
			r.out.WriteString(strings.Repeat("\n", n.Lines))
		case jinja.CallBlock:
			r.callBlock(n, s)
		case jinja.Import:
			r.importTemplate(n, s)
		}
	}
}

// include calls add for each of the templates that an expression names.
func (r *rendering) include(names jinja.Expr, s *scope, add func(file string)) {
	for _, name := range r.eval.itemsOf(r.eval.evaluate(names, s)).items {
		for _, pattern := range name.patterns() {
			if pattern == "" {
				continue
			}
			files := r.files.find("template", pattern, s)
			if known(pattern) && len(files) == 0 {
				r.notef(r.at, "%s: not found in the project; the manager's role may lack permissions for its objects", pattern)
			}
			r.noteChosen(pattern, len(files), r.at)
			for _, file := range files {
				if !r.spend(includeSteps) && r.enter("template "+file) {
					add(file)
					r.leave()
				}
			}
		}
	}
}

// includeSteps are the steps of a template that another one includes or looks up, in addition to its nodes and objects.
const includeSteps = 200

// includeFile adds the objects of another template, or writes the text of one that is part of an object, in a scope of its own.
func (r *rendering) includeFile(file string, n jinja.Include, s *scope) {
	s.dir = home + "/" + parent(file)
	text := r.files.read(file)
	objects := slices.DeleteFunc(r.textDocuments(text, s, file, 1), func(o bound) bool { return field(o.node, "kind") == nil })
	r.included.objects = append(r.included.objects, objects...)
	if len(objects) == 0 && !n.Extends {
		r.inline(r.body(r.syntax(text), s))
	}
}

// output writes a value: its text if it is the only one, whatever custom resources contain, or else a reference.
func (r *rendering) output(v value) {
	if texts, complete := v.texts(); complete && len(texts) == 1 && len(v.settable) == 0 && known(texts[0]) && !strings.Contains(texts[0], "\n") {
		r.out.WriteString(texts[0])
		return
	}
	r.out.WriteString(r.refer(v))
}

func (t *templates) refer(v value) string {
	t.references = append(t.references, v)
	return referenceBegin + strconv.Itoa(len(t.references)-1) + referenceEnd
}

func (r *rendering) body(nodes []jinja.Node, s *scope) string {
	inner := rendering{templates: r.templates, depth: r.depth, root: r.root, at: r.at, included: r.included}
	inner.nodes(nodes, s)
	return inner.out.String()
}

// branch writes the bodies of all branches if they have several lines, or else a reference to their texts.
func (r *rendering) branch(b jinja.Branch, s *scope) {
	var texts []string
	inline := true
	for _, body := range b.Bodies {
		text := r.body(body, s)
		inline = inline && !strings.Contains(text, "\n")
		texts = append(texts, text)
	}
	if !inline {
		for _, text := range texts {
			r.out.WriteString(text)
		}
		return
	}
	var values []value
	for _, text := range texts {
		values = append(values, r.expand(text))
	}
	if !b.Otherwise {
		values = append(values, textValue(""))
	}
	r.output(union(values...))
}

// loop writes the body once. The variables are all items.
func (r *rendering) loop(l jinja.Loop, s *scope) {
	inner := s.child()
	over := r.eval.itemsOf(r.eval.evaluate(l.Over, s))
	item := union(over.items...)
	item.open = item.open || !over.complete || len(over.items) == 0
	for i, name := range l.Names {
		if len(l.Names) == 1 {
			inner.set(name, item)
		} else {
			inner.set(name, r.eval.get(item, strconv.Itoa(i)))
		}
	}
	text := r.body(l.Body, inner)
	if strings.Contains(text, "\n") || len(over.items) < 2 && over.complete {
		r.out.WriteString(text)
		return
	}
	r.output(value{open: true, alts: r.expand(text).alts})
}

// set defines variables. Values of earlier assignments are kept, as branches are not distinguished.
func (r *rendering) set(n jinja.Set, s *scope) {
	v := anything()
	switch {
	case n.Body != nil:
		v = r.expand(r.body(n.Body, s))
	case len(n.Names) == 1:
		v = r.eval.evaluate(n.Value, s)
	}
	for _, name := range n.Names {
		r.assign(name, v, s)
	}
}

// assign adds a value to a variable of the template, or defines it.
func (r *rendering) assign(name string, v value, s *scope) {
	at := s
	old, ok := at.vars[name]
	for !ok && at != r.root {
		at = at.parent
		old, ok = at.vars[name]
	}
	if ok {
		at.set(name, union(old.ready, v))
	} else {
		s.set(name, v)
	}
}

// reference returns the value of a text that consists of one reference.
func (t *templates) reference(text string) (value, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(text), referenceBegin)
	if !ok {
		return value{}, false
	}
	text, ok = strings.CutSuffix(text, referenceEnd)
	if !ok || strings.Contains(text, referenceBegin) {
		return value{}, false
	}
	return t.referenced(text), true
}

func (t *templates) referenced(number string) value {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(t.references) {
		return anything()
	}
	return t.references[i]
}

// expand returns the texts that a rendered text can be.
func (t *templates) expand(text string) value {
	text = withoutMarks(text)
	if v, ok := t.reference(text); ok {
		return v
	}
	var parts []value
	for {
		before, rest, ok := strings.Cut(text, referenceBegin)
		parts = append(parts, textValue(before))
		if !ok {
			return concat(parts...)
		}
		number, after, _ := strings.Cut(rest, referenceEnd)
		parts = append(parts, t.referenced(number))
		text = after
	}
}
