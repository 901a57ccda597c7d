package ansiblerole

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A walker follows plays, roles and tasks in the order of their execution, and every branch of them.
type walker struct {
	*progress
	files   *reader
	env     *environment
	eval    *evaluator
	modules *modules
	scanner *scanner
	// entered are the roles that a playbook or watch calls itself, and opened the places that can use any field of spec.
	entered []entryPoint
	opened  diag.Findings
}

// watched reads what a watch runs: a playbook, or else a role.
func (w *walker) watched(playbook, role string) {
	at := diag.Position{File: "watches.yaml"}
	if playbook != "" {
		w.playbook(playbook, w.env.root(), at)
	} else if role != "" {
		w.role(role, roleOptions{}, w.env.root(), at)
	}
}

// roleOptions select files of a role. The default is main.
type roleOptions struct{ tasks, vars, defaults string }

func (w *walker) role(name string, o roleOptions, s *scope, at diag.Position) {
	dirs := w.files.resolveRole(name, s)
	switch {
	case !known(name):
		w.open(at, s, "the role, whose name depends on variables,")
		s = s.child()
		s.inTasks = true // none of the roles is certain to be called
	case len(dirs) == 0:
		w.open(at, s, "role "+name+", which is not in the project,")
	}
	switch {
	case len(dirs) == 0 && known(name):
		w.notef(at, "role %s: not found in the project; the manager's role may lack permissions that it needs", name)
	case len(dirs) == 0:
		w.notef(at, "the name of the role depends on variables; the manager's role may lack permissions that it needs")
	case !known(name):
		w.notef(at, "the name of the role depends on variables; the rules cover %s", diag.Count(len(dirs), "role"))
	}
	for _, dir := range dirs {
		w.roleDir(dir, o, s)
	}
}

func (w *walker) roleDir(dir string, o roleOptions, outer *scope) {
	if o.tasks == "" {
		o.tasks = "main"
	}
	key := "role " + dir + " " + o.tasks
	if !w.enter(key) {
		return
	}
	defer w.leave()
	defer w.begin(dir, w.files.size)()
	s := outer.child()
	s.overridden, s.isDefaults, s.role, s.dir = true, true, home+"/"+dir, home+"/"+dir+"/tasks"
	variables := s.child()
	variables.overridden, variables.inTasks = true, true
	if meta := w.files.load(w.files.main(dir, "meta", "main")); meta != nil {
		for _, dependency := range items(field(meta, "dependencies")) {
			w.roleEntry(dependency, s, dir+"/meta/main.yml")
		}
	}
	w.roleVars(s, dir, "defaults", o.defaults)
	w.roleVars(variables, dir, "vars", o.vars)
	if !outer.inTasks {
		w.entered = append(w.entered, entryPoint{dir: dir, tasks: o.tasks, scope: variables, optional: outer.role != ""})
	}
	for _, file := range w.files.roleFiles(dir, "tasks", o.tasks) {
		w.taskFile(file, variables)
	}
	for _, file := range w.files.roleFiles(dir, "handlers", "main") {
		w.taskFile(file, variables)
	}
}

// roleVars defines the variables in files of a role: main or the named file, or all in a directory main.
func (w *walker) roleVars(s *scope, dir, subdir, name string) {
	if name == "" {
		name = "main"
	}
	w.spend(taskSteps)
	for _, file := range append(w.files.roleFiles(dir, subdir, name), w.files.roleFiles(dir, subdir, name+"/"+unknown)...) {
		vars := w.files.load(file)
		s.define(vars)
		for _, child := range fields(vars) {
			w.files.places[child] = place{file, child.Line}
		}
		w.scanner.scan(vars, s, file)
	}
}

// roleEntry analyzes a role in a list of roles: a name, or a mapping with a name and variables.
func (w *walker) roleEntry(entry *yaml.Node, outer *scope, file string) {
	entry = content(entry)
	if entry == nil {
		return
	}
	s := outer.child()
	name := entry
	if entry.Kind == yaml.MappingNode {
		if name = field(entry, "role", "name"); name == nil {
			return
		}
		s.define(entry)
		s.define(field(entry, "vars"))
	}
	for _, pattern := range w.eval.node(name, outer).patterns() {
		w.role(pattern, roleOptions{}, s, diag.Position{File: file, Line: entry.Line})
	}
}

func (w *walker) playbook(name string, outer *scope, at diag.Position) {
	files := w.files.match(name, outer.playbook)
	if len(files) == 0 {
		w.notef(at, "playbook %s: not found in the project; the manager's role may lack permissions that it needs", strings.ReplaceAll(name, unknown, "…"))
	}
	for _, file := range files {
		if !w.enter(file) {
			continue
		}
		w.playbookFile(file, outer)
		w.leave()
	}
}

func (w *walker) playbookFile(file string, outer *scope) {
	defer w.begin(file, w.files.size)()
	for _, play := range items(w.files.load(file)) {
		w.play(content(play), outer, file)
	}
}

func (w *walker) play(play *yaml.Node, outer *scope, file string) {
	if play == nil || play.Kind != yaml.MappingNode {
		return
	}
	s := outer.child()
	s.overridden, s.playbook, s.dir = true, home+"/"+parent(file), home+"/"+parent(file)
	s.define(field(play, "vars"))
	s.withDefaults(field(play, "module_defaults"))
	for _, name := range items(field(play, "vars_files")) {
		for _, pattern := range w.eval.node(name, s).patterns() {
			for _, found := range w.files.find("vars", pattern, s) {
				vars := w.files.load(found)
				s.define(vars)
				if hasTemplates(vars, 0) {
					w.open(diag.Position{File: found}, s, "the file")
				}
				w.scanner.scan(vars, s, found)
			}
		}
	}
	if usesVariables(without(play, "roles", "pre_tasks", "tasks", "post_tasks", "handlers")) {
		w.open(diag.Position{File: file}, s, "the playbook")
	}
	for key, child := range fields(play) {
		switch key {
		case "import_playbook", "ansible.builtin.import_playbook":
			for _, pattern := range w.eval.node(child, s).patterns() {
				w.playbook(pattern, s, diag.Position{File: file, Line: child.Line})
			}
		case "roles":
			for _, entry := range items(child) {
				if usesVariables(content(entry)) {
					w.open(diag.Position{File: file}, s, "the playbook")
				}
				w.roleEntry(entry, s, file)
			}
		case "pre_tasks", "tasks", "post_tasks", "handlers":
			w.tasks(child, s, file)
		}
	}
}

func parent(file string) string { return path.Dir(file) }

// open records that what a watch runs can use fields of spec that no argument specification has. What the tasks of a role include is a
// part of the role, which has its arguments.
func (w *walker) open(at diag.Position, s *scope, subject string) {
	if !s.inTasks {
		w.opened.Addf(at, "%s can use fields that no argument specification has; the schema of spec accepts any field", subject)
	}
}

// openTask records a task of a playbook, unless it calls a role without variables of its own.
func (w *walker) openTask(task *yaml.Node, s *scope, file string) {
	name, _ := module(task)
	if usesVariables(task) || !slices.Contains([]string{"import_role", "include_role", "meta"}, shortName(name)) {
		w.open(diag.Position{File: file}, s, "the playbook")
	}
}

// usesVariables reports whether a play or task, or a role in a play, has templates or conditions.
func usesVariables(node *yaml.Node) bool {
	return hasTemplates(node, 0) || field(node, "when", "loop", "until") != nil
}
