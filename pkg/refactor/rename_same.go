package refactor

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// meanings are the identifiers of the files of a module with their objects.
type meanings struct {
	m    *gosource.Module
	info *types.Info
	// ordinal maps the offset of an identifier to its index among the file's identifiers.
	ordinal map[string]map[int]int
	ids     map[string][]*ast.Ident
	// newFile and newImport map old names of files and packages to new ones.
	file, imported func(string) string
}

func (x *renamer) meanings(m *gosource.Module, info *types.Info, file, imported func(string) string) *meanings {
	s := &meanings{m: m, info: info, ordinal: map[string]map[int]int{}, ids: map[string][]*ast.Ident{}, file: file, imported: imported}
	for name, f := range m.Files {
		if !f.IsBuilt() {
			continue
		}
		at := map[int]int{}
		ids := identsOf(f.AST, false)
		for i, id := range ids {
			at[m.Fset.PositionFor(id.Pos(), false).Offset] = i
		}
		s.ordinal[name], s.ids[file(name)] = at, ids
	}
	return s
}

// compare returns a finding for each identifier of the changed code that refers to another object than before, for
// example because a new name shadows another one.
func (x *renamer) compare(changed *gosource.Module, info *types.Info) diag.Findings {
	same := func(s string) string { return s }
	old := x.meanings(x.m, x.info, x.newPath, x.newImport)
	now := x.meanings(changed, info, same, same)
	var findings diag.Findings
	for _, name := range slices.Sorted(maps.Keys(old.ids)) {
		if strings.HasPrefix(path.Base(name), "zz_generated.") {
			continue // generated again
		}
		before, after := old.ids[name], now.ids[name]
		if len(before) != len(after) {
			findings = append(findings, diag.Finding{Position: diag.Position{File: name}, Problem: "would change other than by renaming"})
			continue
		}
		for i := range before {
			if old.of(before[i]) == now.of(after[i]) {
				continue
			}
			at := changed.Fset.PositionFor(after[i].Pos(), false)
			findings = append(findings, diag.Finding{Position: diag.Position{File: name, Line: at.Line, Column: at.Column},
				Problem: fmt.Sprintf("%s would refer to something else than %s does now", after[i].Name, before[i].Name)})
		}
	}
	return findings
}

// of returns a description of the object of an identifier.
func (s *meanings) of(id *ast.Ident) string {
	obj := s.info.ObjectOf(id)
	if obj == nil {
		return ""
	}
	if pkg, ok := obj.(*types.PkgName); ok {
		return "package " + s.imported(pkg.Imported().Path())
	}
	if obj.Pkg() == nil {
		return "universe " + obj.Name()
	}
	if _, inModule := s.m.DirOf(strings.TrimSuffix(obj.Pkg().Path(), "_test")); !inModule {
		return obj.Pkg().Path() + "." + obj.Name()
	}
	at := s.m.Fset.PositionFor(obj.Pos(), false)
	if n, ok := s.ordinal[at.Filename][at.Offset]; ok {
		return fmt.Sprintf("%s#%d", s.file(at.Filename), n)
	}
	return s.file(at.Filename)
}
