package ansiblerole

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
)

// maxListItems is the number of items of a composed list. Those of longer lists are not distinguished.
const maxListItems = 500

// maxSteps is the number of evaluations of one analysis. Everything beyond them is unknown, which is noted.
const maxSteps = 3_000_000

// spend reports whether the analysis has used up its steps.
func (a *analysis) spend(steps int) bool {
	a.steps += steps
	return a.steps > maxSteps
}

// eval returns the value of an expression.
func (a *analysis) eval(e jinja.Expr, s *scope) value {
	if a.spend(1) {
		return anything()
	}
	switch e := e.(type) {
	case jinja.Literal:
		if e.Null {
			return value{alts: []any{null{}}}
		}
		return a.text(e.Text, s) // arguments of plugins can contain expressions, too
	case jinja.Name:
		return a.lookup(e.Name, s)
	case jinja.Index:
		return a.index(a.eval(e.Of, s), a.eval(e.Key, s))
	case jinja.Slice:
		return a.slice(e, s)
	case jinja.Call:
		return a.call(e, s)
	case jinja.Filter:
		return a.filter(e, s)
	case jinja.Test:
		return textValue("true", "false")
	case jinja.Choice:
		if e.Else == nil {
			return union(a.eval(e.Then, s), textValue(""))
		}
		return union(a.eval(e.Then, s), a.eval(e.Else, s))
	case jinja.Binary:
		return a.binary(e.Operator, a.eval(e.Left, s), a.eval(e.Right, s))
	case jinja.List:
		all := list{}
		for _, item := range e.Items {
			all.items = append(all.items, a.eval(item, s))
		}
		return value{alts: []any{all}}
	case jinja.Dict:
		d := &dict{fields: map[string]value{}}
		for i, key := range e.Keys {
			texts, _ := a.eval(key, s).texts()
			for _, text := range texts {
				d.fields[text] = union(d.fields[text], a.eval(e.Values[i], s))
			}
		}
		return value{alts: []any{d}}
	}
	return anything()
}

// index returns the attributes or items of a value that keys can be.
func (a *analysis) index(of, keys value) value {
	texts, complete := keys.texts()
	var result value
	for _, key := range texts {
		result = union(result, a.get(of, key))
	}
	if complete && len(keys.settable) == 0 {
		return result
	}
	for _, alt := range of.alts { // any of the values
		switch alt := alt.(type) {
		case bound:
			for _, child := range fields(alt.node) {
				result = union(result, a.node(child, alt.scope))
			}
			if alt.node.Kind == yaml.SequenceNode {
				result = union(result, union(a.itemsOf(value{alts: []any{alt}}).items...))
			}
		case list:
			result = union(result, union(alt.items...))
		case *dict:
			for _, v := range alt.fields {
				result = union(result, v)
			}
		}
	}
	result.open = result.open || of.open
	return result
}

// slice returns the part of a list with known limits, or else a list with all items.
func (a *analysis) slice(e jinja.Slice, s *scope) value {
	of := a.eval(e.Of, s)
	from, hasFrom := number(e.From)
	to, hasTo := number(e.To)
	if len(of.alts) != 1 || of.open || !isList(of) || !hasFrom && !hasTo {
		return of
	}
	all := a.itemsOf(of).items
	if !hasTo || to > len(all) {
		to = len(all)
	}
	return value{alts: []any{list{all[min(from, to):to]}}}
}

// number returns the value of a number in an expression.
func number(e jinja.Expr) (int, bool) {
	literal, ok := e.(jinja.Literal)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(literal.Text)
	return n, err == nil && n >= 0
}

// binary returns the result of an operator.
func (a *analysis) binary(operator string, left, right value) value {
	switch operator {
	case "or", "and":
		return union(left, right)
	case "~":
		return concat(left, right)
	case "+":
		if isList(left) || isList(right) {
			l, r := a.itemsOf(left), a.itemsOf(right)
			all := append(slices.Clone(l.items), r.items...)
			if len(all) > maxListItems {
				all = []value{union(all...)}
			}
			return value{alts: []any{list{all}}, open: !l.complete || !r.complete}
		}
		return concat(left, right)
	}
	return anything()
}

// isList reports whether a value can be a list.
func isList(v value) bool {
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case list:
			return true
		case bound:
			return alt.node.Kind == yaml.SequenceNode
		}
	}
	return false
}

// call returns the result of a function or method.
func (a *analysis) call(e jinja.Call, s *scope) value {
	switch function := e.Function.(type) {
	case jinja.Name:
		switch function.Name {
		case "lookup", "query", "q":
			return a.lookupPlugin(e.Arguments, s)
		case "dict":
			d := &dict{fields: map[string]value{}}
			for name, argument := range e.Named {
				d.fields[name] = a.eval(argument, s)
			}
			return value{alts: []any{d}}
		}
	case jinja.Index:
		method, _ := function.Key.(jinja.Literal)
		of := a.eval(function.Of, s)
		switch method.Text {
		case "get":
			if len(e.Positional) == 0 {
				return anything()
			}
			result := a.index(of, a.eval(e.Positional[0], s))
			if len(e.Positional) > 1 {
				result = union(result, a.eval(e.Positional[1], s))
			}
			return result
		case "values":
			return a.index(of, anything()).asList()
		case "items":
			return a.pairs(of, false)
		case "lower", "upper", "capitalize", "title", "strip":
			return mapTexts(of, textFilters[method.Text])
		case "split":
			return a.split(of, e.Arguments, s)
		}
	}
	return anything()
}

// asList returns a list of which each item can be all alternatives.
func (v value) asList() value { return value{alts: []any{list{[]value{v}}}, open: v.open} }

// pairs returns the keys and values of mappings as a list: of lists, or of mappings with key and value.
func (a *analysis) pairs(v value, named bool) value {
	result := value{open: v.open}
	all := list{}
	add := func(key string, of value) {
		if named {
			all.items = append(all.items, value{alts: []any{&dict{fields: map[string]value{"key": textValue(key), "value": of}}}})
		} else {
			all.items = append(all.items, value{alts: []any{list{[]value{textValue(key), of}}}})
		}
	}
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case bound:
			for key, child := range fields(alt.node) {
				add(key, a.node(child, alt.scope))
			}
		case *dict:
			for _, key := range sortedKeys(alt.fields) {
				add(key, alt.fields[key])
			}
			result.open = result.open || len(alt.bases) > 0
		default:
			result.open = true
		}
	}
	result.alts = []any{all}
	return result
}

// split returns the parts of a text.
func (a *analysis) split(of value, arguments jinja.Arguments, s *scope) value {
	separator := " "
	if len(arguments.Positional) > 0 {
		texts, complete := a.eval(arguments.Positional[0], s).texts()
		if !complete || len(texts) != 1 || texts[0] == "" {
			return anything()
		}
		separator = texts[0]
	}
	result := value{open: of.open, settable: of.settable}
	texts, _ := of.texts()
	for _, text := range texts {
		all := list{}
		for part := range strings.SplitSeq(text, separator) {
			all.items = append(all.items, textValue(part)) // an unknown part can be several
		}
		result.alts = append(result.alts, all)
	}
	return result
}
