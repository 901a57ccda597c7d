package ansiblerole

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
)

// textFilters are the filters that change a text. It is constant.
var textFilters = map[string]func(string) string{
	"lower":      strings.ToLower,
	"upper":      strings.ToUpper,
	"capitalize": func(s string) string { return capitalize(strings.ToLower(s)) },
	"title":      capitalize,
	"strip":      strings.TrimSpace,
	"trim":       strings.TrimSpace,
	"basename":   path.Base,
	"dirname":    path.Dir,
	"splitext":   nil,
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// mapTexts returns a value with changed texts. Alternatives that are not texts are unknown.
func mapTexts(v value, change func(string) string) value {
	if change == nil {
		return anything()
	}
	texts, complete := v.texts()
	result := value{open: !complete, settable: v.settable}
	for _, text := range texts {
		result = union(result, textValue(change(text)))
	}
	return result
}

// unchanged are the filters whose result has the same kinds and names as the value, or is a part of it. It is constant.
var unchanged = strings.Fields("list unique sort select reject selectattr rejectattr string trim safe reverse indent quote int bool float " +
	"to_nice_yaml to_yaml to_json to_nice_json tojson from_json mandatory k8s_config_resource_name rekey_on_member expanduser realpath " +
	"vault unvault e escape forceescape")

func (ev *evaluator) filter(e jinja.Filter, s *scope) value {
	of := ev.evaluate(e.Of, s)
	argument := func(i int) value {
		if i < len(e.Positional) {
			return ev.evaluate(e.Positional[i], s)
		}
		return value{}
	}
	if change, ok := textFilters[e.Name]; ok {
		return mapTexts(of, change)
	}
	if slices.Contains(unchanged, e.Name) {
		return of
	}
	switch e.Name {
	case "default", "d":
		return union(of, argument(0))
	case "ternary":
		return union(argument(0), argument(1), argument(2))
	case "from_yaml", "from_yaml_all":
		return ev.templates.parsed(of)
	case "first", "last", "random", "min", "max":
		all := ev.itemsOf(of)
		result := union(all.items...)
		result.open = result.open || !all.complete
		return result
	case "flatten":
		return ev.flatten(of)
	case "combine":
		return ev.combine(of, e, s)
	case "dict2items":
		return ev.pairs(of, true)
	case "union", "difference", "intersect", "symmetric_difference":
		return ev.binary("+", of, argument(0))
	case "join":
		return ev.join(of, argument(0))
	case "split":
		return ev.split(of, e.Arguments, s)
	case "replace":
		return ev.replace(of, argument(0), argument(1))
	case "map":
		return ev.mapFilter(of, e, s)
	case "product":
		left, right := ev.itemsOf(of), ev.itemsOf(argument(0))
		pair := value{alts: []any{list{[]value{union(left.items...), union(right.items...)}}}}
		return value{alts: []any{list{[]value{pair}}}, open: !left.complete || !right.complete}
	}
	return anything()
}

func first(list []jinja.Expr) jinja.Expr {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// flatten returns a list of the items of lists.
func (ev *evaluator) flatten(v value) value {
	outer := ev.itemsOf(v)
	all, isOpen := list{}, !outer.complete
	for _, item := range outer.items {
		if !isList(item) {
			all.items = append(all.items, item)
			continue
		}
		inner := ev.itemsOf(item)
		all.items = append(all.items, inner.items...)
		isOpen = isOpen || !inner.complete
	}
	return value{alts: []any{all}, open: isOpen}
}

// combine returns mappings that are merged.
func (ev *evaluator) combine(of value, e jinja.Filter, s *scope) value {
	result := of
	for _, argument := range e.Positional {
		next := ev.evaluate(argument, s)
		merged := &dict{fields: map[string]value{}, bases: []value{result}}
		for _, alt := range next.alts {
			switch alt := alt.(type) {
			case *dict:
				maps.Copy(merged.fields, alt.fields)
				merged.bases = append(merged.bases, alt.bases...)
			case bound:
				for key, child := range fields(alt.node) {
					merged.fields[key] = ev.node(child, alt.scope)
				}
			}
		}
		result = value{alts: []any{merged}, open: of.open && len(of.alts) == 0}
	}
	return result
}

// join returns the texts of a list with a separator between them.
func (ev *evaluator) join(of, separator value) value {
	all := ev.itemsOf(of)
	if !all.complete {
		return anything()
	}
	var parts []value
	for i, item := range all.items {
		if i > 0 && len(separator.alts) > 0 {
			parts = append(parts, separator)
		}
		parts = append(parts, item)
	}
	return concat(parts...)
}

// replace returns texts in which one text is replaced by another.
func (ev *evaluator) replace(of, from, to value) value {
	old, ok := from.texts()
	replacement, ok2 := to.texts()
	if !ok || !ok2 || len(old) != 1 || len(replacement) != 1 || !known(old[0]) {
		return anything()
	}
	return mapTexts(of, func(text string) string { return strings.ReplaceAll(text, old[0], replacement[0]) })
}

// mapFilter returns a list of an attribute of the items, or of items with a filter applied.
func (ev *evaluator) mapFilter(of value, e jinja.Filter, s *scope) value {
	all := ev.itemsOf(of)
	result := list{}
	if attribute, ok := e.Named["attribute"]; ok {
		texts, _ := ev.evaluate(attribute, s).texts()
		if len(texts) != 1 {
			return anything()
		}
		for _, item := range all.items {
			for part := range strings.SplitSeq(texts[0], ".") {
				item = ev.get(item, part)
			}
			result.items = append(result.items, item)
		}
		return value{alts: []any{result}, open: !all.complete}
	}
	name, _ := first(e.Positional).(jinja.Literal)
	inner := s.child()
	for _, item := range all.items {
		inner.set("item", item)
		arguments := jinja.Arguments{Named: e.Named}
		if len(e.Positional) > 1 {
			arguments.Positional = e.Positional[1:]
		}
		result.items = append(result.items, ev.filter(jinja.Filter{Of: jinja.Name{Name: "item"}, Name: name.Text, Arguments: arguments}, inner))
	}
	return value{alts: []any{result}, open: !all.complete}
}
