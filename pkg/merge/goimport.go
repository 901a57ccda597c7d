package merge

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// resolveImports finds the imports that the code uses, and the places of their local names.
func (s *goSource) resolveImports() {
	s.imports = map[string]*ast.ImportSpec{}
	used := s.UsedQualifiers(s.AST)
	for _, spec := range s.AST.Imports {
		name := s.ImportName(spec)
		if name == "_" || name == "." || !used[name] {
			continue
		}
		s.imports[name] = spec
		if spec.Name != nil {
			s.neutral = append(s.neutral, textdiff.Edit{From: s.Offset(spec.Name.Pos()), To: s.Offset(spec.Path.Pos())})
		}
	}
	ast.Inspect(s.AST, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := selector.X.(*ast.Ident); ok && s.IsUnresolved(id) && s.imports[id.Name] != nil {
				s.neutral = append(s.neutral, s.Replace(id, openPath+gosource.ImportPath(s.imports[id.Name])+closePath))
			}
		}
		return true
	})
	slices.SortFunc(s.neutral, func(a, b textdiff.Edit) int { return a.From - b.From })
}

// declaredNames returns all names that a file declares other than by imports and as fields.
func (s *goSource) declaredNames() map[string]bool {
	names := map[string]bool{}
	ast.Inspect(s.AST, func(n ast.Node) bool {
		if _, ok := n.(*ast.StructType); ok {
			return false
		}
		if id, ok := n.(*ast.Ident); ok && id.Obj != nil && id.Obj.Pos() == id.Pos() {
			names[id.Name] = true
		}
		return true
	})
	return names
}

// importNames returns the local names of imports by path. Of a package that is imported twice it is the first.
func (s *goSource) importNames() map[string]string {
	names := map[string]string{}
	for _, spec := range s.AST.Imports {
		for _, name := range sortedKeys(s.imports) {
			if p := gosource.ImportPath(spec); s.imports[name] == spec && names[p] == "" {
				names[p] = name
			}
		}
	}
	return names
}

// usedImports reports by import key whether the file uses the import. Imports for which this is unknown are missing.
func (s *goSource) usedImports() map[string]bool {
	used := map[string]bool{}
	for _, spec := range s.AST.Imports {
		if spec.Name == nil || spec.Name.Name != "_" && spec.Name.Name != "." {
			used[s.importKey(spec)] = false
		}
	}
	for _, spec := range s.imports {
		used[s.importKey(spec)] = true
	}
	return used
}

// freeName returns a free name for a package: the given one, or one with the parent directory.
func freeName(name, importPath string, taken map[string]bool) string {
	if !taken[name] {
		return name
	}
	above := notInName.ReplaceAllString(strings.ToLower(path.Base(path.Dir(importPath))), "")
	for candidate := above + name; ; candidate += "x" {
		if !taken[candidate] {
			return candidate
		}
	}
}

var notInName = lazyregexp.New(`[^a-z]`)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// listsImports reports whether each import is a unit of one import declaration, and none is "C".
func (s *goSource) listsImports() bool {
	imports := s.tree(splitLines(s.Text)).child("imports")
	return !slices.ContainsFunc(s.AST.Imports, func(spec *ast.ImportSpec) bool {
		return imports == nil || imports.child(s.importKey(spec)) == nil || gosource.ImportPath(spec) == "C"
	})
}

// joinImports returns a text with one import declaration in parentheses instead of several or one without.
func joinImports(text []byte) []byte {
	s, err := parseSource(text)
	if err != nil {
		return text
	}
	var decls []*ast.GenDecl
	for _, decl := range s.AST.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			decls = append(decls, d)
		}
	}
	if len(decls) == 0 || len(decls) == 1 && decls[0].Lparen.IsValid() {
		return text
	}
	lines := splitLines(text)
	var before, specs, after []string
	at := s.lineIndex(decls[0].Pos())
	before = lines[:at]
	for i, d := range decls {
		u := s.unit("", d)
		from, to := s.lineIndex(d.Pos()), u.to
		if i > 0 {
			specs = append(specs, lines[at:from]...) // comments between declarations
		}
		switch {
		case !d.Lparen.IsValid():
			specs = append(specs, "\t"+strings.TrimLeft(strings.TrimPrefix(lines[from], "import"), " \t"))
			specs = append(specs, lines[from+1:to]...)
		case s.lineIndex(d.Lparen) == s.lineIndex(d.Rparen):
			return text
		default:
			specs = append(specs, lines[s.lineIndex(d.Lparen)+1:s.lineIndex(d.Rparen)]...)
		}
		at = to
	}
	after = lines[at:]
	return []byte(strings.Join(slices.Concat(before, []string{"import (\n"}, specs, []string{")\n"}, after), ""))
}
