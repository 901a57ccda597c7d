package ansiblerole

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
)

// A macro is a macro of a template, with the scope and the file of its definition. It is an alternative of values.
type macro struct {
	*jinja.Macro
	scope *scope
	file  string
}

// callMacros returns the texts of the macros that a value can be. The names are the parameters in the scope of the call, and included is
// as for render. ok is false if the value is no macro.
func (ev *evaluator) callMacros(v value, arguments jinja.Arguments, s *scope, included *inclusion, caller *macro) (result value, ok bool) {
	result.open = v.open
	for _, alt := range v.alts {
		m, isMacro := alt.(macro)
		if !isMacro {
			result.open = true
			continue
		}
		ok = true
		// A macro can call itself with other arguments, but what is below that adds nothing.
		key := fmt.Sprintf("macro %p", m.Macro)
		if !ev.spend(macroSteps) && (ev.enter(key) || ev.enter(key+" again")) {
			result = union(result, textValue(ev.macroText(m, arguments, s, included, caller)))
			ev.leave()
		}
	}
	return result, ok
}

// macroSteps are the steps of a call of a macro, in addition to its nodes.
const macroSteps = 10

// macroText returns the text of a macro with references; see render. As in Ansible, the line break after its statement isn't part of it.
func (ev *evaluator) macroText(m macro, arguments jinja.Arguments, s *scope, included *inclusion, caller *macro) string {
	inner := m.scope.child()
	for i, parameter := range m.Parameters {
		v := anything()
		if i < len(arguments.Positional) {
			v = ev.evaluate(arguments.Positional[i], s)
		} else if e, ok := arguments.Named[parameter.Name]; ok {
			v = ev.evaluate(e, s)
		} else if parameter.Default != nil {
			v = ev.evaluate(parameter.Default, m.scope)
		}
		inner.set(parameter.Name, v)
	}
	if caller != nil {
		inner.set("caller", value{alts: []any{*caller}})
	}
	r := rendering{templates: ev.templates, root: inner, at: diag.Position{File: m.file}, included: included}
	r.nodes(m.Body, inner)
	text := strings.TrimPrefix(withoutMarks(r.out.String()), "\n")
	if trimmed := strings.TrimSpace(text); !strings.Contains(trimmed, "\n") {
		return trimmed
	}
	return text
}

// outputMacro writes the text of a macro if an expression calls one, with its indentation. It reports whether it does.
func (r *rendering) outputMacro(e jinja.Expr, s *scope) bool {
	var filters []jinja.Filter
	for f, ok := e.(jinja.Filter); ok && (f.Name == "indent" || f.Name == "trim"); f, ok = e.(jinja.Filter) {
		filters, e = append(filters, f), f.Of
	}
	c, ok := e.(jinja.Call)
	if !ok {
		return false
	}
	v, ok := r.eval.callMacros(r.eval.function(c.Function, s), c.Arguments, s, r.included, nil)
	if !ok {
		return false
	}
	for i := len(filters) - 1; i >= 0; i-- {
		v = mapTexts(v, func(text string) string { return indented(strings.TrimSpace(text), filters[i]) })
	}
	r.outputText(v)
	return true
}

// function returns the value of what is called, apart from functions and methods of Jinja.
func (ev *evaluator) function(e jinja.Expr, s *scope) value {
	switch e := e.(type) {
	case jinja.Name:
		return ev.evaluate(e, s)
	case jinja.Index:
		if of, ok := e.Of.(jinja.Name); ok { // a macro of a module
			if key, ok := e.Key.(jinja.Literal); ok {
				return ev.get(ev.evaluate(of, s), key.Text)
			}
		}
	}
	return value{}
}

// indented returns a text as the filter indent changes it.
func indented(text string, f jinja.Filter) string {
	if f.Name != "indent" {
		return text
	}
	width := 4
	for _, e := range []jinja.Expr{first(f.Positional), f.Named["width"]} {
		if n, ok := number(e); ok {
			width = min(n, 40)
		}
	}
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", width))
}

// outputText writes a value: also a text of several lines, if it is the only one.
func (r *rendering) outputText(v value) {
	if texts, complete := v.texts(); complete && len(texts) == 1 && strings.Contains(texts[0], "\n") {
		r.inline(texts[0])
		return
	}
	r.output(v)
}

// callBlock writes the text of a macro that is called with a body.
func (r *rendering) callBlock(n jinja.CallBlock, s *scope) {
	if c, ok := n.Call.(jinja.Call); ok {
		v, _ := r.eval.callMacros(r.eval.function(c.Function, s), c.Arguments, s, r.included, &macro{n.Caller, s, r.at.File})
		r.outputText(v)
	}
	r.out.WriteString(strings.Repeat("\n", n.Caller.Lines))
}

// importTemplate defines the macros and variables of other templates.
func (r *rendering) importTemplate(n jinja.Import, s *scope) {
	module := &dict{fields: map[string]value{}}
	r.include(n.Template, s, func(file string) {
		inner := s.child()
		inner.dir = home + "/" + parent(file)
		imported := rendering{templates: r.templates, depth: r.depth, root: inner, at: diag.Position{File: file}, included: &inclusion{}}
		imported.nodes(r.syntax(r.files.read(file)), inner)
		for name, t := range inner.vars {
			module.fields[name] = union(module.fields[name], t.ready)
		}
	})
	if n.Module != "" {
		r.assign(n.Module, value{alts: []any{module}}, s)
	}
	for _, name := range n.Names {
		if v, ok := module.fields[name.Name]; ok {
			r.assign(name.As, v, s)
		}
	}
}
