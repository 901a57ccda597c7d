package ansiblerole

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// findRoles returns the directories of roles: those in a directory roles with tasks, variables or metadata.
func findRoles(paths []string) []string {
	var dirs []string
	for _, name := range paths {
		part := path.Base(path.Dir(name))
		if !slices.Contains([]string{"tasks", "meta", "defaults", "vars", "handlers", "templates"}, part) {
			continue
		}
		dir := path.Dir(path.Dir(name))
		if (strings.HasPrefix(dir, "roles/") || strings.Contains(dir, "/roles/")) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// resolveRole returns the directories of the roles that a name can be: a name, NAMESPACE.COLLECTION.ROLE or a path.
func (a *analysis) resolveRole(name string, s *scope) []string {
	var candidates []string
	if path.IsAbs(name) {
		p, ok := projectPath(name)
		if !ok {
			return nil
		}
		candidates = append(candidates, p)
	} else {
		if parts := strings.Split(name, "."); len(parts) == 3 && known(name) {
			candidates = append(candidates, "collections/ansible_collections/"+parts[0]+"/"+parts[1]+"/roles/"+parts[2])
		}
		if s.role != "" {
			if p, ok := projectPath(path.Dir(s.role)); ok {
				candidates = append(candidates, path.Join(p, name))
			}
		}
		if s.playbook != "" {
			if p, ok := projectPath(s.playbook + "/roles"); ok {
				candidates = append(candidates, path.Join(p, name))
			}
		}
		candidates = append(candidates, path.Join("roles", name), path.Clean(name))
	}
	for _, wanted := range candidates {
		var found []string
		for _, dir := range a.roleDirs {
			if matches(wanted, dir) {
				found = append(found, dir)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// roleOptions select files of a role. The default is main.
type roleOptions struct{ tasks, vars, defaults string }

// role analyzes the roles that a name can be.
func (a *analysis) role(name string, o roleOptions, s *scope, at diag.Position) {
	dirs := a.resolveRole(name, s)
	switch {
	case !known(name):
		a.open(at, s, "the role, whose name depends on variables,")
		s = s.child()
		s.inTasks = true // none of the roles is certain to be called
	case len(dirs) == 0:
		a.open(at, s, "role "+name+", which is not in the project,")
	}
	switch {
	case len(dirs) == 0 && known(name):
		a.notef(at, "role %s: not found in the project; the manager's role may lack permissions that it needs", name)
	case len(dirs) == 0:
		a.notef(at, "the name of the role depends on variables; the manager's role may lack permissions that it needs")
	case !known(name):
		a.notef(at, "the name of the role depends on variables; the rules include those of %s", diag.Count(len(dirs), "role"))
	}
	for _, dir := range dirs {
		a.roleDir(dir, o, s)
	}
}

// roleDir analyzes the role in a directory.
func (a *analysis) roleDir(dir string, o roleOptions, outer *scope) {
	if o.tasks == "" {
		o.tasks = "main"
	}
	key := "role " + dir + " " + o.tasks
	if !a.enter(key) {
		return
	}
	defer a.leave()
	s := outer.child()
	s.overridden, s.isDefaults, s.role, s.dir = true, true, home+"/"+dir, home+"/"+dir+"/tasks"
	variables := s.child()
	variables.overridden, variables.inTasks = true, true
	if meta := a.load(a.main(dir, "meta", "main")); meta != nil {
		for _, dependency := range items(field(meta, "dependencies")) {
			a.roleEntry(dependency, s, dir+"/meta/main.yml")
		}
	}
	a.roleVars(s, dir, "defaults", o.defaults)
	a.roleVars(variables, dir, "vars", o.vars)
	if !outer.inTasks {
		a.entered = append(a.entered, entryPoint{dir: dir, tasks: o.tasks, scope: variables, optional: outer.role != ""})
	}
	for _, file := range a.roleFiles(dir, "tasks", o.tasks) {
		a.taskFile(file, variables)
	}
	for _, file := range a.roleFiles(dir, "handlers", "main") {
		a.taskFile(file, variables)
	}
}

// main returns the path of a file of a role.
func (a *analysis) main(dir, subdir, name string) string {
	if files := a.roleFiles(dir, subdir, name); len(files) > 0 {
		return files[0]
	}
	return ""
}

// roleFiles returns the files of a role with a name, with or without the extension, that can have unknown parts.
func (a *analysis) roleFiles(dir, subdir, name string) []string {
	var found []string
	for _, extension := range []string{"", ".yml", ".yaml", ".json"} {
		for _, file := range a.match(home + "/" + dir + "/" + subdir + "/" + name + extension) {
			if !slices.Contains(found, file) && isYAML(file) {
				found = append(found, file)
			}
		}
	}
	return found
}

func isYAML(name string) bool {
	return slices.Contains([]string{".yml", ".yaml", ".json"}, path.Ext(name))
}

// roleVars defines the variables in files of a role: main or the named file, or all in a directory main.
func (a *analysis) roleVars(s *scope, dir, subdir, name string) {
	if name == "" {
		name = "main"
	}
	a.spend(taskSteps)
	for _, file := range append(a.roleFiles(dir, subdir, name), a.roleFiles(dir, subdir, name+"/"+unknown)...) {
		vars := a.load(file)
		s.define(vars)
		for _, child := range fields(vars) {
			a.places[child] = place{file, child.Line}
		}
		a.scan(vars, s, file)
	}
}

// roleEntry analyzes a role in a list of roles: a name, or a mapping with a name and variables.
func (a *analysis) roleEntry(entry *yaml.Node, outer *scope, file string) {
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
	for _, pattern := range a.node(name, outer).patterns() {
		a.role(pattern, roleOptions{}, s, diag.Position{File: file, Line: entry.Line})
	}
}

// playbook analyzes a playbook.
func (a *analysis) playbook(name string, outer *scope, at diag.Position) {
	files := a.match(name, outer.playbook)
	if len(files) == 0 {
		a.notef(at, "playbook %s: not found in the project; the manager's role may lack permissions that it needs", strings.ReplaceAll(name, unknown, "…"))
	}
	for _, file := range files {
		if !a.enter(file) {
			continue
		}
		for _, play := range items(a.load(file)) {
			a.play(content(play), outer, file)
		}
		a.leave()
	}
}

// play analyzes a play of a playbook.
func (a *analysis) play(play *yaml.Node, outer *scope, file string) {
	if play == nil || play.Kind != yaml.MappingNode {
		return
	}
	s := outer.child()
	s.overridden, s.playbook, s.dir = true, home+"/"+parent(file), home+"/"+parent(file)
	s.define(field(play, "vars"))
	s.withDefaults(field(play, "module_defaults"))
	for _, name := range items(field(play, "vars_files")) {
		for _, pattern := range a.node(name, s).patterns() {
			for _, found := range a.find("vars", pattern, s) {
				vars := a.load(found)
				s.define(vars)
				if hasTemplates(vars, 0) {
					a.open(diag.Position{File: found}, s, "the file")
				}
				a.scan(vars, s, found)
			}
		}
	}
	if usesVariables(without(play, "roles", "pre_tasks", "tasks", "post_tasks", "handlers")) {
		a.open(diag.Position{File: file}, s, "the playbook")
	}
	for key, child := range fields(play) {
		switch key {
		case "import_playbook", "ansible.builtin.import_playbook":
			for _, pattern := range a.node(child, s).patterns() {
				a.playbook(pattern, s, diag.Position{File: file, Line: child.Line})
			}
		case "roles":
			for _, entry := range items(child) {
				if usesVariables(content(entry)) {
					a.open(diag.Position{File: file}, s, "the playbook")
				}
				a.roleEntry(entry, s, file)
			}
		case "pre_tasks", "tasks", "post_tasks", "handlers":
			a.tasks(child, s, file)
		}
	}
}

// parent returns the directory of a file.
func parent(file string) string { return path.Dir(file) }
