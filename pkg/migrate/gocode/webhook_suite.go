package gocode

import (
	"bytes"
	_ "embed" // suites.txt
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// suiteLines contains the hashes of the lines of webhook suites in old scaffolds, one per line. TestRecordSuites writes it.
//
//go:embed suites.txt
var suiteLines string

const suiteFile = "webhook_suite_test.go"

// currentSuite returns the current suite of webhooks with the additions of the user to the old one. ok is false if the
// user changed scaffolded parts.
func (pkg *apiPackage) currentSuite(f *source, current []byte, p *program) ([]byte, bool) {
	if path.Base(f.Name) != suiteFile || !runsSpecs(f) {
		return nil, false
	}
	suite := newSource(p, suiteFile, current)
	own, ok := ownDeclarations(f)
	if suite == nil || !ok {
		return nil, false
	}
	pkg.relocate(f)
	text := ""
	for i, decl := range declarations(f) {
		if !own[i] {
			continue
		}
		key := declared(decl)
		isSame := func(other ast.Decl) bool { return declared(other) == key }
		if key != "" && slices.ContainsFunc(declarations(suite), isSame) {
			return nil, false
		}
		text += "\n" + f.declarationText(decl) + "\n"
		ok = suite.useImportsOf(f, decl) && ok
	}
	imported := dotImports(suite)
	foreign := func(importPath string) bool { return !slices.Contains(imported, importPath) }
	if !ok || text != "" && slices.ContainsFunc(dotImports(f), foreign) {
		return nil, false
	}
	suite.insert(suite.AST.FileEnd, text)
	suite.apply()
	return suite.bytes(), true
}

// dotImports returns the dot imports of a file. Specs that do not wait for a call are the same in both versions of Ginkgo.
func dotImports(f *source) []string {
	var paths []string
	for _, spec := range f.AST.Imports {
		switch name, imported := f.ImportName(spec), gosource.ImportPath(spec); {
		case name == "." && imported == ginkgo && !bytes.Contains(f.Text, []byte(" Done)")):
			paths = append(paths, ginkgo+"/v2")
		case name == ".", name == "_":
			paths = append(paths, imported)
		}
	}
	return paths
}

// declarations returns the declarations of a file without imports.
func declarations(f *source) []ast.Decl {
	return slices.DeleteFunc(slices.Clone(f.AST.Decls), isImport)
}

// declared returns the name of a declaration, or "" if nothing can refer to it.
func declared(decl ast.Decl) string {
	name := ""
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name = decl.Name.Name
	case *ast.GenDecl:
		switch spec := decl.Specs[0].(type) {
		case *ast.ValueSpec:
			name = spec.Names[0].Name
		case *ast.TypeSpec:
			name = spec.Name.Name
		}
	}
	return strings.Trim(name, "_")
}

// ownDeclarations returns the declarations of a suite that the user added. ok is false if the user changed a scaffolded
// one or added comments between them.
func ownDeclarations(f *source) (own map[int]bool, ok bool) {
	known := map[string]bool{}
	for line := range strings.Lines(suiteLines) {
		known[strings.TrimSpace(line)] = true
	}
	all := func(text string) bool {
		for line := range strings.Lines(text) {
			if key := suiteLine(line); key != "" && !known[key] {
				return false
			}
		}
		return true
	}
	own = map[int]bool{}
	end := f.Offset(f.AST.Name.End())
	for _, decl := range f.AST.Decls {
		if isImport(decl) {
			end = f.Offset(decl.End())
		}
	}
	for i, decl := range declarations(f) {
		from := f.Offset(startOf(decl))
		if !all(string(f.Text[min(end, from):from])) {
			return nil, false
		}
		end = f.Offset(decl.End())
		if all(string(f.Text[from:end])) {
			continue
		}
		if isCommonDeclaration(f, decl) {
			return nil, false
		}
		own[i] = true
	}
	return own, all(string(f.Text[end:]))
}

// isCommonDeclaration reports whether all suites have a declaration.
func isCommonDeclaration(f *source, decl ast.Decl) bool {
	text := f.Source(decl)
	for _, part := range []string{"= BeforeSuite(", "= AfterSuite(", "RunSpecs"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return slices.Contains([]string{"cfg", "k8sClient", "testEnv", "ctx", "cancel"}, declared(decl))
}

var (
	objectLiteral = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(&\w+\{\}\)`) })
	versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+\.[0-9.]+`) })
)

// suiteLine returns a line in the form for comparison, without parts that differ between projects.
func suiteLine(line string) string {
	line = strings.TrimSpace(strings.ReplaceAll(line, "//+", "// +"))
	line = strings.ReplaceAll(line, `"..", `, "")
	line = objectLiteral().ReplaceAllString(line, "(&K{})")
	line = strings.Join(strings.Fields(versionNumber().ReplaceAllString(line, "0")), " ")
	if line == "" {
		return ""
	}
	return fmt.Sprintf("%016x", textdiff.Hash(line))
}
