package merge

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A setting is a variable for a flag in the function main of ours that is the field of a variable in theirs.
type setting struct{ variable, field string }

// flagNames holds the current names of flags that older scaffolds had under other names.
var flagNames = map[string]string{
	"metrics-addr":           "metrics-bind-address",
	"enable-leader-election": "leader-elect",
}

// logFlags represents the flags of the logger.
const logFlags = " log"

// alignSettings replaces fields in the function main of theirs by the variables of ours for the same flags, so that
// only other differences remain. After the merge, undeclared variables become fields again.
func (g *goMerge) alignSettings() error {
	main := g.theirs.function("main")
	if main == nil || main.Body == nil || g.ours.function("main") == nil {
		return nil
	}
	declared := g.theirs.declaredNames()
	fields := g.theirs.flagTargets()
	for flag, variable := range g.ours.flagTargets() {
		field := fields[flag]
		root, _, isField := strings.Cut(field, ".")
		if isField && token.IsIdentifier(variable) && !declared[variable] && declaresVariable(main, root) {
			g.settings = append(g.settings, setting{variable, field})
		}
	}
	slices.SortFunc(g.settings, func(a, b setting) int { return strings.Compare(a.variable, b.variable) })
	var edits []textdiff.Edit
	ast.Inspect(main.Body, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		for _, s := range g.settings {
			if g.theirs.Source(sel) == s.field {
				edits = append(edits, textdiff.Edit{From: g.theirs.Offset(sel.Pos()), To: g.theirs.Offset(sel.End()), Text: s.variable})
			}
		}
		return true
	})
	var err error
	g.theirs, err = parseSource(textdiff.Apply(g.theirs.Text, edits))
	return err
}

// function returns the function without a receiver that has a name, or nil.
func (s *goSource) function(name string) *ast.FuncDecl {
	for _, decl := range s.AST.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
			return f
		}
	}
	return nil
}

// declaresVariable reports whether a statement of a function is "var name …".
func declaresVariable(f *ast.FuncDecl, name string) bool {
	return slices.ContainsFunc(f.Body.List, func(stmt ast.Stmt) bool {
		decl, ok := stmt.(*ast.DeclStmt)
		if !ok {
			return false
		}
		d, ok := decl.Decl.(*ast.GenDecl)
		return ok && slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool {
			value, ok := spec.(*ast.ValueSpec)
			return ok && slices.ContainsFunc(value.Names, func(id *ast.Ident) bool { return id.Name == name })
		})
	})
}

// flagTargets returns the variables or fields of flags by their current names.
func (s *goSource) flagTargets() map[string]string {
	targets := map[string]string{}
	ast.Inspect(s.AST, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if sel.Sel.Name == "BindFlags" {
			targets[logFlags] = s.Source(sel.X)
		}
		if name := flagName(call); name != "" && len(call.Args) > 1 {
			if ref, ok := call.Args[0].(*ast.UnaryExpr); ok && ref.Op == token.AND {
				targets[name] = s.Source(ref.X)
			}
		}
		return true
	})
	return targets
}

// flagName returns the current name of the flag that a call declares, or "".
func flagName(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !declaresFlag(sel.Sel.Name) {
		return ""
	}
	for _, arg := range call.Args {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, err := strconv.Unquote(lit.Value)
			if err != nil {
				return ""
			}
			if current := flagNames[name]; current != "" {
				return current
			}
			return name
		}
	}
	return ""
}

// declaresFlag reports whether a function of package flag with a name declares a flag.
func declaresFlag(name string) bool {
	switch strings.TrimSuffix(name, "Var") {
	case "Bool", "Duration", "Float64", "Int", "Int64", "String", "Uint", "Uint64", "Text", "Func", "BoolFunc", "":
		return true
	}
	return false
}

// replaceSettings replaces variables that a merged text does not declare by the fields of theirs.
func (g *goMerge) replaceSettings(text []byte) []byte {
	s, err := parseSource(text)
	if err != nil {
		return text
	}
	main := s.function("main")
	if main == nil {
		return text
	}
	var edits []textdiff.Edit
	for _, id := range s.AST.Unresolved {
		for _, v := range g.settings {
			if id.Name == v.variable && main.Pos() <= id.Pos() && id.End() <= main.End() {
				from := s.Offset(id.Pos())
				edits = append(edits, textdiff.Edit{From: from, To: from + len(id.Name), Text: v.field})
			}
		}
	}
	return textdiff.Apply(text, edits)
}

var identifier = lazyregexp.New(`[\pL_][\pL\pN_]*`)

// goBase is a base that also has facts with the variables of ours instead of fields of theirs, and any license header.
type goBase struct {
	Base
	settings []setting
}

func (b *goBase) Has(f Fact) bool {
	if b.Base.Has(f) || len(f.Path) > 0 && f.Path[0] == headerKey {
		return true
	}
	if len(f.Lines) == 0 || len(b.settings) == 0 {
		return false
	}
	changed := slices.Clone(f.Lines)
	for i, line := range changed {
		changed[i] = identifier.ReplaceAllStringFunc(line, func(name string) string {
			for _, s := range b.settings {
				if s.variable == name {
					return s.field
				}
			}
			return name
		})
	}
	return !slices.Equal(changed, f.Lines) && b.Base.Has(Fact{f.Path, f.Part, changed})
}
