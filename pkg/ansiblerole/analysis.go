package ansiblerole

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// The API groups of objects that require more permissions than those on their resource.
const (
	groupCRD  = "apiextensions.k8s.io"
	groupRBAC = "rbac.authorization.k8s.io"
)

// An analysis collects the permissions that roles and playbooks need.
type analysis struct {
	files Files
	paths []string
	// custom are the resources of the kinds of the project, and roleDirs the directories of its roles.
	custom   map[rbac.GroupKind]string
	roleDirs []string
	loaded   map[string]*yaml.Node
	rendered map[documentKey][]bound
	places   map[*yaml.Node]place

	permissions rbac.Permissions
	notes       diag.Findings
	unreadable  map[string]diag.Finding
	// guesses are the first places of the kinds whose resource is a guess.
	guesses map[granted]diag.Position

	// api is the current kind.
	api API
	// arguments are those of the specifications for the current kind, by their names. closed is true if spec has no other fields.
	arguments map[string]*argument
	closed    bool
	// facts are the values of set_fact, register and include_vars in the pass before. Those of the current pass are collected.
	facts, collected map[string][]thunk
	// written maps the destinations of templates and copies to the files that they are made from.
	written map[string][]value
	// roles are those that the objects of the current kind contain.
	roles map[rbac.RoleKey]bool
	// final is true in the last pass, which adds permissions and notes.
	final bool

	// keepNames is true if the keys of spec are not converted. entered are the roles that are called by a playbook or watch itself, and
	// opened the places that can use any field of spec.
	keepNames bool
	entered   []entryPoint
	opened    diag.Findings

	references []value
	// pending are the variables that are being evaluated, in whatever scope: tasks in loops extend a variable by itself. memo are the
	// values of those that were, and partial those that depend on one that is being evaluated, of which cycles counts the uses.
	pending        map[*yaml.Node]bool
	memo, partial  map[evaluation]value
	cycles         int
	fields         map[fieldKey]value
	templates      map[string][]jinja.Node
	renderingDepth int
	stack          []string
	steps          int
}

func newAnalysis(files Files, apis []API) *analysis {
	a := &analysis{
		files: files, paths: files.list(), custom: map[rbac.GroupKind]string{}, loaded: map[string]*yaml.Node{},
		permissions: rbac.Permissions{}, unreadable: map[string]diag.Finding{}, guesses: map[granted]diag.Position{}, pending: map[*yaml.Node]bool{}, templates: map[string][]jinja.Node{},
		places: map[*yaml.Node]place{}, facts: map[string][]thunk{}, roles: map[rbac.RoleKey]bool{}, written: map[string][]value{},
	}
	for _, api := range apis {
		a.custom[rbac.GroupKind{Group: api.Group, Kind: api.Kind}] = api.Plural
	}
	for _, name := range a.paths {
		if path.Dir(name) == "config/crd/bases" {
			a.addCRD(name)
		}
	}
	a.roleDirs = findRoles(a.paths)
	return a
}

// addCRD adds the kind of a CRD.
func (a *analysis) addCRD(name string) {
	documents, err := safeyaml.Documents[yaml.Node]([]byte(a.read(name)))
	if err != nil {
		return // reported by other commands
	}
	for _, document := range documents {
		spec := field(content(document), "spec")
		group, names := text(field(spec, "group")), field(spec, "names")
		if kind, plural := text(field(names, "kind")), text(field(names, "plural")); kind != "" && plural != "" {
			a.custom[rbac.GroupKind{Group: group, Kind: kind}] = plural
		}
	}
}

// text returns the text of a scalar, or "".
func text(node *yaml.Node) string {
	if node = content(node); node == nil || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// notef adds a note in the last pass.
func (a *analysis) notef(at diag.Position, format string, args ...any) {
	if a.final {
		a.notes.Addf(at, format, args...)
	}
}

// maxPasses is the number of passes over the files of a kind. Each pass finds values that depend on those of the pass before.
const maxPasses = 3

// analyze adds the permissions for a kind.
func (a *analysis) analyze(api API) {
	grantRuntime(a.permissions, api)
	a.api = api
	a.facts, a.roles = map[string][]thunk{}, map[rbac.RoleKey]bool{}
	a.written = map[string][]value{}
	a.arguments, a.closed = map[string]*argument{}, false
	if slices.ContainsFunc(a.paths, a.mentionsSpecification) {
		specs := newAnalysis(a.files, nil)
		all, _, found := specs.specArguments(api.Watch)
		for _, o := range all {
			a.arguments[o.name] = o
		}
		a.closed = found && len(specs.opened) == 0
	}
	for pass := 1; pass <= maxPasses; pass++ {
		a.final = pass == maxPasses
		a.resetPass()
		root := a.root()
		for _, playbook := range []string{api.Watch.Playbook, api.Watch.FinalizerPlaybook} {
			if playbook != "" {
				a.playbook(playbook, root, diag.Position{File: "watches.yaml"})
			}
		}
		if api.Watch.Playbook == "" && api.Watch.Role != "" {
			a.role(api.Watch.Role, roleOptions{}, root, diag.Position{File: "watches.yaml"})
		}
		if api.Watch.FinalizerPlaybook == "" && api.Watch.FinalizerRole != "" {
			a.role(api.Watch.FinalizerRole, roleOptions{}, root, diag.Position{File: "watches.yaml"})
		}
		a.facts = a.collected
	}
	for _, name := range slices.Sorted(maps.Keys(a.unreadable)) {
		a.notes = append(a.notes, a.unreadable[name])
	}
	clear(a.unreadable)
	if a.steps > maxSteps {
		a.notes.Addf(diag.Position{File: "watches.yaml"}, "the files for %s are too complex; the manager's role may lack permissions that they need", api.Kind)
	}
}

// resetPass removes what the pass before has evaluated.
func (a *analysis) resetPass() {
	a.collected, a.rendered, a.references = map[string][]thunk{}, map[documentKey][]bound{}, nil
	a.memo, a.partial = map[evaluation]value{}, map[evaluation]value{}
	a.fields, a.steps = map[fieldKey]value{}, 0
	a.entered, a.opened = nil, nil
}

// template returns the nodes of a template.
func (a *analysis) template(text string) []jinja.Node {
	nodes, ok := a.templates[text]
	if !ok {
		nodes = jinja.Parse(text)
		a.templates[text] = nodes
	}
	return nodes
}

// root returns the scope with the variables that the runtime sets.
func (a *analysis) root() *scope {
	s := &scope{vars: map[string]thunk{}, dir: home, playbook: home}
	for name, v := range a.api.Watch.Vars {
		s.set(name, valueOf(v, 0))
	}
	object := &dict{fields: map[string]value{
		"apiVersion": textValue(a.api.Group + "/" + a.api.Version), "kind": textValue(a.api.Kind), "spec": anything(), "metadata": anything(), "status": anything(),
	}}
	// Roles of older runtimes derive the kind from the path of the inventory.
	inventory := textValue("/tmp/ansible-operator/runner/" + path.Join(a.api.Group, a.api.Version, a.api.Kind) + "/" + unknown)
	s.set("inventory_file", inventory)
	s.set("hostvars", value{alts: []any{&dict{fields: map[string]value{
		"localhost": {alts: []any{&dict{fields: map[string]value{"inventory_file": inventory}}}},
	}}}})
	s.set(resourceVariable(a.api.Group, a.api.Kind), value{alts: []any{object}})
	return s
}

// resourceVariable returns the name of the variable with the custom resource.
func resourceVariable(group, kind string) string {
	name := []byte("_" + group + "_" + kind)
	for i, c := range name {
		switch {
		case c == '.' || c == '-':
			name[i] = '_'
		case 'A' <= c && c <= 'Z':
			name[i] = c + 'a' - 'A'
		}
	}
	return string(name)
}

// valueOf converts a decoded value.
func valueOf(v any, depth int) value {
	switch v := v.(type) {
	case nil:
		return value{alts: []any{null{}}}
	case map[string]any:
		d := &dict{fields: map[string]value{}}
		for key, child := range v {
			if depth < maxDepth {
				d.fields[key] = valueOf(child, depth+1)
			}
		}
		return value{alts: []any{d}}
	case []any:
		all := list{}
		for _, item := range v {
			if depth < maxDepth {
				all.items = append(all.items, valueOf(item, depth+1))
			}
		}
		return value{alts: []any{all}}
	default:
		return textValue(fmt.Sprint(v))
	}
}

// collect adds a value of a variable that tasks set.
func (a *analysis) collect(name string, t thunk) {
	const most = 40
	switch all := a.collected[name]; {
	case len(all) < most:
		a.collected[name] = append(all, t)
	case len(all) == most:
		a.collected[name] = append(all, thunk{ready: anything()})
	}
}

// enter adds a file to the stack of files that are being read. It reports whether the file is not in it already.
func (a *analysis) enter(name string) bool {
	if slices.Contains(a.stack, name) || len(a.stack) > maxDepth {
		return false
	}
	a.stack = append(a.stack, name)
	return true
}

func (a *analysis) leave() { a.stack = a.stack[:len(a.stack)-1] }
