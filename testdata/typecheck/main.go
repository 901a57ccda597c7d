// Package main type-checks this module's packages and their tests for other operating systems, from source.
// Nothing is compiled, so it costs seconds per system where "go vet" first compiles every dependency.
//
//	go run ./testdata/typecheck -systems darwin,windows ./...
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

func main() {
	systems := flag.String("systems", "darwin,windows", "comma-separated values of GOOS to check")
	flag.Parse()
	if err := run(strings.Split(*systems, ","), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(systems, patterns []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	failed := false
	for _, system := range systems {
		start := time.Now()
		checked, findings, err := check(dir, system, patterns)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		for _, finding := range findings {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, finding)
		}
		failed = failed || len(findings) > 0
		fmt.Printf("%s: type-checked %d packages in %s\n", system, checked, time.Since(start).Round(time.Second))
	}
	if failed {
		return errors.New("the module does not type-check on every system")
	}
	return nil
}

// check type-checks the packages that patterns name, with their tests, as system sees them. It returns how
// many there are and the errors in them, each with its position.
func check(dir, system string, patterns []string) (checked int, findings []packages.Error, err error) {
	roots, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			return parse(fset, dir, name, src)
		},
	}, patterns...)
	if err != nil {
		return 0, nil, err
	}
	if len(roots) == 0 {
		return 0, nil, fmt.Errorf("no packages match %q", patterns)
	}
	seen := map[string]bool{} // a package and its variant for tests share files
	for _, root := range roots {
		if strings.HasSuffix(root.PkgPath, ".test") {
			continue // the main package that the go command generates
		}
		checked++
		for _, finding := range root.Errors {
			if !seen[finding.Error()] {
				seen[finding.Error()] = true
				findings = append(findings, finding)
			}
		}
	}
	return checked, findings, nil
}

// parse parses a file. It removes the function bodies of dependencies. Errors in dependencies that this causes, such as unused
// imports, are not reported.
func parse(fset *token.FileSet, dir, name string, src []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, name, src, parser.AllErrors|parser.SkipObjectResolution)
	if file == nil || strings.HasPrefix(name, dir+string(filepath.Separator)) {
		return file, err
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
	return file, err
}
