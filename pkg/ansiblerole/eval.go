package ansiblerole

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
)

// maxListItems is the number of items of a composed list. The items of longer lists are not distinguished.
const maxListItems = 500

// An evaluator computes the values of expressions, variables and YAML.
type evaluator struct {
	*progress
	files     *reader
	env       *environment
	templates *templates
	memory    memory
	// fields are the values of keys of merged mappings.
	fields map[fieldKey]value
	// literal is true if all variables are unknown, apart from those that templates set.
	literal bool
}

func newEvaluator(files *reader, env *environment, p *progress) *evaluator {
	ev := &evaluator{progress: p, files: files, env: env}
	ev.templates = &templates{progress: p, files: files, eval: ev, syntaxes: map[string][]jinja.Node{}}
	ev.memory.pending = map[*yaml.Node]bool{}
	return ev
}

func (ev *evaluator) reset() {
	ev.fields = map[fieldKey]value{}
	ev.memory.memo, ev.memory.partial = map[evaluation]value{}, map[evaluation]value{}
	ev.templates.objects, ev.templates.references = map[documentKey][]bound{}, nil
}

func (ev *evaluator) evaluate(e jinja.Expr, s *scope) value {
	if ev.spend(1) {
		return anything()
	}
	switch e := e.(type) {
	case jinja.Literal:
		if e.Null {
			return value{alts: []any{null{}}}
		}
		return ev.text(e.Text, s) // arguments of plugins can contain expressions, too
	case jinja.Name:
		if ev.literal && e.Name != "omit" {
			return s.ready(e.Name)
		}
		return ev.lookup(e.Name, s)
	case jinja.Index:
		return ev.index(ev.evaluate(e.Of, s), ev.evaluate(e.Key, s))
	case jinja.Slice:
		return ev.slice(e, s)
	case jinja.Call:
		return ev.call(e, s)
	case jinja.Filter:
		return ev.filter(e, s)
	case jinja.Test:
		return textValue("true", "false")
	case jinja.Choice:
		if e.Else == nil {
			return union(ev.evaluate(e.Then, s), textValue(""))
		}
		return union(ev.evaluate(e.Then, s), ev.evaluate(e.Else, s))
	case jinja.Binary:
		return ev.binary(e.Operator, ev.evaluate(e.Left, s), ev.evaluate(e.Right, s))
	case jinja.List:
		all := list{}
		for _, item := range e.Items {
			all.items = append(all.items, ev.evaluate(item, s))
		}
		return value{alts: []any{all}}
	case jinja.Dict:
		d := &dict{fields: map[string]value{}}
		for i, key := range e.Keys {
			texts, _ := ev.evaluate(key, s).texts()
			for _, text := range texts {
				d.fields[text] = union(d.fields[text], ev.evaluate(e.Values[i], s))
			}
		}
		return value{alts: []any{d}}
	}
	return anything()
}

// index returns the attributes or items of a value that keys can be.
func (ev *evaluator) index(of, keys value) value {
	texts, complete := keys.texts()
	var result value
	for _, key := range texts {
		result = union(result, ev.get(of, key))
	}
	if complete && len(keys.settable) == 0 {
		return result
	}
	for _, alt := range of.alts { // any of the values
		switch alt := alt.(type) {
		case bound:
			for _, child := range fields(alt.node) {
				result = union(result, ev.node(child, alt.scope))
			}
			if alt.node.Kind == yaml.SequenceNode {
				result = union(result, union(ev.itemsOf(value{alts: []any{alt}}).items...))
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
func (ev *evaluator) slice(e jinja.Slice, s *scope) value {
	of := ev.evaluate(e.Of, s)
	from, hasFrom := number(e.From)
	to, hasTo := number(e.To)
	if len(of.alts) != 1 || of.open || !isList(of) || !hasFrom && !hasTo {
		return of
	}
	all := ev.itemsOf(of).items
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

func (ev *evaluator) binary(operator string, left, right value) value {
	switch operator {
	case "or", "and":
		return union(left, right)
	case "~":
		return concat(left, right)
	case "+":
		if isList(left) || isList(right) {
			l, r := ev.itemsOf(left), ev.itemsOf(right)
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
func (ev *evaluator) call(e jinja.Call, s *scope) value {
	switch function := e.Function.(type) {
	case jinja.Name:
		switch function.Name {
		case "lookup", "query", "q":
			return ev.lookupPlugin(e.Arguments, s)
		case "dict":
			d := &dict{fields: map[string]value{}}
			for name, argument := range e.Named {
				d.fields[name] = ev.evaluate(argument, s)
			}
			return value{alts: []any{d}}
		}
		if v, ok := ev.callMacros(ev.evaluate(function, s), e.Arguments, s, nil, nil); ok {
			return v
		}
	case jinja.Index:
		method, _ := function.Key.(jinja.Literal)
		of := ev.evaluate(function.Of, s)
		switch method.Text {
		case "get":
			if len(e.Positional) == 0 {
				return anything()
			}
			result := ev.index(of, ev.evaluate(e.Positional[0], s))
			if len(e.Positional) > 1 {
				result = union(result, ev.evaluate(e.Positional[1], s))
			}
			return result
		case "values":
			return ev.index(of, anything()).asList()
		case "items":
			return ev.pairs(of, false)
		case "lower", "upper", "capitalize", "title", "strip":
			return mapTexts(of, textFilters[method.Text])
		case "split":
			return ev.split(of, e.Arguments, s)
		}
		if v, ok := ev.callMacros(ev.get(of, method.Text), e.Arguments, s, nil, nil); ok {
			return v
		}
	}
	return anything()
}

// asList returns a list whose items can each be any alternative.
func (v value) asList() value { return value{alts: []any{list{[]value{v}}}, open: v.open} }

// pairs returns the keys and values of mappings as a list: of lists, or of mappings with key and value.
func (ev *evaluator) pairs(v value, named bool) value {
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
				add(key, ev.node(child, alt.scope))
			}
		case *dict:
			for _, key := range slices.Sorted(maps.Keys(alt.fields)) {
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

func (ev *evaluator) split(of value, arguments jinja.Arguments, s *scope) value {
	separator := " "
	if len(arguments.Positional) > 0 {
		texts, complete := ev.evaluate(arguments.Positional[0], s).texts()
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
