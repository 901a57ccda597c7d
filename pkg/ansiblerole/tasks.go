package ansiblerole

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

func (w *walker) taskFile(file string, outer *scope) {
	if w.spend(taskSteps) {
		w.skip(diag.Position{File: file}, "")
		return
	}
	if !w.enter(file) {
		return
	}
	defer w.leave()
	s := outer.child()
	s.dir = home + "/" + parent(file)
	w.tasks(w.files.load(file), s, file)
}

// taskSteps are the steps of a task and of a file, in addition to their expressions.
const taskSteps = 30

// tasks analyzes a list of tasks and blocks.
func (w *walker) tasks(tasks *yaml.Node, s *scope, file string) {
	for _, task := range items(tasks) {
		if task = content(task); task == nil || task.Kind != yaml.MappingNode {
			continue
		}
		at := diag.Position{File: file, Line: task.Line}
		if w.spend(taskSteps) {
			w.skip(at, "and the tasks after it")
			return
		}
		end := w.beginTask(at)
		w.task(task, s, file)
		end()
	}
}

// task analyzes a task for each item of its loop.
func (w *walker) task(task *yaml.Node, outer *scope, file string) {
	s := outer.child()
	s.define(field(task, "vars"))
	s.withDefaults(field(task, "module_defaults"))
	if block := field(task, "block"); block != nil {
		if len(w.stack) > maxDepth {
			return
		}
		w.stack = append(w.stack, "")
		for _, key := range []string{"block", "rescue", "always"} {
			w.tasks(field(task, key), s, file)
		}
		w.leave()
		block := without(task, "block", "rescue", "always")
		w.scanner.scan(block, s, file)
		if usesVariables(block) {
			w.open(diag.Position{File: file}, s, "the playbook")
		}
		return
	}
	w.scanner.scan(task, s, file)
	w.openTask(task, s, file)
	name, arguments := module(task)
	if name == "" {
		return
	}
	for _, inner := range w.loops(task, s) {
		w.run(&call{eval: w.eval, name: name, arguments: arguments, task: task, scope: inner, at: diag.Position{File: file, Line: task.Line}})
	}
}

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

func (w *walker) loops(task *yaml.Node, s *scope) []*scope {
	name := "item"
	if variable := text(field(field(task, "loop_control"), "loop_var")); variable != "" {
		name = variable
	}
	over, found := value{}, false
	for key, child := range fields(task) {
		plugin, isWith := strings.CutPrefix(key, "with_")
		switch {
		case key == "loop":
			over, found = w.eval.node(child, s), true
		case isWith:
			over, found = w.eval.with(shortName(plugin), w.eval.node(child, s), s), true
		}
	}
	if !found {
		return []*scope{s}
	}
	all := w.eval.itemsOf(over)
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

func (w *walker) run(c *call) {
	switch name := shortName(c.name); name {
	case "include_tasks", "import_tasks", "include":
		w.includeTasks(c)
	case "include_role", "import_role":
		o := roleOptions{}
		for key, option := range map[string]*string{"tasks_from": &o.tasks, "vars_from": &o.vars, "defaults_from": &o.defaults} {
			if v, ok := c.argument(key); ok {
				if *option = unknown; len(v.patterns()) == 1 {
					*option = v.patterns()[0]
				}
			}
		}
		v, _ := c.argument("name", "role")
		for _, pattern := range v.patterns() {
			w.role(pattern, o, c.scope, c.at)
		}
	case "include_vars":
		w.includeVars(c)
	case "set_fact":
		for key, child := range fields(c.arguments) {
			w.env.collect(key, thunk{node: child, scope: c.scope})
		}
	case "template", "copy":
		w.writeFile(c, name)
	default:
		w.modules.kubernetes(c, name)
	}
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

func (w *walker) includeTasks(c *call) {
	v := c.taskFiles()
	if apply := field(c.arguments, "apply"); apply != nil {
		c.scope = c.scope.child()
		c.scope.define(field(apply, "vars"))
	}
	for _, pattern := range v.patterns() {
		files := slices.DeleteFunc(w.files.find("tasks", pattern, c.scope), func(file string) bool {
			return !isYAML(file) || !known(pattern) && slices.Contains(strings.Split(path.Dir(file), "/"), "templates")
		})
		switch {
		case len(files) == 0 && known(pattern):
			w.notef(c.at, "task file %s: not found in the project; the manager's role may lack permissions that it needs", pattern)
		case !known(pattern):
			w.notef(c.at, "the name of the task file depends on variables; the rules cover %s", diag.Count(len(files), "file"))
		}
		for _, file := range files {
			w.taskFile(file, c.scope)
		}
	}
}

// includeVars defines the variables of files.
func (w *walker) includeVars(c *call) {
	v, ok := c.argument("file", "_raw_params")
	if dir, isDir := c.argument("dir"); isDir {
		v, ok = concat(dir, textValue("/"+unknown)), true
	}
	if !ok {
		return
	}
	for _, pattern := range v.patterns() {
		for _, file := range w.files.find("vars", pattern, c.scope) {
			if !isYAML(file) {
				continue
			}
			vars := w.files.load(file)
			w.scanner.scan(vars, c.scope, file)
			if name, ok := c.argument("name"); ok {
				for _, text := range name.patterns() {
					w.env.collect(text, thunk{node: vars, scope: c.scope})
				}
				continue
			}
			for key, child := range fields(vars) {
				w.env.collect(key, thunk{node: child, scope: c.scope})
			}
		}
	}
}

// writeFile records the file that a task writes from a template or file of the project.
func (w *walker) writeFile(c *call, module string) {
	target, ok := c.argument("dest", "path")
	if !ok {
		return
	}
	source := anything()
	if v, ok := c.argument("src"); ok {
		source = w.eval.fileLookup(map[string]string{"template": "template", "copy": "file"}[module], []value{v}, c.scope)
	} else if v, ok := c.argument("content"); ok {
		source = v
	}
	for _, pattern := range target.patterns() {
		if len(w.env.written[pattern]) < maxAlternatives {
			w.env.written[pattern] = append(w.env.written[pattern], source)
		}
	}
}
