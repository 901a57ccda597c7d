package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/operon-sdk/operon/testdata/console"
)

// use checks the syntax of a block of code. Declarations in Go that the project has are replaced, so that later commands and a type check
// see them.
func (p *page) use(s console.Step) {
	p.Helper()
	var err error
	switch s.Language {
	case "go":
		if err = p.useGo(s); err == nil {
			_, err = parseGo(s.Code)
		}
	case "yaml":
		for decoder := yaml.NewDecoder(strings.NewReader(s.Code)); err == nil; {
			var value any
			err = decoder.Decode(&value)
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	case "json":
		if !json.Valid([]byte(s.Code)) {
			err = errors.New("malformed")
		}
	}
	if err != nil {
		p.Errorf("block %d: %v:\n%s", s.Block, err, s.Code)
	}
}

// forms are what a block of Go can be: a file, declarations, fields, statements after imports or alone, or declarations whose end is left out.
var forms = []string{"%s", "package p\n%s", "package p\ntype _ struct {\n%s\n}", "package p\nfunc _() {\n%s\n}", "package p\n%s\n}"}

// parseGo parses a block of Go in the first form that it has. The error is the one of a block of declarations.
func parseGo(code string) (parsed *ast.File, err error) {
	var first error
	for i, form := range forms {
		parsed, err := parser.ParseFile(token.NewFileSet(), "", fmt.Sprintf(form, code), parser.ParseComments)
		if err == nil {
			return parsed, nil
		}
		if i == 1 {
			first = err
		}
	}
	return nil, first
}

// useGo brings declarations into the project: those that a file has are replaced. On a page whose code is complete, the others, and
// declarations in the package controller, become files of their own with the imports of an earlier block.
func (p *page) useGo(s console.Step) error {
	text := "package controller\n\n" + s.Code
	block, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil || p.parseOnly {
		return nil
	}
	if len(block.Decls) > 0 && len(block.Decls) == len(importsOf(block)) {
		p.imports = text
		return nil
	}
	if len(names(block)) == 0 {
		return nil
	}
	p.open(s)
	file := p.declaring(block)
	isNew := p.complete && !strings.Contains(filepath.ToSlash(file), "/api/")
	if file == "" && !isNew {
		return nil
	}
	p.changed = true
	if file != "" {
		if err := replaceDeclarations(file, text, isNew); err != nil || !isNew {
			return err
		}
	}
	set := token.NewFileSet()
	added, err := parser.ParseFile(set, "", p.imports+"\n"+s.Code, parser.ParseComments)
	if err != nil {
		return err
	}
	return writeGo(filepath.Join(p.dir, "internal", "controller", fmt.Sprintf("example%d.go", s.Block)), set, added)
}

// importsOf returns the declarations of imports in a file.
func importsOf(file *ast.File) (found []ast.Decl) {
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			found = append(found, d)
		}
	}
	return found
}

// declaring returns the file of the project that has all functions and types of a block or, if its code is complete, one of them. It
// returns an empty string if there is none.
func (p *page) declaring(block *ast.File) string {
	found := ""
	_ = filepath.WalkDir(p.dir, func(file string, d fs.DirEntry, err error) error { // a file that can't be read has nothing to replace
		if err != nil || filepath.Ext(file) != ".go" || strings.HasPrefix(d.Name(), "zz_generated") || found != "" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
		has, shared := names(parsed), 0
		for name := range names(block) {
			if has[name] != nil {
				shared++
			}
		}
		if shared == len(names(block)) || shared > 0 && p.complete {
			found = file
		}
		return nil
	})
	return found
}

// names returns the declarations of functions and types in a file by name, methods with the type of their receiver.
func names(file *ast.File) map[string]ast.Decl {
	found := map[string]ast.Decl{}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				t := d.Recv.List[0].Type
				if star, ok := t.(*ast.StarExpr); ok {
					t = star.X
				}
				name = fmt.Sprint(t) + "." + name
			}
			found[name] = d
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					found[t.Name.Name] = d
				}
			}
		}
	}
	return found
}

// replaceDeclarations replaces declarations in a file with the declarations of a block, a Go file too, and adds the block's imports. With
// remove, it removes the declarations that the block has.
func replaceDeclarations(file, block string, remove bool) error {
	blockSet := token.NewFileSet()
	parsed, err := parser.ParseFile(blockSet, "", block, parser.ParseComments)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(data)
	parse := func() (*token.FileSet, *ast.File, error) {
		set := token.NewFileSet()
		current, err := parser.ParseFile(set, "", text, parser.ParseComments)
		return set, current, err
	}
	for name, decl := range names(parsed) {
		set, current, err := parse()
		if err != nil {
			return err
		}
		old := names(current)[name]
		if old == nil {
			continue
		}
		from, to := span(set, old)
		replacement := ""
		if !remove {
			newFrom, newTo := span(blockSet, decl)
			replacement = block[newFrom:newTo]
		}
		text = text[:from] + replacement + text[to:]
	}
	set, current, err := parse()
	if err != nil {
		return err
	}
	for _, spec := range parsed.Imports {
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name
		}
		astutil.AddNamedImport(set, current, name, strings.Trim(spec.Path.Value, `"`))
	}
	return writeGo(file, set, current)
}

// writeGo writes a file without the imports that it doesn't use.
func writeGo(name string, set *token.FileSet, file *ast.File) error {
	for _, spec := range slices.Clone(file.Imports) {
		imported, alias := strings.Trim(spec.Path.Value, `"`), ""
		if spec.Name != nil {
			alias = spec.Name.Name
		}
		if alias != "_" && !astutil.UsesImport(file, imported) {
			astutil.DeleteNamedImport(set, file, alias, imported)
		}
	}
	var b bytes.Buffer
	if err := format.Node(&b, set, file); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// span returns the offsets of a declaration with its comment.
func span(set *token.FileSet, decl ast.Decl) (from, to int) {
	start := decl.Pos()
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			start = d.Doc.Pos()
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			start = d.Doc.Pos()
		}
	}
	return set.Position(start).Offset, set.Position(decl.End()).Offset
}
