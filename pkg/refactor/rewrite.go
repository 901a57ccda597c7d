package refactor

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A destination is the new name of a file and, for a Go file, the package there.
type destination struct {
	name, pkg string
}

func (d destination) dir() string { return path.Dir(d.name) }

// moves describes moved files. A file with several destinations is copied to all of them. alias maps directories to the
// names by which files import their packages after the move, if they used the default or the old one.
type moves struct {
	files map[string][]destination
	alias map[string]string // directory → name, "" for the package name
	// newPath returns the new path of any file or directory, for relative paths to moved files. If it is nil, relative
	// paths keep their targets.
	newPath func(string) string
	// exists reports whether a path exists in the project, to distinguish paths from other texts.
	exists func(string) bool
}

// edit replaces a part of a source file.
type edit = textdiff.Edit

// A rewriter adapts the files of a module to moves.
type rewriter struct {
	m     *gosource.Module
	moves *moves
	// symbols maps moved directories and their exported names to the new directory.
	symbols map[string]map[string]string
	// targets maps a directory to the new directories of its package, including itself if a part remains.
	targets map[string][]string
	// before and after are the names of packages by old and by new directory.
	before, after map[string]string
}

// rewrite returns the changed files of a module, nil for removed ones.
func rewrite(m *gosource.Module, mv *moves) map[string][]byte {
	r := &rewriter{m: m, moves: mv, symbols: map[string]map[string]string{}, targets: map[string][]string{}, before: map[string]string{}, after: map[string]string{}}
	r.findTargets()
	out := map[string][]byte{}
	for _, name := range m.Names() {
		f := m.Files[name]
		destinations := mv.files[name]
		if destinations == nil {
			if text, changed := r.rewriteFile(f, destination{name: name, pkg: f.AST.Name.Name}); changed {
				out[name] = text
			}
			continue
		}
		out[name] = nil
	}
	for _, name := range slices.Sorted(maps.Keys(mv.files)) {
		f := m.Files[name]
		if f == nil {
			continue
		}
		for _, d := range mv.files[name] {
			out[d.name], _ = r.rewriteFile(f, d)
		}
	}
	return out
}

// findTargets records the new directories of packages and exported names.
func (r *rewriter) findTargets() {
	moving := map[string]bool{}
	for name := range r.moves.files {
		if r.m.Files[name] != nil {
			moving[path.Dir(name)] = true
		}
	}
	for _, name := range r.m.Names() {
		f := r.m.Files[name]
		dir := f.Dir()
		if !moving[dir] || f.IsExternalTest() || isOutsidePackage(f) {
			continue
		}
		if r.before[dir] == "" {
			r.before[dir], r.symbols[dir] = f.AST.Name.Name, map[string]string{}
		}
		destinations := r.moves.files[name]
		if destinations == nil {
			destinations = []destination{{name: name, pkg: f.AST.Name.Name}}
		}
		for _, d := range destinations {
			r.after[d.dir()] = d.pkg
			if !f.IsTest() && !slices.Contains(r.targets[dir], d.dir()) {
				r.targets[dir] = append(r.targets[dir], d.dir())
			}
		}
		for _, id := range gosource.TopLevel(f.AST) {
			if id.IsExported() {
				r.symbols[dir][id.Name] = destinations[0].dir()
			}
		}
	}
}

func (r *rewriter) rewriteFile(f *gosource.File, d destination) (text []byte, changed bool) {
	var edits []edit
	if pkg := d.pkg; pkg != "" && d.name != f.Name {
		if f.IsExternalTest() {
			pkg += "_test"
		}
		if pkg != f.AST.Name.Name {
			edits = append(edits, f.Replace(f.AST.Name, pkg))
		}
	}
	for _, spec := range f.AST.Imports {
		edits = append(edits, r.rewriteImport(f, spec)...)
	}
	if r.moves.newPath != nil {
		edits = append(edits, r.updatePaths(f, d.dir())...)
	} else if d.dir() != f.Dir() {
		edits = append(edits, f.KeepTargets(f.Dir(), d.dir())...)
	}
	edits = append(edits, r.removeOtherSetups(f, d)...)
	return applyEdits(f, edits)
}

// applyEdits returns a file with edits, and whether there are any.
func applyEdits(f *gosource.File, edits []textdiff.Edit) (text []byte, changed bool) {
	if len(edits) == 0 {
		return f.Text, false
	}
	text, _ = f.Apply(edits) // syntax errors are found when the result is parsed
	return text, true
}

// rewriteImport rewrites an import of a moved package and the identifiers that it qualifies.
func (r *rewriter) rewriteImport(f *gosource.File, spec *ast.ImportSpec) []edit {
	dir, inModule := r.m.DirOf(gosource.ImportPath(spec))
	targets := r.targets[dir]
	if !inModule || len(targets) == 0 || len(targets) == 1 && targets[0] == dir {
		return nil
	}
	explicit, local := "", r.before[dir]
	if spec.Name != nil {
		explicit, local = spec.Name.Name, spec.Name.Name
	}
	if local == "_" || local == "." {
		var lines []string
		for _, target := range targets {
			lines = append(lines, local+" "+strconv.Quote(r.m.ImportPath(target)))
		}
		return []edit{f.Replace(spec, joinSpecs(f, spec, lines))}
	}
	uses := map[string][]*ast.Ident{} // identifiers by target
	ast.Inspect(f.AST, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := selector.X.(*ast.Ident)
		if !ok || id.Name != local || !f.IsUnresolved(id) {
			return true
		}
		target := r.symbols[dir][selector.Sel.Name]
		if target == "" {
			target = targets[0]
		}
		uses[target] = append(uses[target], id)
		return true
	})
	if len(uses) == 0 {
		uses[targets[0]] = nil
	}
	var edits []edit
	var lines []string
	for _, target := range slices.Sorted(maps.Keys(uses)) {
		name := r.localName(f, dir, target, explicit, local, len(uses) > 1)
		line := strconv.Quote(r.m.ImportPath(target))
		if name != r.after[target] || name == explicit {
			line = name + " " + line
		}
		lines = append(lines, line)
		if name == local {
			continue
		}
		for _, id := range uses[target] {
			edits = append(edits, f.Replace(id, name))
		}
	}
	return append(edits, f.Replace(spec, joinSpecs(f, spec, lines)))
}

// localName returns the name by which a file imports a package after its move.
func (r *rewriter) localName(f *gosource.File, dir, target, explicit, local string, split bool) string {
	current, usual := r.moves.alias[dir], r.moves.alias[target]
	if usual == "" {
		usual = r.after[target]
	}
	if current == "" {
		current = r.before[dir]
	}
	if explicit != "" && explicit != current && !split || usual == local {
		return local
	}
	name := usual
	for i := 2; mentions(f.AST, name) || r.declares(f, name); i++ {
		if explicit != "" && !split {
			return local
		}
		name = usual + strconv.Itoa(i)
	}
	return name
}

// declares reports whether any file of a file's package declares a name, which imports cannot have then.
func (r *rewriter) declares(f *gosource.File, name string) bool {
	for _, other := range r.m.Files {
		if other.Dir() == f.Dir() && other.AST.Name.Name == f.AST.Name.Name && slices.ContainsFunc(gosource.TopLevel(other.AST), func(id *ast.Ident) bool { return id.Name == name }) {
			return true
		}
	}
	return false
}

// mentions reports whether a name is used in a file.
func mentions(file *ast.File, name string) bool {
	for n := range ast.Preorder(file) {
		if id, ok := n.(*ast.Ident); ok && id.Name == name && id != file.Name {
			return true
		}
	}
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Name == nil && path.Base(gosource.ImportPath(spec)) == name
	})
}

// joinSpecs joins import specs that replace one.
func joinSpecs(f *gosource.File, spec *ast.ImportSpec, lines []string) string {
	for _, decl := range f.AST.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if ok && gen.Pos() <= spec.Pos() && spec.End() <= gen.End() && !gen.Lparen.IsValid() {
			return strings.Join(lines, "\nimport ")
		}
	}
	return strings.Join(lines, "\n\t")
}

// writeFiles writes the result of rewrite into a tree.
func writeFiles(tree *worktree.Tree, files map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] == nil {
			tree.Remove(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] != nil {
			tree.WriteFile(name, files[name], 0o644)
		}
	}
}
