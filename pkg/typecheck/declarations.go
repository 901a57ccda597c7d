package typecheck

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// declarations is what importers of a package can refer to: its source without function bodies, unexported declarations that
// nothing exported needs, initial values of variables that have a type, and comments. It is an entry of the cache.
type declarations struct {
	// Files are the reduced texts, in the order of the files.
	Files [][]byte
	// Imports are the paths that the reduced files import.
	Imports []string
}

// A sourceFile is a file of a package with its syntax.
type sourceFile struct {
	src  []byte
	base int
	tree *ast.File
	// cuts are the places that are replaced in kept declarations, in order.
	cuts []cut
	// imports maps local names to the imports of the file.
	imports map[string]*ast.ImportSpec
}

// A cut replaces src[from:to] by a text.
type cut struct {
	from, to int
	text     string
}

// reduce returns the declarations of a package. nameOf returns the name of the package that an import path stands for. Files
// that do not parse contribute what the parser understands, as it does for the compiler's errors.
func reduce(sources [][]byte, nameOf func(path string) string) declarations {
	r := &reducer{owners: map[string][]*declaration{}, methods: map[string][]*declaration{}}
	fset := token.NewFileSet()
	for _, src := range sources {
		tree, _ := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
		if tree == nil {
			continue
		}
		r.add(&sourceFile{src: src, base: fset.File(tree.FileStart).Base(), tree: tree, imports: map[string]*ast.ImportSpec{}}, nameOf)
	}
	r.keepExported()
	return r.result()
}

// A reducer finds the declarations of a package that its exported ones need.
type reducer struct {
	files []*sourceFile
	// all holds the declarations in order of their source, owners the ones that declare a name, and methods the methods of each type.
	all             []*declaration
	owners, methods map[string][]*declaration
	queue           []*declaration
}

// A declaration is a function or method, a type, variables of one specification, or constants of one declaration.
type declaration struct {
	file *sourceFile
	// node starts and ends the text; keyword precedes it.
	keyword string
	node    ast.Node
	end     token.Pos
	// refers are the nodes whose identifiers the declaration depends on.
	refers []ast.Node
	names  []*ast.Ident
	kept   bool
	// imports are the imports that the declaration uses, if it is kept.
	imports []*ast.ImportSpec
}

func (r *reducer) add(f *sourceFile, nameOf func(path string) string) {
	r.files = append(r.files, f)
	for _, spec := range f.tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := nameOf(path)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f.imports[name] = spec
	}
	for _, group := range f.tree.Comments {
		for _, comment := range group.List {
			from, to := f.offset(comment.Pos()), f.offset(comment.End())
			text := " "
			if bytes.IndexByte(f.src[from:to], '\n') >= 0 {
				text = "\n" // it may end a statement
			}
			f.cuts = append(f.cuts, cut{from, to, text})
		}
	}
	for _, decl := range f.tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			r.addFunc(f, d)
		case *ast.GenDecl:
			r.addGen(f, d)
		}
	}
	slices.SortFunc(f.cuts, func(a, b cut) int { return cmp.Compare(a.from, b.from) })
}

func (r *reducer) addFunc(f *sourceFile, d *ast.FuncDecl) {
	decl := &declaration{file: f, node: d.Type, end: d.End(), refers: []ast.Node{d.Type}}
	if d.Body != nil {
		decl.end = d.Body.End()
		f.cuts = append(f.cuts, cut{f.offset(d.Body.Lbrace), f.offset(d.Body.End()), "{}"})
	}
	r.all = append(r.all, decl)
	if d.Recv == nil {
		if d.Name.Name != "init" {
			r.own(decl, d.Name)
		}
		return
	}
	decl.refers = append(decl.refers, d.Recv)
	if base := gosource.Receiver(d); base != "" {
		r.methods[base] = append(r.methods[base], decl)
	}
}

func (r *reducer) addGen(f *sourceFile, d *ast.GenDecl) {
	switch d.Tok {
	case token.CONST:
		// The value of a constant depends on its place.
		decl := &declaration{file: f, node: d, end: d.End(), refers: []ast.Node{d}}
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.ValueSpec); ok {
				r.own(decl, s.Names...)
			}
		}
		r.all = append(r.all, decl)
	case token.TYPE, token.VAR:
		for _, spec := range d.Specs {
			decl := &declaration{file: f, keyword: d.Tok.String() + " ", node: spec, end: spec.End(), refers: []ast.Node{spec}}
			switch s := spec.(type) {
			case *ast.TypeSpec:
				r.own(decl, s.Name)
			case *ast.ValueSpec:
				r.own(decl, s.Names...)
				if s.Type != nil {
					decl.end, decl.refers = s.Type.End(), []ast.Node{s.Type}
				} else {
					f.cutBodies(s)
				}
			}
			r.all = append(r.all, decl)
		}
	}
}

// cutBodies cuts the bodies of function literals.
func (f *sourceFile) cutBodies(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			f.cuts = append(f.cuts, cut{f.offset(lit.Body.Lbrace), f.offset(lit.Body.End()), "{}"})
			return false
		}
		return true
	})
}

func (r *reducer) own(decl *declaration, names ...*ast.Ident) {
	decl.names = append(decl.names, names...)
	for _, name := range names {
		r.owners[name.Name] = append(r.owners[name.Name], decl)
	}
}

// keepExported keeps the exported declarations and all that they refer to.
func (r *reducer) keepExported() {
	for _, decl := range r.all {
		if slices.ContainsFunc(decl.names, (*ast.Ident).IsExported) {
			r.keep(decl)
		}
	}
	for len(r.queue) > 0 {
		decl := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		for _, name := range decl.names {
			for _, method := range r.methods[name.Name] {
				r.keep(method)
			}
		}
		for _, n := range decl.refers {
			ast.Inspect(n, func(n ast.Node) bool { return r.visit(decl, n) })
		}
	}
}

func (r *reducer) keep(decl *declaration) {
	if !decl.kept {
		decl.kept = true
		r.queue = append(r.queue, decl)
	}
}

// visit keeps what a node of a kept declaration refers to, and reports whether its children matter.
func (r *reducer) visit(decl *declaration, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		ast.Inspect(n.Type, func(n ast.Node) bool { return r.visit(decl, n) })
		return false
	case *ast.Field: // without its names
		ast.Inspect(n.Type, func(n ast.Node) bool { return r.visit(decl, n) })
		return false
	case *ast.SelectorExpr:
		if id, ok := n.X.(*ast.Ident); ok {
			if spec := decl.file.imports[id.Name]; spec != nil {
				decl.imports = append(decl.imports, spec)
				return false
			}
		}
		ast.Inspect(n.X, func(n ast.Node) bool { return r.visit(decl, n) })
		return false
	case *ast.Ident:
		for _, owner := range r.owners[n.Name] {
			r.keep(owner)
		}
	}
	return true
}

func (r *reducer) result() declarations {
	var d declarations
	paths := map[string]bool{}
	for _, f := range r.files {
		var text bytes.Buffer
		text.WriteString("package " + f.tree.Name.Name + "\n")
		used := map[*ast.ImportSpec]bool{}
		for _, decl := range r.all {
			if decl.kept && decl.file == f {
				for _, spec := range decl.imports {
					used[spec] = true
				}
			}
		}
		for _, spec := range f.tree.Imports {
			if !used[spec] && (spec.Name == nil || spec.Name.Name != ".") {
				continue
			}
			text.WriteString("import ")
			if spec.Name != nil {
				text.WriteString(spec.Name.Name + " ")
			}
			text.WriteString(spec.Path.Value + "\n")
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				paths[path] = true
			}
		}
		for _, decl := range r.all {
			if decl.kept && decl.file == f {
				text.WriteString(decl.keyword)
				f.write(&text, f.offset(decl.node.Pos()), f.offset(decl.end))
				text.WriteString("\n")
			}
		}
		d.Files = append(d.Files, text.Bytes())
	}
	d.Imports = slices.Sorted(maps.Keys(paths))
	return d
}

// offset returns the offset of a position in the text; line directives do not count.
func (f *sourceFile) offset(p token.Pos) int { return int(p) - f.base }

// write writes src[from:to] with its cuts.
func (f *sourceFile) write(text *bytes.Buffer, from, to int) {
	i, _ := slices.BinarySearchFunc(f.cuts, from, func(c cut, from int) int { return cmp.Compare(c.from, from) })
	for ; i < len(f.cuts) && f.cuts[i].from < to; i++ {
		c := f.cuts[i]
		if c.from < from {
			continue // in a function literal that was cut
		}
		text.Write(f.src[from:c.from])
		text.WriteString(c.text)
		from = c.to
	}
	text.Write(f.src[from:max(from, to)])
}
