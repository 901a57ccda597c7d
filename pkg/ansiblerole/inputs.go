package ansiblerole

import (
	"iter"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
)

// keyValues yields the arguments in a text of the form key=value key="a value".
func keyValues(text string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
			end, quote, braces := len(text), byte(0), 0
			for i := 0; i < len(text); i++ {
				c := text[i]
				switch {
				case quote != 0:
					if c == quote {
						quote = 0
					}
				case c == '"' || c == '\'':
					quote = c
				case c == '{':
					braces++
				case c == '}':
					braces--
				case c == ' ' && braces <= 0:
					end = i
				}
				if end < len(text) {
					break
				}
			}
			key, value, ok := strings.Cut(text[:end], "=")
			text = text[end:]
			if ok && !yield(key, strings.Trim(value, `"'`)) {
				return
			}
		}
	}
}

// includeVars defines the variables of files.
func (a *analysis) includeVars(c *call) {
	v, ok := a.argument(c, "file", "_raw_params")
	if dir, isDir := a.argument(c, "dir"); isDir {
		v, ok = concat(dir, textValue("/"+unknown)), true
	}
	if !ok {
		return
	}
	for _, pattern := range v.patterns() {
		for _, file := range a.find("vars", pattern, c.scope) {
			if !isYAML(file) {
				continue
			}
			vars := a.load(file)
			a.scan(vars, c.scope, file)
			if name, ok := a.argument(c, "name"); ok {
				for _, text := range name.patterns() {
					a.collect(text, thunk{node: vars, scope: c.scope})
				}
				continue
			}
			for key, child := range fields(vars) {
				a.collect(key, thunk{node: child, scope: c.scope})
			}
		}
	}
}

// writeFile records the file that a task writes from a template or file of the project.
func (a *analysis) writeFile(c *call, module string) {
	target, ok := a.argument(c, "dest", "path")
	if !ok {
		return
	}
	source := anything()
	if v, ok := a.argument(c, "src"); ok {
		source = a.fileLookup(map[string]string{"template": "template", "copy": "file"}[module], []value{v}, c.scope)
	} else if v, ok := a.argument(c, "content"); ok {
		source = v
	}
	for _, pattern := range target.patterns() {
		if len(a.written[pattern]) < maxAlternatives {
			a.written[pattern] = append(a.written[pattern], source)
		}
	}
}

// conditions are the keys whose values are expressions without braces. It is constant.
var conditions = map[string]bool{"when": true, "until": true, "changed_when": true, "failed_when": true, "that": true, "var": true, "loop": true}

// scan finds the objects that the expressions of a file look up, and commands of other programs that use the cluster.
func (a *analysis) scan(node *yaml.Node, s *scope, file string) {
	if a.final {
		a.scanNode(node, s, file, "", 0)
	}
}

func (a *analysis) scanNode(node *yaml.Node, s *scope, file, key string, depth int) {
	node = content(node)
	if node == nil || depth > maxDepth || a.spend(1) {
		return
	}
	switch node.Kind {
	case yaml.ScalarNode:
		at := diag.Position{File: file, Line: node.Line}
		if jinja.IsTemplate(node.Value) {
			a.scanTemplate(a.template(node.Value), s, at)
		} else if conditions[key] && strings.Contains(node.Value, "(") {
			a.scanExpression(jinja.ParseExpression(node.Value), s, at)
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			a.scanNode(item, s, file, key, depth+1)
		}
	case yaml.MappingNode:
		for name, child := range fields(node) {
			a.scanNode(child, s, file, name, depth+1)
		}
	}
}

// scanTemplate finds the objects that a template looks up.
func (a *analysis) scanTemplate(nodes []jinja.Node, s *scope, at diag.Position) {
	for _, n := range nodes {
		switch n := n.(type) {
		case jinja.Output:
			a.scanExpression(n.Value, s, at)
		case jinja.Set:
			a.scanExpression(n.Value, s, at)
			a.scanTemplate(n.Body, s, at)
		case jinja.Branch:
			for _, e := range n.Conditions {
				a.scanExpression(e, s, at)
			}
			for _, body := range n.Bodies {
				a.scanTemplate(body, s, at)
			}
		case jinja.Loop:
			a.scanExpression(n.Over, s, at)
			a.scanTemplate(n.Body, s, at)
		case jinja.Block:
			a.scanTemplate(n.Body, s, at)
		case jinja.Include:
			a.scanFiles(a.fileLookup("template", []value{a.eval(n.Name, s)}, s))
		}
	}
}

// scanExpression grants the permissions for the objects that an expression looks up.
func (a *analysis) scanExpression(e jinja.Expr, s *scope, at diag.Position) {
	jinja.Walk(e, func(e jinja.Expr) {
		c, ok := e.(jinja.Call)
		if !ok {
			return
		}
		function, _ := c.Function.(jinja.Name)
		if function.Name != "lookup" && function.Name != "query" && function.Name != "q" {
			return
		}
		for _, name := range a.pluginNames(c.Arguments, s) {
			switch name {
			case "k8s":
				a.grantLookup(c.Arguments, s, at)
			case "template":
				if len(c.Positional) > 1 {
					a.scanFiles(a.fileLookup("template", []value{a.eval(c.Positional[1], s)}, s))
				}
			case "pipe":
				for _, operand := range c.Positional[1:] {
					for _, pattern := range a.eval(operand, s).patterns() {
						a.command(pattern, at)
					}
				}
			case "kustomize":
				a.notef(at, "builds objects with kustomize; the manager's role may lack permissions for them")
			}
		}
	})
}

// scanFiles finds the objects that templates look up.
func (a *analysis) scanFiles(v value) {
	for _, alt := range v.alts {
		if r, ok := alt.(rendered); ok && !a.spend(includeSteps) && a.enter("lookups in "+r.file) {
			s := r.scope.child()
			s.dir = home + "/" + path.Dir(r.file)
			a.scanTemplate(a.template(a.read(r.file)), s, diag.Position{File: r.file})
			a.leave()
		}
	}
}

// grantLookup grants the permissions of the lookup plugin k8s.
func (a *analysis) grantLookup(arguments jinja.Arguments, s *scope, at diag.Position) {
	if _, ok := arguments.Named["cluster_info"]; ok {
		return // for all users
	}
	kind, ok := arguments.Named["kind"]
	if !ok {
		for _, name := range []string{"definition", "resource_definition", "src"} {
			if _, ok := arguments.Named[name]; ok {
				a.notef(at, "looks up objects that a definition names; the manager's role may lack permissions to read them")
			}
		}
		return
	}
	apiVersion := textValue("v1")
	if e, ok := arguments.Named["api_version"]; ok {
		apiVersion = a.eval(e, s)
	}
	verbs := []string{"get", "list"}
	if e, ok := arguments.Named["resource_name"]; ok {
		if name := a.eval(e, s); !canBeEmpty(name) {
			verbs = []string{"get"}
		}
	}
	a.grant(a.kinds(apiVersion, a.eval(kind, s), at), verbs...)
}

// canBeEmpty reports whether a value can be null or an empty text or omitted, as far as it is known.
func canBeEmpty(v value) bool {
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case string:
			if alt == "" {
				return true
			}
		case null, omitted:
			return true
		}
	}
	return false
}
