package refactor

import (
	"go/ast"
	"go/format"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const (
	managerFile = "config/manager/manager.yaml"
	bindingFile = "config/rbac/role_binding.yaml"
)

// placeScope makes the changes of a file that another tool wrote, in which the lines around them differ: it finds
// their places by what the code there means. It returns what is left.
func placeScope(name, text string, clashes []clash) (string, []clash) {
	var insert func(text string, lines []string) (string, bool)
	remove := cutBlock
	switch {
	case path.Base(name) == "Makefile":
		insert = insertVariable
	case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
		insert, remove = insertGo, cutGo
	case name == managerFile:
		insert = insertEnv
	default:
		return text, clashes
	}
	formatted, crlf := gosource.IsFormatted([]byte(text)), strings.Contains(text, "\r\n")
	var left []clash
	// Imports come first in a file, and whether they are used shows last.
	for _, c := range slices.Backward(clashes) {
		placed, ok := text, false
		switch {
		case len(c.was) == 0:
			placed, ok = insert(text, c.is)
		case len(c.is) == 0:
			placed, ok = remove(text, c.was)
		case len(c.was) == 1 && len(c.is) == 1:
			placed, ok = changeCommand(text, c.was[0], c.is[0])
		}
		if !ok {
			left = append([]clash{c}, left...)
			continue
		}
		text = placed
	}
	if name == managerFile {
		text = string(scaffold.WithoutEmptyEnv([]byte(text)))
	}
	if source, err := format.Source([]byte(text)); formatted && err == nil {
		text = string(source)
	}
	if crlf {
		text = strings.ReplaceAll(strings.Join(lines(text), "\n"), "\n", "\r\n")
	}
	return text, left
}

// spaced is a line with single spaces: gofmt aligns values, and lists in YAML are indented in several ways.
func spaced(line string) string { return strings.Join(strings.Fields(line), " ") }

// findBlock finds the only place with the lines of a block, whatever their spaces. Blank lines around it belong to it
// where they are there.
func findBlock(all, block []string) (from, to int, ok bool) {
	want := strings.Split(strings.TrimSpace(strings.Join(mapped(block, spaced), "\n")), "\n")
	found := 0
	for i := 0; i+len(want) <= len(all); i++ {
		if slices.Equal(mapped(all[i:i+len(want)], spaced), want) {
			from, to = i, i+len(want)
			found++
		}
	}
	return from, to, found == 1
}

func mapped(lines []string, change func(string) string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = change(line)
	}
	return out
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// cutBlock removes a block of lines, with the blank line below it if one is above it too.
func cutBlock(text string, block []string) (string, bool) {
	all := lines(text)
	from, to, ok := findBlock(all, block)
	if !ok {
		return text, false
	}
	if to < len(all)-1 && isBlank(all[to]) && (isBlank(block[len(block)-1]) || from > 0 && isBlank(all[from-1])) {
		to++
	}
	return strings.Join(slices.Delete(all, from, to), "\n"), true
}

func insertLines(text string, at int, block []string) string {
	return strings.Join(slices.Insert(lines(text), at, block...), "\n")
}

// changeCommand gives the command of a recipe that runs a program, such as "go run ./cmd/main.go", the prefix that it
// has in is instead of the one in was.
func changeCommand(text, was, is string) (string, bool) {
	const run = "go run "
	oldPrefix, _, ok := strings.Cut(was, run)
	newPrefix, _, _ := strings.Cut(is, run)
	all := lines(text)
	if !ok || slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, newPrefix+run) }) {
		return text, ok
	}
	at := slices.IndexFunc(all, func(line string) bool { return strings.HasPrefix(line, oldPrefix+run) })
	if at < 0 {
		return text, false
	}
	all[at] = newPrefix + strings.TrimPrefix(all[at], oldPrefix)
	return strings.Join(all, "\n"), true
}

// insertVariable puts a variable of a makefile above the target run, which uses it.
func insertVariable(text string, block []string) (string, bool) {
	all := lines(text)
	at := slices.IndexFunc(all, func(line string) bool { return strings.HasPrefix(line, "run:") })
	if at < 0 {
		return text, false
	}
	for at > 0 && (strings.HasPrefix(all[at-1], "#") || strings.HasPrefix(all[at-1], ".PHONY:")) {
		at--
	}
	return insertLines(text, at, append(slices.Clone(block), "")), true
}

// goProgram is a Go file that creates a manager.
type goProgram struct {
	*gosource.File
	main *ast.FuncDecl
	// options is the only literal of the manager's options, created the statement of main with it.
	options *ast.CompositeLit
	created ast.Stmt
}

func parseProgram(text string) (*goProgram, bool) {
	file, err := gosource.Parse("", []byte(text))
	if err != nil {
		return nil, false
	}
	p := &goProgram{File: file}
	for _, decl := range p.AST.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			p.main = f
		}
	}
	if p.main == nil {
		return nil, false
	}
	found := 0
	for _, stmt := range p.main.Body.List {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok && p.isOptions(literal.Type) {
				p.options, p.created = literal, stmt
				found++
			}
			return true
		})
	}
	return p, found == 1
}

// isOptions reports whether a type is that of a manager's options.
func (p *goProgram) isOptions(expr ast.Expr) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Options" {
		return false
	}
	id, ok := selector.X.(*ast.Ident)
	return ok && slices.ContainsFunc(p.AST.Imports, func(spec *ast.ImportSpec) bool {
		return p.ImportName(spec) == id.Name && (gosource.ImportPath(spec) == "sigs.k8s.io/controller-runtime" || gosource.ImportPath(spec) == "sigs.k8s.io/controller-runtime/pkg/manager")
	})
}

// above is the index of the line of a node, or of the first of the comments right above it.
func (p *goProgram) above(n ast.Node) int {
	line := p.Line(n.Pos())
	for _, group := range slices.Backward(p.AST.Comments) {
		if p.Line(group.End()) == line-1 {
			line = p.Line(group.Pos())
		}
	}
	return line - 1
}

// insertGo puts a block of main.go where it belongs: an import among the others, a function above main, the first field
// of the manager's options below the one there, statements above those that make the manager.
func insertGo(text string, block []string) (string, bool) {
	p, ok := parseProgram(text)
	if !ok {
		return text, false
	}
	field := strings.HasPrefix(block[0], "\t\t")
	switch {
	case strings.HasSuffix(block[0], `"`):
		return p.insertImports(text, block)
	case !strings.HasPrefix(block[0], "\t"):
		return insertLines(text, p.above(p.main), block), true
	case !field:
		return insertLines(text, p.above(p.created), block), true
	case len(p.options.Elts) == 0 || p.Line(p.options.Elts[0].Pos()) == p.Line(p.options.Pos()):
		return text, false
	}
	for _, element := range p.options.Elts {
		pair, _ := element.(*ast.KeyValueExpr)
		if pair == nil {
			return text, false
		}
		if key, ok := pair.Key.(*ast.Ident); !ok || slices.Contains([]string{"Cache", "NewCache", "Namespace"}, key.Name) {
			return text, false // the namespaces are chosen in another way
		}
	}
	return insertLines(text, p.Line(p.options.Elts[0].End()), block), true
}

// insertImports puts each import below the one that sorts before it, among those of its kind.
func (p *goProgram) insertImports(text string, block []string) (string, bool) {
	for _, line := range slices.Backward(block) {
		added, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			return text, false
		}
		at := 0
		best := ""
		for _, spec := range p.AST.Imports {
			if have := gosource.ImportPath(spec); gosource.IsStandard(have) == gosource.IsStandard(added) && have < added && have >= best && spec.Pos() > p.AST.Name.End() {
				best, at = have, p.Line(spec.Pos())
			}
		}
		if at == 0 {
			return text, false
		}
		text = insertLines(text, at, []string{line})
	}
	return text, true
}

// cutGo removes a block of main.go. Imports that the rest of the file uses stay.
func cutGo(text string, block []string) (string, bool) {
	imported, err := strconv.Unquote(strings.TrimSpace(block[0]))
	if err != nil {
		return cutBlock(text, block)
	}
	p, ok := parseProgram(text)
	if !ok {
		return text, false
	}
	if p.UsedQualifiers(p.AST)[gosource.PackageName(imported)] {
		return text, true
	}
	return cutBlock(text, block)
}

// insertEnv adds variables to the container manager of the only Deployment of a manifest.
func insertEnv(text string, block []string) (string, bool) {
	container := managerContainer(text)
	if container == nil {
		return text, false
	}
	indent, at := container.Column-1, 0
	if env := fieldOf(container, "env"); env == nil {
		at = fieldOf(container, "name").Line
		block = append([]string{"env:"}, outdented(block)...)
	} else {
		if env.Kind != yaml.SequenceNode || env.Style&yaml.FlowStyle != 0 || len(env.Content) == 0 {
			return text, false
		}
		// The list's own line is the one above its first item and the comments there.
		for at = env.Line - 1; spaced(lines(text)[at-1]) != "env:"; at-- {
			if !strings.HasPrefix(spaced(lines(text)[at-1]), "#") {
				return text, false
			}
		}
		indent = env.Column - 1
		block = outdented(block)
	}
	return insertLines(text, at, mapped(block, func(line string) string { return strings.Repeat(" ", indent) + line })), true
}

// scopeVariable holds the namespaces that a manager watches.
const scopeVariable = "WATCH_NAMESPACE"

// switchVariable gives the variable with the namespaces to watch the manager's own namespace, or none, for programs of
// other tools that read the variable in either scope: to them none means all namespaces. It reports whether it did.
func switchVariable(tree *worktree.Tree, on bool) bool {
	data, err := tree.ReadFile(managerFile)
	if err != nil {
		return false
	}
	name := "- name: " + scopeVariable
	none := []string{`value: ""`}
	own := []string{"valueFrom:", "  fieldRef:", "    fieldPath: metadata.namespace"}
	was, is := own, none
	if on {
		was, is = none, own
	}
	all := strings.Split(string(data), "\n")
	from, to, ok := findBlock(all, append([]string{name}, was...))
	if !ok {
		return false
	}
	indent, _, _ := strings.Cut(all[from+1], strings.TrimSpace(was[0]))
	end := all[to-1][len(strings.TrimRight(all[to-1], "\r")):]
	all = slices.Replace(all, from+1, to, mapped(is, func(line string) string { return indent + line + end })...)
	tree.WriteFile(managerFile, []byte(strings.Join(all, "\n")), 0o644)
	return true
}

// managerContainer returns the container manager of the only Deployment of a manifest, or nil.
func managerContainer(text string) *yaml.Node {
	var found *yaml.Node
	decoder := safeyaml.NewDecoder([]byte(text))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			return found
		}
		if len(doc.Content) == 0 {
			continue
		}
		containers := doc.Content[0]
		if kind := fieldOf(containers, "kind"); kind == nil || kind.Value != "Deployment" {
			continue
		}
		for _, field := range []string{"spec", "template", "spec", "containers"} {
			containers = fieldOf(containers, field)
		}
		if containers == nil {
			continue
		}
		for _, c := range containers.Content {
			if name := fieldOf(c, "name"); name != nil && name.Value == "manager" {
				if found != nil {
					return nil
				}
				found = c
			}
		}
	}
}

// fieldOf returns the value of a field, or nil.
func fieldOf(mapping *yaml.Node, name string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// outdented is a block without the indentation of its first line.
func outdented(block []string) []string {
	indent := block[0][:len(block[0])-len(strings.TrimLeft(block[0], " "))]
	return mapped(block, func(line string) string { return strings.TrimPrefix(line, indent) })
}
