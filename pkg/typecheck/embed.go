package typecheck

import (
	"go/ast"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// embedFindings returns the findings about patterns of go:embed directives that match no file of a tree.
func embedFindings(tree *worktree.Tree, f *gosource.File) diag.Findings {
	if tree == nil || !imports(f.AST, "embed") {
		return nil
	}
	var findings diag.Findings
	for _, group := range f.AST.Comments {
		for _, comment := range group.List {
			text, ok := strings.CutPrefix(comment.Text, "//go:embed")
			if !ok || text == "" || !strings.ContainsAny(text[:1], " \t") {
				continue
			}
			for _, pattern := range embedPatterns(text) {
				if !matchesFile(tree, f.Dir(), strings.TrimPrefix(pattern, "all:")) {
					at := f.Fset.Position(comment.Pos())
					findings = append(findings, diag.Finding{
						Position: diag.Position{File: f.Name, Line: at.Line, Column: at.Column},
						Problem:  "pattern " + pattern + ": no matching files found",
					})
				}
			}
		}
	}
	return findings
}

// embedPatterns returns the patterns in the arguments of a go:embed directive: words, or strings as in Go.
func embedPatterns(text string) []string {
	var patterns []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if quoted, err := strconv.QuotedPrefix(text); err == nil && text[0] != '\'' {
			pattern, err := strconv.Unquote(quoted)
			if err != nil {
				return patterns
			}
			patterns, text = append(patterns, pattern), text[len(quoted):]
			continue
		}
		word := strings.Fields(text)[0]
		patterns, text = append(patterns, word), text[len(word):]
	}
	return patterns
}

// matchesFile reports whether a pattern relative to a directory matches a file, or a directory that contains one.
func matchesFile(tree *worktree.Tree, dir, pattern string) bool {
	// Most patterns name a file; walking the directory may be expensive.
	if name := path.Join(dir, pattern); fs.ValidPath(name) && tree.Exists(name) {
		return true
	}
	names, err := tree.Walk(dir, nil)
	if err != nil {
		return true // reading the project reports it
	}
	for _, name := range names {
		for rel := strings.TrimPrefix(name, dir+"/"); rel != "."; rel = path.Dir(rel) {
			if ok, err := path.Match(pattern, rel); ok || err != nil {
				return ok
			}
		}
	}
	return false
}

func imports(f *ast.File, importPath string) bool {
	for _, spec := range f.Imports {
		if gosource.ImportPath(spec) == importPath {
			return true
		}
	}
	return false
}
