package action

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Header returns the comment at the beginning of new Go files and the file that contains it. Both are empty if the project
// has none.
func (p *Project) Header(tree *worktree.Tree) (header, file string, err error) {
	found, err := calls.Find(tree)
	if err != nil {
		return "", "", err
	}
	return p.HeaderOf(tree, found.Calls)
}

// HeaderOf is header for a project whose calls of controller-gen are given.
func (p *Project) HeaderOf(tree *worktree.Tree, found []codegen.Call) (header, file string, err error) {
	options := codegen.Options{Root: tree.Root(), Overlay: tree.Edits(), Calls: found, Year: p.Year, Env: p.Environ}
	header, file, err = codegen.Header(options)
	if err == nil && file == "" {
		options.Calls = nil
		header, file, err = codegen.Header(options)
	}
	if err != nil {
		return "", "", err
	}
	if header = normalizeHeader([]byte(header)); !isComment(header) {
		return "", "", fmt.Errorf("%s must contain a Go comment, /* … */ or lines that start with //; correct it, or make it an empty file for no header", file)
	}
	return header, file, nil
}

// normalizeHeader returns a header without a byte order mark, carriage returns and surrounding white space.
func normalizeHeader(data []byte) string {
	text := strings.TrimPrefix(string(data), "\uFEFF")
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

// isComment reports whether a header consists of Go comments.
func isComment(header string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", header+"\n\npackage header\n\nvar end int\n", 0)
	return err == nil && file.Name.Name == "header" && len(file.Decls) == 1
}
