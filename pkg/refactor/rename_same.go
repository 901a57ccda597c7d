package refactor

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// meanings are the identifiers of a module's files and what they stand for.
type meanings struct {
	m    *gosource.Module
	info *types.Info
	// ordinal is the place of an identifier in its file, counted in identifiers.
	ordinal map[string]map[int]int
	ids     map[string][]*ast.Ident
	// file and imported give the old names of files and packages the new ones.
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

// compare holds that every identifier of the changed code stands for what it stood for before: that no new
// name is hidden by, or hides, another one.
func (x *renamer) compare(after *gosource.Module, info *types.Info) codegen.Findings {
	same := func(s string) string { return s }
	old := x.meanings(x.m, x.info, x.to, x.newImport)
	now := x.meanings(after, info, same, same)
	var findings codegen.Findings
	for _, name := range slices.Sorted(maps.Keys(old.ids)) {
		if strings.HasPrefix(path.Base(name), "zz_generated.") {
			continue // made anew
		}
		was, is := old.ids[name], now.ids[name]
		if len(was) != len(is) {
			findings = append(findings, codegen.Finding{File: name, Message: "would have other code, not the same by other names"})
			continue
		}
		for i := range was {
			if old.of(was[i]) == now.of(is[i]) {
				continue
			}
			at := after.Fset.PositionFor(is[i].Pos(), false)
			findings = append(findings, codegen.Finding{File: name, Line: at.Line, Column: at.Column,
				Message: fmt.Sprintf("%s would stand for something else than %s does now", is[i].Name, was[i].Name)})
		}
	}
	return findings
}

// of names what an identifier stands for.
func (s *meanings) of(id *ast.Ident) string {
	obj := s.info.Defs[id]
	if obj == nil {
		obj = s.info.Uses[id]
	}
	if obj == nil {
		return ""
	}
	if pkg, ok := obj.(*types.PkgName); ok {
		return "package " + s.imported(pkg.Imported().Path())
	}
	if obj.Pkg() == nil {
		return "universe " + obj.Name()
	}
	if _, own := s.m.DirOf(strings.TrimSuffix(obj.Pkg().Path(), "_test")); !own {
		return obj.Pkg().Path() + "." + obj.Name()
	}
	at := s.m.Fset.PositionFor(obj.Pos(), false)
	if n, ok := s.ordinal[at.Filename][at.Offset]; ok {
		return fmt.Sprintf("%s#%d", s.file(at.Filename), n)
	}
	return s.file(at.Filename)
}
