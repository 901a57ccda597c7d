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
func (a *analysis) pluginNames(arguments jinja.Arguments, s *scope) []string {
	texts, _ := a.eval(first(arguments.Positional), s).texts()
	for i, text := range texts {
		texts[i] = shortName(text)
	}
	if _, ok := arguments.Named["kind"]; ok && len(texts) == 0 {
		texts = append(texts, "k8s")
	}
	return texts
}

// lookupPlugin returns the result of lookup or query.
func (a *analysis) lookupPlugin(arguments jinja.Arguments, s *scope) value {
	var results []value
	var operands []value
	if len(arguments.Positional) > 0 {
		for _, e := range arguments.Positional[1:] {
			operands = append(operands, a.eval(e, s))
		}
	}
	for _, name := range a.pluginNames(arguments, s) {
		switch name {
		case "template", "file":
			results = append(results, a.fileLookup(name, operands, s))
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
						results = append(results, a.lookup(text, s))
					} else {
						complete = false
					}
				}
				results = append(results, value{open: !complete})
			}
		case "k8s":
			results = append(results, a.objectLookup(arguments, s))
		case "items", "list", "flattened", "first_found":
			results = append(results, a.flatten(value{alts: []any{list{operands}}}))
		case "dict":
			for _, operand := range operands {
				results = append(results, a.pairs(operand, true))
			}
		case "fileglob":
			results = append(results, a.globs(operands, s))
		default:
			return anything()
		}
	}
	if len(results) == 0 {
		return anything()
	}
	return union(results...)
}

// fileLookup returns the text of templates or files.
func (a *analysis) fileLookup(plugin string, names []value, s *scope) value {
	var result value
	for _, name := range names {
		for _, pattern := range name.patterns() {
			result.open = result.open || !known(pattern)
			for _, source := range a.written[pattern] {
				result = union(result, source)
			}
			for _, file := range a.find(plugin, pattern, s) {
				result = union(result, value{alts: []any{rendered{file, s}}})
			}
		}
	}
	result.open = result.open || len(result.alts) == 0
	return result
}

// find returns the files that a template, file or task file with a name can be, from the place of a scope.
func (a *analysis) find(kind, pattern string, s *scope) []string {
	subdir := map[string]string{"template": "templates", "file": "files", "tasks": "tasks", "vars": "vars"}[kind]
	var dirs []string
	if kind == "tasks" {
		dirs = append(dirs, s.dir)
	}
	for at := s; at != nil; at = at.parent {
		for _, dir := range []string{at.role, at.playbook} {
			if dir == "" {
				continue
			}
			for _, candidate := range []string{dir + "/" + subdir, dir} {
				if !slices.Contains(dirs, candidate) {
					dirs = append(dirs, candidate)
				}
			}
		}
	}
	if kind != "tasks" {
		dirs = append(dirs, s.dir+"/"+subdir, s.dir)
	}
	if !known(pattern) && pattern[0] == unknown[0] { // the unknown part can be a directory, but hardly that of another role
		dirs = dirs[:min(1, len(dirs))]
	}
	return a.match(pattern, dirs...)
}

// objectLookup returns the objects of the lookup plugin k8s.
func (a *analysis) objectLookup(arguments jinja.Arguments, s *scope) value {
	d := &dict{fields: map[string]value{"apiVersion": textValue("v1")}}
	for _, name := range []string{"kind", "api_version"} {
		if e, ok := arguments.Named[name]; ok {
			d.fields[map[string]string{"kind": "kind", "api_version": "apiVersion"}[name]] = a.eval(e, s)
		}
	}
	if d.fields["kind"].alts == nil && !d.fields["kind"].open {
		return anything()
	}
	object := value{alts: []any{d}}
	return union(object, value{alts: []any{list{[]value{object}}}})
}

// globs returns the paths of files that match patterns.
func (a *analysis) globs(patterns []value, s *scope) value {
	all := list{}
	isOpen := false
	for _, v := range patterns {
		for _, pattern := range v.patterns() {
			isOpen = isOpen || !known(pattern)
			for _, file := range a.find("file", strings.ReplaceAll(pattern, "*", unknown), s) {
				all.items = append(all.items, textValue(home+"/"+file))
			}
		}
	}
	return value{alts: []any{all}, open: isOpen}
}
