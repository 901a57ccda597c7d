package scaffold

import (
	"bytes"
	"go/build/constraint"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// fileImports lists the imports of a Go file, or none if go mod tidy ignores the file: it considers each build tag both
// set and unset, except the tag ignore, which is never set.
func fileImports(name string, data []byte) ([]string, error) {
	file, err := gosource.ParseImports(name, data)
	if err != nil {
		return nil, syntaxError(err)
	}
	if !isInAnyBuild(data) {
		return nil, nil
	}
	imports := make([]string, 0, len(file.AST.Imports))
	for _, spec := range file.AST.Imports {
		imports = append(imports, gosource.ImportPath(spec))
	}
	return imports, nil
}

// isInAnyBuild reports whether a file is part of a build with any tags, by its build constraint.
func isInAnyBuild(data []byte) bool {
	if !bytes.Contains(data, []byte("//go:build")) && !bytes.Contains(data, []byte("+build")) {
		return true
	}
	var plus []constraint.Expr
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") {
			break
		}
		if !constraint.IsGoBuild(line) && !constraint.IsPlusBuild(line) {
			continue
		}
		expr, err := constraint.Parse(line)
		if constraint.IsGoBuild(line) {
			return err == nil && canBe(expr, true)
		}
		if err == nil {
			plus = append(plus, expr)
		}
	}
	for _, expr := range plus {
		if !canBe(expr, true) {
			return false
		}
	}
	return true
}

// canBe reports whether a constraint has a value for some set of tags.
func canBe(expr constraint.Expr, want bool) bool {
	switch e := expr.(type) {
	case *constraint.TagExpr:
		return e.Tag != "ignore" && want
	case *constraint.NotExpr:
		return !canBe(e.X, !want)
	case *constraint.AndExpr:
		return canBe(e.X, want) && canBe(e.Y, want)
	case *constraint.OrExpr:
		return canBe(e.X, want) || canBe(e.Y, want)
	}
	return true
}
