package merge

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// resolveImports finds the local names of imports, and the places where they stand.
func (s *goSource) resolveImports() {
	s.imports = map[string]*ast.ImportSpec{}
	var qualifiers []*ast.Ident
	used := map[string]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Obj == nil {
				qualifiers = append(qualifiers, id)
				used[id.Name] = true
			}
		}
		return true
	})
	for _, spec := range s.file.Imports {
		switch {
		case spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == "."):
		case spec.Name != nil && used[spec.Name.Name]:
			s.imports[spec.Name.Name] = spec
			s.neutral = append(s.neutral, textdiff.Edit{From: s.offset(spec.Name.Pos()), To: s.offset(spec.Path.Pos())})
		case spec.Name == nil:
			for _, guess := range packageNames(importPath(spec)) {
				if used[guess] && s.imports[guess] == nil {
					s.imports[guess] = spec
					break
				}
			}
		}
	}
	for _, id := range qualifiers {
		if spec := s.imports[id.Name]; spec != nil {
			from := s.offset(id.Pos())
			s.neutral = append(s.neutral, textdiff.Edit{From: from, To: from + len(id.Name), Text: openPath + importPath(spec) + closePath})
		}
	}
	slices.SortFunc(s.neutral, func(a, b textdiff.Edit) int { return a.From - b.From })
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// packageNames returns names that the package with an import path may have, the most likely first.
func packageNames(importPath string) []string {
	base := path.Base(importPath)
	if dir := path.Dir(importPath); majorVersion.MatchString(base) && dir != "." {
		return append(packageNames(dir), base)
	}
	names := []string{base}
	base, _, _ = strings.Cut(base, ".") // gopkg.in/yaml.v3
	names = append(names, base, strings.TrimPrefix(base, "go-"), strings.TrimSuffix(base, "-go"), strings.ReplaceAll(base, "-", ""),
		strings.ReplaceAll(base, "-", "_"))
	if i := strings.LastIndexByte(base, '-'); i >= 0 {
		names = append(names, base[i+1:])
	}
	return names
}

// declaredNames returns all names that a file declares other than by imports and as fields.
func (s *goSource) declaredNames() map[string]bool {
	names := map[string]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
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
	for _, spec := range s.file.Imports {
		for _, name := range sortedKeys(s.imports) {
			if p := importPath(spec); s.imports[name] == spec && names[p] == "" {
				names[p] = name
			}
		}
	}
	return names
}

// usedImports reports for the keys of imports whether the file uses them. It holds none of which it cannot be seen.
func (s *goSource) usedImports() map[string]bool {
	used := map[string]bool{}
	for _, spec := range s.file.Imports {
		if spec.Name == nil || spec.Name.Name != "_" && spec.Name.Name != "." {
			used[s.importKey(spec)] = false
		}
	}
	for _, spec := range s.imports {
		used[s.importKey(spec)] = true
	}
	return used
}

// freeName returns a name for a package that is not taken: the given one, or one with the directory above.
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

var notInName = regexp.MustCompile(`[^a-z]`)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// listsImports reports whether each import is a unit of one import declaration, and none is of C code.
func (s *goSource) listsImports() bool {
	imports := s.tree(splitLines(s.text)).child("imports")
	return !slices.ContainsFunc(s.file.Imports, func(spec *ast.ImportSpec) bool {
		return imports == nil || imports.child(s.importKey(spec)) == nil || importPath(spec) == "C"
	})
}

// joinImports returns a text with one import declaration in parentheses instead of several or one without.
func joinImports(text []byte) []byte {
	s, err := parseSource(text)
	if err != nil {
		return text
	}
	var decls []*ast.GenDecl
	for _, decl := range s.file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			decls = append(decls, d)
		}
	}
	if len(decls) == 0 || len(decls) == 1 && decls[0].Lparen.IsValid() {
		return text
	}
	lines := splitLines(text)
	var before, specs, after []string
	at := s.line(decls[0].Pos())
	before = lines[:at]
	for i, d := range decls {
		u := s.unit("", d)
		from, to := s.line(d.Pos()), u.to
		if i > 0 {
			specs = append(specs, lines[at:from]...) // comments between declarations
		}
		switch {
		case !d.Lparen.IsValid():
			specs = append(specs, "\t"+strings.TrimLeft(strings.TrimPrefix(lines[from], "import"), " \t"))
			specs = append(specs, lines[from+1:to]...)
		case s.line(d.Lparen) == s.line(d.Rparen):
			return text
		default:
			specs = append(specs, lines[s.line(d.Lparen)+1:s.line(d.Rparen)]...)
		}
		at = to
	}
	after = lines[at:]
	return []byte(strings.Join(slices.Concat(before, []string{"import (\n"}, specs, []string{")\n"}, after), ""))
}
