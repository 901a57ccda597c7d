package refactor

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// code returns the changed Go files by their new names, with nil for names that no longer exist.
func (x *renamer) code() map[string][]byte {
	out := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(x.files)) {
		if x.m.Files[name] != nil {
			out[name] = nil
		}
	}
	for _, name := range x.m.Names() {
		f := x.m.Files[name]
		text, changed := x.renameFile(f)
		if changed || x.files[name] != "" {
			out[x.newPath(name)] = text
		}
	}
	return out
}

// renameFile returns a Go file with the new names.
func (x *renamer) renameFile(f *gosource.File) (text []byte, changed bool) {
	done := map[int]bool{} // replaced lines, counted from 1
	for _, c := range x.changes[f.Name] {
		for i := c.start; i < c.end; i++ {
			done[i+1] = true
		}
	}
	edits := changeEdits(f.Text, x.changes[f.Name])
	add := func(n ast.Node, text string) {
		p := x.m.Fset.PositionFor(n.Pos(), false)
		if !done[p.Line] {
			edits = append(edits, edit{From: p.Offset, To: p.Offset + int(n.End()-n.Pos()), Text: text})
		}
	}
	if pkg := x.Packages[f.Dir()]; pkg != "" {
		if f.IsExternalTest() {
			pkg += "_test"
		}
		add(f.AST.Name, pkg)
	}
	for _, spec := range f.AST.Imports {
		if old := gosource.ImportPath(spec); x.newImport(old) != old {
			add(spec.Path, strconv.Quote(x.newImport(old)))
		}
	}
	if f.IsBuilt() {
		for _, id := range identsOf(f.AST, true) {
			if name := x.nameOf(id); name != "" && name != id.Name {
				add(id, name)
			}
		}
	} else {
		x.renameUnbuilt(f, add)
	}
	for _, group := range f.AST.Comments {
		for _, comment := range group.List {
			if text := x.comment(f, comment); text != comment.Text {
				add(comment, text)
			}
		}
	}
	return applyEdits(f, edits)
}

// nameOf returns the new name of the object of an identifier, or "" if it does not change.
func (x *renamer) nameOf(id *ast.Ident) string {
	obj := x.info.ObjectOf(id)
	if obj == nil || !x.isOwn(obj) {
		return ""
	}
	return x.newNames[obj.Pos()]
}

// renameUnbuilt renames in a file that is not part of a build on the current system, by its imports and scopes only.
func (x *renamer) renameUnbuilt(f *gosource.File, add func(ast.Node, string)) {
	names := map[string]string{} // local names of packages of the module → directory
	for _, spec := range f.AST.Imports {
		dir, inModule := x.m.DirOf(gosource.ImportPath(spec))
		if !inModule {
			continue
		}
		local, now := x.packageName(dir), x.Packages[dir]
		if spec.Name != nil {
			local, now = spec.Name.Name, x.newAlias(f, spec, dir)
			if now != "" {
				add(spec.Name, now)
			}
		}
		names[local] = dir
		if now == "" {
			continue
		}
		for _, id := range f.AST.Unresolved {
			if id.Name == local {
				add(id, now)
			}
		}
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok || names[id.Name] == "" || !f.IsUnresolved(id) {
				break
			}
			if name := x.renamedIn(names[id.Name], n.Sel.Name); name != "" {
				add(n.Sel, name)
			}
		case *ast.Ident:
			if name := x.renamedIn(f.Dir(), n.Name); name != "" && f.IsUnresolved(n) && !f.IsExternalTest() {
				add(n, name)
			}
		}
		return true
	})
}

func (x *renamer) packageName(dir string) string {
	for _, f := range x.m.Files {
		if f.Dir() == dir && !f.IsExternalTest() {
			return f.AST.Name.Name
		}
	}
	return path.Base(dir)
}

// renamedIn returns the new name of a package-level name of a directory, or "" if it does not change.
func (x *renamer) renamedIn(dir, name string) string {
	for _, f := range x.m.Files {
		if f.Dir() != dir || !f.IsBuilt() || f.IsExternalTest() {
			continue
		}
		for _, id := range gosource.TopLevel(f.AST) {
			if id.Name == name {
				return x.nameOf(id)
			}
		}
	}
	return ""
}

// comment returns a comment with the new names: markers by their fields, and words with a clear meaning. The name of
// the kind is such a word in the documentation of the kind.
func (x *renamer) comment(f *gosource.File, c *ast.Comment) string {
	if body, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+"); ok {
		if now := x.renameMarker(body); now != body {
			return strings.Replace(c.Text, body, now, 1)
		}
		return c.Text
	}
	kinds := map[string]string{}
	for _, api := range x.APIs {
		kinds[api[0].Kind] = api[1].Kind
	}
	text := c.Text
	for _, word := range slices.Sorted(maps.Keys(x.words)) {
		if _, ordinary := kinds[word]; ordinary || len(word) < 4 || !strings.Contains(text, word) {
			continue
		}
		text = replaceWord(text, word, x.words[word])
	}
	if kind := x.documentedKind(f, c, kinds); kind != "" {
		text = replaceWord(text, kind, kinds[kind])
	}
	return text
}

func replaceWord(text, word, with string) string {
	return regexp.MustCompile(`\b`+regexp.QuoteMeta(word)+`\b`).ReplaceAllLiteralString(text, with)
}

// documentedKind returns the kind that a comment documents, because it belongs to the kind's type, spec, status or
// list, or "".
func (x *renamer) documentedKind(f *gosource.File, c *ast.Comment, kinds map[string]string) string {
	in := func(doc *ast.CommentGroup) bool { return doc != nil && slices.Contains(doc.List, c) }
	for _, decl := range f.AST.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			s := spec.(*ast.TypeSpec)
			if !in(s.Doc) && !in(gen.Doc) || x.nameOf(s.Name) == "" {
				continue
			}
			for _, suffix := range []string{"", "Spec", "Status", "List"} {
				if kind, ok := strings.CutSuffix(s.Name.Name, suffix); ok && kinds[kind] != "" {
					return kind
				}
			}
		}
	}
	return ""
}
