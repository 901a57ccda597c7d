package ansiblerole

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// taskFile analyzes a file with tasks.
func (a *analysis) taskFile(file string, outer *scope) {
	if a.spend(taskSteps) || !a.enter(file) {
		return
	}
	defer a.leave()
	s := outer.child()
	s.dir = home + "/" + parent(file)
	a.tasks(a.load(file), s, file)
}

// taskSteps are the steps of a task and of a file, in addition to those of their expressions.
const taskSteps = 30

// tasks analyzes a list of tasks and blocks.
func (a *analysis) tasks(tasks *yaml.Node, s *scope, file string) {
	for _, task := range items(tasks) {
		if task = content(task); task != nil && task.Kind == yaml.MappingNode && !a.spend(taskSteps) {
			a.task(task, s, file)
		}
	}
}

// task analyzes a task for each item of its loop.
func (a *analysis) task(task *yaml.Node, outer *scope, file string) {
	s := outer.child()
	s.define(field(task, "vars"))
	s.withDefaults(field(task, "module_defaults"))
	if block := field(task, "block"); block != nil {
		if len(a.stack) > maxDepth {
			return
		}
		a.stack = append(a.stack, "")
		for _, key := range []string{"block", "rescue", "always"} {
			a.tasks(field(task, key), s, file)
		}
		a.leave()
		block := without(task, "block", "rescue", "always")
		a.scan(block, s, file)
		if usesVariables(block) {
			a.open(diag.Position{File: file}, s, "the playbook")
		}
		return
	}
	a.scan(task, s, file)
	a.openTask(task, s, file)
	name, arguments := module(task)
	if name == "" {
		return
	}
	for _, inner := range a.loops(task, s) {
		a.run(&call{name: name, arguments: arguments, task: task, scope: inner, at: diag.Position{File: file, Line: task.Line}})
	}
}

// without returns a mapping without keys.
func without(node *yaml.Node, keys ...string) *yaml.Node {
	copied := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: node.Line}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if !slices.Contains(keys, node.Content[i].Value) {
			copied.Content = append(copied.Content, node.Content[i], node.Content[i+1])
		}
	}
	return copied
}

// keywords are the keys of tasks that are not modules. It is constant.
var keywords = strings.Fields("any_errors_fatal args async become become_exe become_flags become_method become_user changed_when check_mode " +
	"collections connection debugger delay delegate_facts delegate_to diff environment failed_when ignore_errors ignore_unreachable loop " +
	"loop_control module_defaults name no_log notify listen poll port register remote_user retries run_once tags throttle timeout until vars " +
	"when action local_action")

// module returns the name of the module of a task, and its arguments.
func module(task *yaml.Node) (name string, arguments *yaml.Node) {
	for key, child := range fields(task) {
		switch {
		case key == "action" || key == "local_action":
			if child != nil && child.Kind == yaml.MappingNode {
				return text(field(child, "module")), child
			}
			name, rest, _ := strings.Cut(strings.TrimSpace(text(child)), " ")
			return name, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: rest, Line: task.Line}
		case slices.Contains(keywords, key) || strings.HasPrefix(key, "with_"):
		default:
			return key, child
		}
	}
	return "", nil
}

// maxItems is the number of items of a loop for which a task is analyzed separately.
const maxItems = 60

// loops returns the scopes of a task for the items of its loop.
func (a *analysis) loops(task *yaml.Node, s *scope) []*scope {
	name := "item"
	if variable := text(field(field(task, "loop_control"), "loop_var")); variable != "" {
		name = variable
	}
	over, found := value{}, false
	for key, child := range fields(task) {
		plugin, isWith := strings.CutPrefix(key, "with_")
		switch {
		case key == "loop":
			over, found = a.node(child, s), true
		case isWith:
			over, found = a.with(shortName(plugin), a.node(child, s), s), true
		}
	}
	if !found {
		return []*scope{s}
	}
	all := a.itemsOf(over)
	values := all.items
	if len(values) > maxItems {
		values = []value{union(values...)}
	}
	if !all.complete || len(values) == 0 {
		values = append(values, value{open: true, alts: []any{}})
	}
	var scopes []*scope
	for _, item := range values {
		inner := s.child()
		inner.set(name, item)
		inner.set("ansible_loop_var", textValue(name))
		scopes = append(scopes, inner)
	}
	return scopes
}

// with returns the list of a loop with a plugin.
func (a *analysis) with(plugin string, of value, s *scope) value {
	switch plugin {
	case "items", "list", "flattened", "first_found", "indexed_items":
		return a.flatten(of)
	case "dict":
		return a.pairs(of, true)
	case "fileglob":
		return a.globs(a.itemsOf(of).items, s)
	case "nested", "cartesian", "together":
		var parts []value
		for _, part := range a.itemsOf(of).items {
			parts = append(parts, union(a.itemsOf(part).items...))
		}
		return value{alts: []any{list{[]value{{alts: []any{list{parts}}}}}}, open: of.open}
	}
	return anything()
}

// A call is a call of a module.
type call struct {
	name      string
	arguments *yaml.Node
	task      *yaml.Node
	scope     *scope
	at        diag.Position
}

// run analyzes a call of a module.
func (a *analysis) run(c *call) {
	switch name := shortName(c.name); name {
	case "include_tasks", "import_tasks", "include":
		a.includeTasks(c)
	case "include_role", "import_role":
		o := roleOptions{}
		for key, option := range map[string]*string{"tasks_from": &o.tasks, "vars_from": &o.vars, "defaults_from": &o.defaults} {
			if v, ok := a.argument(c, key); ok {
				if *option = unknown; len(v.patterns()) == 1 {
					*option = v.patterns()[0]
				}
			}
		}
		v, _ := a.argument(c, "name", "role")
		for _, pattern := range v.patterns() {
			a.role(pattern, o, c.scope, c.at)
		}
	case "include_vars":
		a.includeVars(c)
	case "set_fact":
		for key, child := range fields(c.arguments) {
			a.collect(key, thunk{node: child, scope: c.scope})
		}
	case "template", "copy":
		a.writeFile(c, name)
	default:
		a.kubernetes(c, name)
	}
}

// argument returns the first of several arguments of a call that is given. Arguments can be in a text: key=value.
func (a *analysis) argument(c *call, names ...string) (value, bool) {
	for _, name := range names {
		node, s := a.argumentNode(c, name)
		if node != nil {
			if v := a.node(node, s); !slices.ContainsFunc(v.alts, isOmitted) || len(v.alts) > 1 {
				return v, true
			}
		}
	}
	return value{}, false
}

func isOmitted(alt any) bool {
	_, ok := alt.(omitted)
	return ok
}

// argumentNode returns an argument of a call with the scope to evaluate it in, or nil.
func (a *analysis) argumentNode(c *call, name string) (*yaml.Node, *scope) {
	arguments := content(c.arguments)
	if arguments != nil && arguments.Kind == yaml.ScalarNode {
		for key, text := range keyValues(arguments.Value) {
			if key == name {
				return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: arguments.Line}, c.scope
			}
		}
		if (name == "_raw_params" || name == "file") && !strings.HasPrefix(arguments.Value, "file=") {
			return arguments, c.scope
		}
	}
	if node := field(arguments, name); node != nil {
		return node, c.scope
	}
	if node := field(field(c.task, "args"), name); node != nil {
		return node, c.scope
	}
	for _, key := range []string{c.name, shortName(c.name), "group/k8s", "group/kubernetes.core.k8s", "group/community.kubernetes.k8s"} {
		if strings.HasPrefix(key, "group/") && !strings.HasPrefix(shortName(c.name), "k8s") {
			continue
		}
		if t, ok := c.scope.defaults[key]; ok {
			if node := field(t.node, name); node != nil {
				return node, t.scope
			}
		}
	}
	return nil, nil
}

// withDefaults adds module_defaults.
func (s *scope) withDefaults(defaults *yaml.Node) {
	if defaults == nil {
		return
	}
	merged := map[string]thunk{}
	for key, t := range s.defaults {
		merged[key] = t
	}
	for key, child := range fields(defaults) {
		merged[key] = thunk{node: child, scope: s}
	}
	s.defaults = merged
}

// includeTasks analyzes the files of an include.
func (a *analysis) includeTasks(c *call) {
	v, _ := a.argument(c, "file", "_raw_params")
	if arguments := content(c.arguments); arguments != nil && arguments.Kind == yaml.ScalarNode {
		name, _, _ := strings.Cut(arguments.Value, " ")
		if strings.Contains(arguments.Value, "{{") {
			name = arguments.Value
		}
		v = a.text(name, c.scope)
	}
	if apply := field(c.arguments, "apply"); apply != nil {
		c.scope = c.scope.child()
		c.scope.define(field(apply, "vars"))
	}
	for _, pattern := range v.patterns() {
		files := slices.DeleteFunc(a.find("tasks", pattern, c.scope), func(file string) bool {
			return !isYAML(file) || !known(pattern) && slices.Contains(strings.Split(path.Dir(file), "/"), "templates")
		})
		switch {
		case len(files) == 0 && known(pattern):
			a.notef(c.at, "task file %s: not found in the project; the manager's role may lack permissions that it needs", pattern)
		case !known(pattern):
			a.notef(c.at, "the name of the task file depends on variables; the rules include those of %s", diag.Count(len(files), "file"))
		}
		for _, file := range files {
			a.taskFile(file, c.scope)
		}
	}
}
