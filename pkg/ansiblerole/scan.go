package ansiblerole

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansiblerole/jinja"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// conditions are the keys whose values are expressions without braces. It is constant.
var conditions = map[string]bool{"when": true, "until": true, "changed_when": true, "failed_when": true, "that": true, "var": true, "loop": true}

// A scanner finds what expressions use outside of the values that they have.
type scanner struct {
	*progress
	eval  *evaluator
	rules *rules
	// scanned are the templates that were scanned from a scope. Templates that they look up or include have its variables, too.
	scanned map[documentKey]bool
	origin  *scope
}

// scan finds the objects that the expressions of a file look up, and commands of other programs that use the cluster.
func (sc *scanner) scan(node *yaml.Node, s *scope, file string) {
	if sc.final {
		sc.scanNode(node, s, file, "", 0)
	}
}

func (sc *scanner) scanNode(node *yaml.Node, s *scope, file, key string, depth int) {
	node = content(node)
	if node == nil || depth > maxDepth || sc.spend(1) {
		return
	}
	switch node.Kind {
	case yaml.ScalarNode:
		at := diag.Position{File: file, Line: node.Line}
		if jinja.IsTemplate(node.Value) {
			sc.scanTemplate(sc.eval.templates.syntax(node.Value), s, at)
		} else if conditions[key] && strings.Contains(node.Value, "(") {
			sc.scanExpression(jinja.ParseExpression(node.Value), s, at)
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			sc.scanNode(item, s, file, key, depth+1)
		}
	case yaml.MappingNode:
		for name, child := range fields(node) {
			sc.scanNode(child, s, file, name, depth+1)
		}
	}
}

// scanTemplate finds the objects that a template looks up.
func (sc *scanner) scanTemplate(nodes []jinja.Node, s *scope, at diag.Position) {
	for _, n := range nodes {
		switch n := n.(type) {
		case jinja.Output:
			sc.scanExpression(n.Value, s, at)
		case jinja.Set:
			sc.scanExpression(n.Value, s, at)
			sc.scanTemplate(n.Body, s, at)
		case jinja.Branch:
			for _, e := range n.Conditions {
				sc.scanExpression(e, s, at)
			}
			for _, body := range n.Bodies {
				sc.scanTemplate(body, s, at)
			}
		case jinja.Loop:
			sc.scanExpression(n.Over, s, at)
			sc.scanTemplate(n.Body, s, at)
		case jinja.Block:
			sc.scanTemplate(n.Body, s, at)
		case *jinja.Macro:
			sc.scanTemplate(n.Body, s, at)
		case jinja.CallBlock:
			sc.scanExpression(n.Call, s, at)
			sc.scanTemplate(n.Caller.Body, s, at)
		case jinja.Import:
			sc.scanFiles(sc.eval.fileLookup("template", []value{sc.eval.evaluate(n.Template, s)}, s))
		case jinja.Include:
			sc.scanFiles(sc.eval.fileLookup("template", []value{sc.eval.evaluate(n.Name, s)}, s))
		}
	}
}

// scanExpression grants the permissions for the objects that an expression looks up.
func (sc *scanner) scanExpression(e jinja.Expr, s *scope, at diag.Position) {
	jinja.Walk(e, func(e jinja.Expr) {
		c, ok := e.(jinja.Call)
		if !ok {
			return
		}
		function, _ := c.Function.(jinja.Name)
		if function.Name != "lookup" && function.Name != "query" && function.Name != "q" {
			return
		}
		for _, name := range sc.eval.pluginNames(c.Arguments, s) {
			switch name {
			case "k8s":
				sc.grantLookup(c.Arguments, s, at)
			case "template":
				if len(c.Positional) > 1 {
					sc.scanFiles(sc.eval.fileLookup("template", []value{sc.eval.evaluate(c.Positional[1], s)}, s))
				}
			case "pipe":
				for _, operand := range c.Positional[1:] {
					for _, pattern := range sc.eval.evaluate(operand, s).patterns() {
						sc.command(pattern, at)
					}
				}
			case "kustomize":
				sc.notef(at, "builds objects with kustomize; the manager's role may lack permissions for them")
			}
		}
	})
}

// scanFiles finds the objects that templates look up. Each template is scanned once for the variables of a scope, as templates can refer to
// each other in many ways.
func (sc *scanner) scanFiles(v value) {
	for _, alt := range v.alts {
		if r, ok := alt.(rendered); ok {
			sc.scanFile(r)
		}
	}
}

func (sc *scanner) scanFile(r rendered) {
	outer := sc.origin
	defer func() { sc.origin = outer }()
	if outer == nil {
		sc.origin = r.scope
	}
	key := documentKey{r.file, sc.origin}
	if sc.scanned[key] || sc.spend(includeSteps) || !sc.enter("lookups in "+r.file) {
		return
	}
	defer sc.leave()
	sc.scanned[key] = true
	s := r.scope.child()
	s.dir = home + "/" + path.Dir(r.file)
	sc.scanTemplate(sc.eval.templates.syntax(sc.eval.files.read(r.file)), s, diag.Position{File: r.file})
}

// grantLookup grants the permissions of the lookup plugin k8s.
func (sc *scanner) grantLookup(arguments jinja.Arguments, s *scope, at diag.Position) {
	if _, ok := arguments.Named["cluster_info"]; ok {
		return // for all users
	}
	kind, ok := arguments.Named["kind"]
	if !ok {
		for _, name := range []string{"definition", "resource_definition", "src"} {
			if _, ok := arguments.Named[name]; ok {
				sc.notef(at, "looks up objects that a definition names; the manager's role may lack permissions to read them")
			}
		}
		return
	}
	apiVersion := textValue("v1")
	if e, ok := arguments.Named["api_version"]; ok {
		apiVersion = sc.eval.evaluate(e, s)
	}
	verbs := []string{"get", "list"}
	if e, ok := arguments.Named["resource_name"]; ok {
		if name := sc.eval.evaluate(e, s); !canBeEmpty(name) {
			verbs = []string{"get"}
		}
	}
	sc.rules.grant(sc.rules.kinds(apiVersion, sc.eval.evaluate(kind, s), at), verbs...)
}

// canBeEmpty reports whether one of the known alternatives of a value is null, omitted or an empty string.
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

// clusterCommand matches a command of a program that uses the cluster.
var clusterCommand = lazyregexp.New(`(?:^|[\s;|&("'/\x60])(kubectl|oc|helm|kustomize)[ \t]`)

// command notes a command that uses the cluster.
func (sc *scanner) command(line string, at diag.Position) {
	if match := clusterCommand.FindStringSubmatch(line); match != nil {
		sc.notef(at, "runs %s; the manager's role may lack permissions for what it does", match[1])
	}
}
