package ansiblerole

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
)

// kubernetesCollections are the prefixes of modules and plugins of the Kubernetes collections. It is constant.
var kubernetesCollections = []string{"kubernetes.core.", "community.kubernetes.", "community.okd.", "redhat.openshift.", "kubernetes.core_v2."}

// shortName returns the name of a module or plugin without the collection, if it is one of Ansible or for Kubernetes.
func shortName(name string) string {
	for _, prefix := range append([]string{"ansible.builtin.", "ansible.legacy.", "operator_sdk.util."}, kubernetesCollections...) {
		if after, ok := strings.CutPrefix(name, prefix); ok {
			return after
		}
	}
	return name
}

// pluginNames returns the names of the plugin that lookup or query calls. A plugin with a variable name and a kind is k8s.
func (ev *evaluator) pluginNames(arguments jinja.Arguments, s *scope) []string {
	texts, _ := ev.evaluate(first(arguments.Positional), s).texts()
	for i, text := range texts {
		texts[i] = shortName(text)
	}
	if _, ok := arguments.Named["kind"]; ok && len(texts) == 0 {
		texts = append(texts, "k8s")
	}
	return texts
}

func (ev *evaluator) lookupPlugin(arguments jinja.Arguments, s *scope) value {
	var results []value
	var operands []value
	if len(arguments.Positional) > 0 {
		for _, e := range arguments.Positional[1:] {
			operands = append(operands, ev.evaluate(e, s))
		}
	}
	for _, name := range ev.pluginNames(arguments, s) {
		switch name {
		case "template", "file":
			results = append(results, ev.fileLookup(name, operands, s))
		case "env":
			for _, operand := range operands {
				if texts, _ := operand.texts(); slices.Equal(texts, []string{"HOME"}) {
					results = append(results, textValue(home))
				}
			}
			if len(results) == 0 {
				return anything()
			}
		case "vars":
			for _, operand := range operands {
				texts, complete := operand.texts()
				for _, text := range texts {
					if known(text) {
						results = append(results, ev.lookup(text, s))
					} else {
						complete = false
					}
				}
				results = append(results, value{open: !complete})
			}
		case "k8s":
			results = append(results, ev.objectLookup(arguments, s))
		case "items", "list", "flattened", "first_found":
			results = append(results, ev.flatten(value{alts: []any{list{operands}}}))
		case "dict":
			for _, operand := range operands {
				results = append(results, ev.pairs(operand, true))
			}
		case "fileglob":
			results = append(results, ev.globs(operands, s))
		default:
			return anything()
		}
	}
	if len(results) == 0 {
		return anything()
	}
	return union(results...)
}

func (ev *evaluator) fileLookup(plugin string, names []value, s *scope) value {
	var result value
	for _, name := range names {
		for _, pattern := range name.patterns() {
			result.open = result.open || !known(pattern)
			if ev.literal && !known(pattern) {
				continue
			}
			for _, source := range ev.env.written[pattern] {
				result = union(result, source)
			}
			for _, file := range ev.files.find(plugin, pattern, s) {
				result = union(result, value{alts: []any{rendered{file, s}}})
			}
		}
	}
	result.open = result.open || len(result.alts) == 0
	return result
}

func (ev *evaluator) objectLookup(arguments jinja.Arguments, s *scope) value {
	d := &dict{fields: map[string]value{"apiVersion": textValue("v1")}}
	for _, name := range []string{"kind", "api_version"} {
		if e, ok := arguments.Named[name]; ok {
			d.fields[map[string]string{"kind": "kind", "api_version": "apiVersion"}[name]] = ev.evaluate(e, s)
		}
	}
	if d.fields["kind"].alts == nil && !d.fields["kind"].open {
		return anything()
	}
	object := value{alts: []any{d}}
	return union(object, value{alts: []any{list{[]value{object}}}})
}

// globs returns the paths of files that match patterns.
func (ev *evaluator) globs(patterns []value, s *scope) value {
	all := list{}
	isOpen := false
	for _, v := range patterns {
		for _, pattern := range v.patterns() {
			isOpen = isOpen || !known(pattern)
			for _, file := range ev.files.find("file", strings.ReplaceAll(pattern, "*", unknown), s) {
				all.items = append(all.items, textValue(home+"/"+file))
			}
		}
	}
	return value{alts: []any{all}, open: isOpen}
}

// with returns the list of a loop with a plugin.
func (ev *evaluator) with(plugin string, of value, s *scope) value {
	switch plugin {
	case "items", "list", "flattened", "first_found", "indexed_items":
		return ev.flatten(of)
	case "dict":
		return ev.pairs(of, true)
	case "fileglob":
		return ev.globs(ev.itemsOf(of).items, s)
	case "nested", "cartesian", "together":
		var parts []value
		for _, part := range ev.itemsOf(of).items {
			parts = append(parts, union(ev.itemsOf(part).items...))
		}
		return value{alts: []any{list{[]value{{alts: []any{list{parts}}}}}}, open: of.open}
	}
	return anything()
}
