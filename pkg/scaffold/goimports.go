package scaffold

import (
	"bytes"
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"strings"
)

// fileImports lists the imports of one Go file, or none where go mod tidy passes the file over: it
// takes every build tag as both set and not set, except the tag ignore, which never is.
func fileImports(name string, data []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("%w; correct it and run the command again", firstError(err))
	}
	if !anyBuild(data) {
		return nil, nil
	}
	imports := make([]string, 0, len(file.Imports))
	for _, spec := range file.Imports {
		imports = append(imports, pathOf(spec))
	}
	return imports, nil
}

// anyBuild tells whether a file is part of some build, by the go:build line above its package clause.
func anyBuild(data []byte) bool {
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
			return err == nil && buildable(expr, true)
		}
		if err == nil {
			plus = append(plus, expr)
		}
	}
	for _, expr := range plus {
		if !buildable(expr, true) {
			return false
		}
	}
	return true
}

// buildable evaluates a constraint for tags that can be either way. want is what makes the whole true.
func buildable(expr constraint.Expr, want bool) bool {
	switch e := expr.(type) {
	case *constraint.TagExpr:
		return e.Tag != "ignore" && want
	case *constraint.NotExpr:
		return !buildable(e.X, !want)
	case *constraint.AndExpr:
		return buildable(e.X, want) && buildable(e.Y, want)
	case *constraint.OrExpr:
		return buildable(e.X, want) || buildable(e.Y, want)
	}
	return true
}
