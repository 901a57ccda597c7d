package ansiblerole

import (
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A literalReader finds the kinds that are literal in the files of roles and playbooks, and of those that they include. It takes all
// variables for unknown, and reads each file once, so that the effort grows with the size of the files only.
type literalReader struct {
	*analysis
	*modules
	// queue are directories of roles, playbooks and task files. Each is read once.
	queue []string
}

// anyVerbs are the verbs for objects if it isn't known what tasks do with them.
var anyVerbs = []string{"create", "delete", "get", "list", "patch", "watch"}

// grantLiterals adds the permissions for the kinds that are literal in the roles and playbooks that were not analyzed completely.
func (a *analysis) grantLiterals() {
	p := &progress{budgets: newBudgets(), final: true} // whose notes say what the finding says
	p.reset(a.files.size(""))
	eval := newEvaluator(a.files, a.env, p)
	eval.literal = true
	eval.reset()
	rules := *a.rules
	rules.progress, rules.eval = p, eval
	sc := &scanner{progress: p, eval: eval, rules: &rules, scanned: map[documentKey]bool{}}
	l := &literalReader{a, &modules{progress: p, eval: eval, rules: &rules, scanner: sc}, slices.Sorted(maps.Keys(a.skipped.owners))}
	for i := 0; i < len(l.queue); i++ {
		l.owner(l.queue[i])
	}
}

// follow adds what a task or play includes to the queue.
func (l *literalReader) follow(names []string) {
	for _, name := range names {
		isRead := func(owner string) bool { return name == owner || strings.HasPrefix(name, owner+"/") }
		if !slices.ContainsFunc(l.queue, isRead) {
			l.queue = append(l.queue, name)
		}
	}
}

// owner reads the files of a role, a playbook or a task file.
func (l *literalReader) owner(owner string) {
	s := l.env.root()
	if slices.Contains(l.files.roleDirs, owner) {
		s.role = home + "/" + owner
	} else {
		s.playbook = home + "/" + path.Dir(owner)
	}
	var templates []string
	for _, name := range l.files.paths {
		if name != owner && !strings.HasPrefix(name, owner+"/") {
			continue
		}
		part, _, isNested := strings.Cut(strings.TrimPrefix(name, owner+"/"), "/")
		switch {
		case isNested && part == "templates":
			templates = append(templates, name)
		case isYAML(name) && part != "files" && part != "molecule":
			inner := s.child()
			inner.dir = home + "/" + path.Dir(name)
			l.node(l.files.load(name), inner, name, 0)
		}
	}
	for _, name := range templates {
		if !l.modules.eval.templates.isRendered(name) {
			for _, b := range l.modules.eval.templates.documents(rendered{name, s}) {
				l.object(b, diag.Position{File: name, Line: b.node.Line})
			}
		}
	}
}

// node finds tasks, objects and the names of other files in a node.
func (l *literalReader) node(node *yaml.Node, s *scope, file string, depth int) {
	if node = content(node); node == nil || depth > maxDepth || l.modules.isSpent() {
		return
	}
	at := diag.Position{File: file, Line: node.Line}
	switch {
	case node.Kind == yaml.ScalarNode && strings.Contains(node.Value, "kind:"):
		for _, b := range l.modules.eval.templates.textDocuments(node.Value, s, file, node.Line) {
			l.object(b, at)
		}
	case node.Kind == yaml.MappingNode && field(node, "kind") != nil && field(node, "apiVersion") != nil:
		l.object(bound{node, s}, at)
	case node.Kind == yaml.MappingNode && field(node, "block") == nil && l.task(node, s, at):
	default:
		for _, child := range node.Content {
			l.node(child, s, file, depth+1)
		}
	}
}

// task reads a task, a play or an item of a list of roles. It reports whether the node is a task that uses the cluster.
func (l *literalReader) task(node *yaml.Node, s *scope, at diag.Position) bool {
	for _, key := range []string{"roles", "dependencies"} {
		for _, entry := range items(field(node, key)) {
			if entry = content(entry); entry != nil && entry.Kind == yaml.MappingNode {
				entry = field(entry, "role", "name")
			}
			l.followRole(l.modules.eval.node(entry, s), s)
		}
	}
	name, arguments := module(node)
	c := &call{eval: l.modules.eval, name: name, arguments: arguments, task: node, scope: s, at: at}
	switch name = shortName(name); name {
	case "":
		return false
	case "include_role", "import_role":
		v, _ := c.argument("name", "role")
		l.followRole(v, s)
	case "include_tasks", "import_tasks", "include":
		for _, pattern := range c.taskFiles().patterns() {
			l.follow(slices.DeleteFunc(l.files.find("tasks", pattern, s), func(file string) bool { return !isYAML(file) }))
		}
	case "import_playbook":
		l.follow(l.files.match(text(arguments), s.playbook))
	}
	l.scanner.scan(node, s, at.File)
	l.kubernetes(c, name)
	return strings.HasPrefix(name, "k8s")
}

func (l *literalReader) followRole(v value, s *scope) {
	for _, pattern := range v.patterns() {
		l.follow(l.files.resolveRole(pattern, s))
	}
}

// object adds the permissions for an object of a variable or template.
func (l *literalReader) object(b bound, at diag.Position) {
	if text(field(b.node, "kind")) != "" {
		l.modules.rules.object(value{alts: []any{b}}, anyVerbs, true, at, 0)
	}
}

// isRendered reports whether a file has been rendered from any scope.
func (t *templates) isRendered(file string) bool {
	for key := range t.objects {
		if key.file == file {
			return true
		}
	}
	return false
}
