package codegen

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	goformat "go/format"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write builtin.txtar")

// TestBuiltin derives builtin.txtar from the modules that scaffolded projects require: the declarations of the types that
// scaffolded API types refer to, directly or not.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	const module = "k8s.io/apimachinery"
	project := filepath.Join("..", "..", "testdata", "memcached-operator")
	text, err := os.ReadFile(filepath.Join(project, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == module })
	b := &builtins{t: t, fset: token.NewFileSet(), packages: map[string]*builtinPackage{}}
	b.list(project, module+"/pkg/apis/meta/v1")
	for _, name := range []string{"TypeMeta", "ListMeta", "ObjectMeta", "Condition"} {
		b.need(module+"/pkg/apis/meta/v1", name)
	}
	archive := &txtar.Archive{Comment: []byte(mod.Require[i].Mod.String() + "\n")}
	for _, importPath := range slices.Sorted(maps.Keys(b.packages)) {
		if one := b.packages[importPath]; len(one.needed) > 0 {
			text := b.text
			if standard(importPath) {
				text = b.opaque
			}
			archive.Files = append(archive.Files, txtar.File{Name: importPath + "/" + one.name + ".go", Data: text(one)})
		}
	}
	want := txtar.Format(archive)
	if *update {
		if err := os.WriteFile("builtin.txtar", want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(builtinArchive, want) {
		t.Errorf("builtin.txtar is not derived from %s; run go test ./pkg/codegen -run TestBuiltin -update\n%s", mod.Require[i].Mod, firstDifference(builtinArchive, want))
	}
}

// builtins collects declarations.
type builtins struct {
	t        *testing.T
	fset     *token.FileSet
	packages map[string]*builtinPackage
}

// builtinPackage is a package of which some types are needed.
type builtinPackage struct {
	name    string
	files   []*builtinFile
	needed  map[string]bool
	imports map[string]string // path by name
}

type builtinFile struct {
	source []byte
	tree   *ast.File
}

// list finds the files of a package and its dependencies.
func (b *builtins) list(dir, importPath string) {
	c := exec.Command("go", "list", "-deps", loaderTags, "-json=Dir,ImportPath,Name,GoFiles", importPath)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		b.t.Fatal(err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one struct {
			Dir, ImportPath, Name string
			GoFiles               []string
		}
		if err := decoder.Decode(&one); err == io.EOF {
			return
		} else if err != nil {
			b.t.Fatal(err)
		}
		p := &builtinPackage{name: one.Name, needed: map[string]bool{}, imports: map[string]string{}}
		for _, name := range one.GoFiles {
			source, err := os.ReadFile(filepath.Join(one.Dir, name))
			if err != nil {
				b.t.Fatal(err)
			}
			tree, err := parser.ParseFile(b.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				b.t.Fatal(err)
			}
			p.files = append(p.files, &builtinFile{source, tree})
		}
		b.packages[one.ImportPath] = p
	}
}

// need adds a type and all types that it refers to.
func (b *builtins) need(importPath, name string) {
	p := b.packages[importPath]
	if p.needed[name] {
		return
	}
	fields := map[*ast.Ident]bool{}
	for _, file := range p.files {
		imports := map[string]string{}
		for _, spec := range file.tree.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				b.t.Fatal(err)
			}
			if b.packages[target] == nil {
				continue
			}
			local := b.packages[target].name
			if spec.Name != nil {
				local = spec.Name.Name
			}
			imports[local] = target
		}
		for _, decl := range file.tree.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.TypeSpec)
				if spec.Name.Name != name {
					continue
				}
				p.needed[name] = true
				if standard(importPath) {
					continue
				}
				ast.Inspect(spec.Type, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.Field:
						for _, id := range n.Names {
							fields[id] = true
						}
					case *ast.SelectorExpr:
						if id, ok := n.X.(*ast.Ident); ok && imports[id.Name] != "" {
							p.imports[id.Name] = imports[id.Name]
							b.need(imports[id.Name], n.Sel.Name)
						}
						return false
					case *ast.Ident:
						if !fields[n] {
							b.need(importPath, n.Name)
						}
					}
					return true
				})
			}
		}
	}
}

// standard reports whether a package is of the standard library.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// opaque returns declarations of types that cannot be copied by assignment. What else types of the standard library are
// depends on the Go release and decides nothing.
func (b *builtins) opaque(p *builtinPackage) []byte {
	text := "package " + p.name + "\n"
	for _, name := range slices.Sorted(maps.Keys(p.needed)) {
		text += "\ntype " + name + " struct{ _ *" + name + " }\n"
	}
	return []byte(text)
}

// text returns the declarations of a package as one file: the types with all comments in front of them, and the
// signatures of their methods that copy.
func (b *builtins) text(p *builtinPackage) []byte {
	var out bytes.Buffer
	out.WriteString("package " + p.name + "\n")
	for _, name := range slices.Sorted(maps.Keys(p.imports)) {
		out.WriteString("\nimport " + name + " " + strconv.Quote(p.imports[name]) + "\n")
	}
	for _, file := range p.files {
		offset := func(p token.Pos) int { return b.fset.Position(p).Offset }
		last := offset(file.tree.Name.End())
		for _, decl := range file.tree.Decls {
			from, end := last, offset(decl.End())
			last = end
			switch d := decl.(type) {
			case *ast.GenDecl:
				if d.Tok == token.TYPE && slices.ContainsFunc(d.Specs, func(s ast.Spec) bool { return p.needed[s.(*ast.TypeSpec).Name.Name] }) {
					out.Write(file.source[from:end])
					out.WriteString("\n")
				}
			case *ast.FuncDecl:
				if d.Recv != nil && strings.HasPrefix(d.Name.Name, "DeepCopy") && p.needed[typeName(d.Recv.List[0].Type)] {
					out.WriteString("\n")
					out.Write(file.source[offset(d.Type.Func):offset(d.Body.Lbrace)])
					out.WriteString("\n")
				}
			}
		}
	}
	text, err := goformat.Source(out.Bytes())
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}
