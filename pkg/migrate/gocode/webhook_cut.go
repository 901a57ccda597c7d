package gocode

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// cut removes the moved code from the package, and files without remaining code.
func (pkg *apiPackage) cut(tree *worktree.Tree) {
	cuts := map[*source]*cutting{}
	of := func(f *source) *cutting {
		if cuts[f] == nil {
			cuts[f] = &cutting{file: f, decls: map[ast.Decl]bool{}, specs: map[*ast.ValueSpec]bool{}}
		}
		return cuts[f]
	}
	for _, h := range pkg.webhooks {
		switch s := h.setup; {
		case s.stays:
			continue
		case s.split != nil:
			c := of(s.file)
			c.file.replace(s.split, "nil")
		default:
			of(s.file).decls[s.decl] = true
		}
		for _, a := range h.asserts {
			of(a.file).specs[a.spec] = true
		}
		for _, m := range h.markers {
			c := of(m.file)
			c.markers = append(c.markers, m)
		}
	}
	for _, f := range pkg.files {
		c := cuts[f]
		if c == nil {
			continue
		}
		c.execute()
		f.apply()
		if pkg.isUnused(f) {
			tree.Remove(f.Name)
			continue
		}
		tree.WriteFile(f.Name, f.bytes(), 0o644)
	}
}

// A cutting holds the code to remove from a file.
type cutting struct {
	file    *source
	decls   map[ast.Decl]bool
	specs   map[*ast.ValueSpec]bool
	markers []*marker
}

func (c *cutting) execute() {
	f := c.file
	docs := map[*ast.CommentGroup]bool{}
	for _, decl := range f.AST.Decls {
		doc := gosource.Doc(decl)
		if general, ok := decl.(*ast.GenDecl); ok && general.Tok == token.VAR {
			stays := func(s ast.Spec) bool { return !c.specs[s.(*ast.ValueSpec)] }
			if !slices.ContainsFunc(general.Specs, stays) {
				c.decls[decl] = true
			}
			for _, spec := range general.Specs {
				if value := spec.(*ast.ValueSpec); c.specs[value] && !c.decls[decl] {
					f.cutLines(startOf(value), value.End())
				}
			}
		}
		if c.decls[decl] {
			f.cutDecl(decl)
		}
		if doc != nil {
			docs[doc] = true
		}
	}
	cut := map[*ast.CommentGroup]bool{}
	for _, m := range c.markers {
		switch {
		case cut[m.group]:
		case !docs[m.group]:
			cut[m.group] = true
			f.cutLines(m.group.Pos(), m.group.End())
		case !c.documentsCut(m.group):
			// The comment documents code that remains, so only the marker is removed.
			f.cutLines(m.line.Pos(), m.line.End())
		}
	}
	for _, group := range f.AST.Comments {
		if len(c.markers) > 0 && !docs[group] && !cut[group] && group.Pos() > f.AST.Name.End() && isScaffoldComment(group) {
			f.cutLines(group.Pos(), group.End())
		}
	}
}

func (c *cutting) documentsCut(group *ast.CommentGroup) bool {
	for decl := range c.decls {
		if gosource.Doc(decl) == group {
			return true
		}
	}
	return false
}

// isScaffoldComment reports whether a comment contains only comments of old scaffolds.
func isScaffoldComment(group *ast.CommentGroup) bool {
	return !slices.ContainsFunc(group.List, func(c *ast.Comment) bool { return !isScaffoldRemark(c.Text) })
}

// isUnused reports whether a file contains nothing but an unused log.
func (pkg *apiPackage) isUnused(f *source) bool {
	var logs *ast.GenDecl
	for _, decl := range f.AST.Decls {
		general, ok := decl.(*ast.GenDecl)
		switch {
		case isImport(decl):
		case ok && general.Tok == token.VAR && logs == nil && len(general.Specs) == 1 &&
			pkg.isUnusedLog(f, general.Specs[0].(*ast.ValueSpec)):
			logs = general
		default:
			return false
		}
	}
	for _, group := range f.AST.Comments {
		if group.Pos() > f.AST.Name.End() && !isScaffoldComment(group) && (logs == nil || group != logs.Doc) {
			return false
		}
	}
	return true
}

// isUnusedLog reports whether a variable is the log of a webhook scaffold and nothing refers to it.
func (pkg *apiPackage) isUnusedLog(f *source, spec *ast.ValueSpec) bool {
	if len(spec.Names) != 1 || len(spec.Values) != 1 {
		return false
	}
	call, ok := spec.Values[0].(*ast.CallExpr)
	if !ok || method(call) != "WithName" || !f.refersTo(call.Fun.(*ast.SelectorExpr).X, runtimeModule+"/pkg/log", "Log") {
		return false
	}
	for _, uses := range pkg.names {
		for _, n := range uses {
			if n.global && n.object.Name() == spec.Names[0].Name {
				return false
			}
		}
	}
	return true
}
