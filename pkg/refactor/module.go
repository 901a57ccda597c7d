// Package refactor changes the shape of a project that exists: it moves packages between layouts and
// rewrites what names them, gives things other names, turns the manager to one namespace and back, and exchanges licence headers.
// All of it happens in a scaffold.Tree; what would not type-check afterwards is refused.
package refactor

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// module is the Go code of a project, parsed: all files of the main module, whatever their build tags.
type module struct {
	path, goVersion string
	fset            *token.FileSet
	files           map[string]*goFile
}

// goFile is one Go file.
type goFile struct {
	name string
	src  []byte
	tree *ast.File
	// built tells that the file is part of a build on this system.
	built bool
	// unresolved holds the identifiers that no declaration of this file explains.
	unresolved map[*ast.Ident]bool
}

func (f *goFile) dir() string           { return path.Dir(f.name) }
func (f *goFile) test() bool            { return strings.HasSuffix(f.name, "_test.go") }
func (f *goFile) outer() bool           { return f.test() && strings.HasSuffix(f.tree.Name.Name, "_test") }
func (f *goFile) clean() bool           { return isClean(f.src) }
func (m *module) imp(dir string) string { return path.Join(m.path, dir) }

func isClean(src []byte) bool {
	out, err := format.Source(src)
	return err == nil && bytes.Equal(out, src)
}

// dirOf is the folder of an import path of the module.
func (m *module) dirOf(importPath string) (string, bool) {
	if importPath == m.path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.path+"/")
}

// readModule parses the Go files of a tree. Syntax errors are returned as Findings, all at once.
func readModule(tree *worktree.Tree) (*module, error) {
	data, err := tree.ReadFile("go.mod")
	if err != nil {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	mod, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil || mod.Module == nil {
		return nil, &scaffold.ContentError{Err: fmt.Errorf("go.mod cannot be read (%w); correct it and run the command again", err)}
	}
	m := &module{path: mod.Module.Mod.Path, fset: token.NewFileSet(), files: map[string]*goFile{}}
	if mod.Go != nil {
		m.goVersion = "go" + mod.Go.Version
	}
	names, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var findings codegen.Findings
	for _, name := range names {
		src, err := tree.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		f, err := m.parse(name, src)
		if err != nil {
			findings = append(findings, codegen.SyntaxFindings(name, src, err)...)
			continue
		}
		m.files[name] = f
	}
	if len(findings) > 0 {
		return nil, findings
	}
	return m, nil
}

func (m *module) parse(name string, src []byte) (*goFile, error) {
	tree, err := parser.ParseFile(m.fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	f := &goFile{name: name, src: src, tree: tree, unresolved: map[*ast.Ident]bool{}}
	for _, id := range tree.Unresolved {
		f.unresolved[id] = true
	}
	f.built = matches(name, src)
	return f, nil
}

// matches tells whether a file is part of a build on this system.
func matches(name string, src []byte) bool {
	context := build.Default
	context.OpenFile = opener(src)
	ok, err := context.MatchFile(path.Dir(name), path.Base(name))
	return err == nil && ok
}

// goFiles lists the Go files of the main module: folders of other modules are left out, as are those that
// the go command passes over.
func goFiles(tree *worktree.Tree) ([]string, error) {
	names, err := tree.Walk(".", func(dir string) bool {
		base := path.Base(dir)
		return base == "vendor" || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' ||
			tree.Exists(path.Join(dir, "go.mod"))
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		base := path.Base(name)
		return path.Ext(base) != ".go" || base[0] == '.' || base[0] == '_'
	}), nil
}

// with returns the module as it is after some files changed; nil content takes a file away.
func (m *module) with(files map[string][]byte) (*module, error) {
	after := &module{path: m.path, goVersion: m.goVersion, fset: token.NewFileSet(), files: map[string]*goFile{}}
	src := map[string][]byte{}
	for name, f := range m.files {
		src[name] = f.src
	}
	for name, data := range files {
		if path.Ext(name) != ".go" {
			continue
		}
		if data == nil {
			delete(src, name)
		} else {
			src[name] = data
		}
	}
	var findings codegen.Findings
	for _, name := range sorted(src) {
		f, err := after.parse(name, src[name])
		if err != nil {
			findings = append(findings, codegen.SyntaxFindings(name, src[name], err)...)
			continue
		}
		after.files[name] = f
	}
	if len(findings) > 0 {
		return nil, findings
	}
	return after, nil
}

func pathOf(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// sorted gives a map's keys in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
