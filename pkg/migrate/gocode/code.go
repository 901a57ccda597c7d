package gocode

import (
	"bytes"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Rewrite updates the Go files of a tree to the library versions of the current scaffold: reconcilers, builders,
// managers, webhooks and tests. Repeating it changes nothing. Files that cannot be parsed, and code that cannot be
// rewritten, are left to the compiler. The findings are notes about code that behaves differently or must be rewritten by
// hand. current are the files of the current scaffold, from which suites get missing parts.
func Rewrite(tree *worktree.Tree, current map[string][]byte) (diag.Findings, error) {
	p, err := readProgram(tree)
	if err != nil {
		return nil, err
	}
	p.current = current
	notes := p.rewrite(tree, []func(*source){
		reconcilers, requests, runnables, builders, watches, owners, mappers, mapped, events, queues,
		configFiles, options, caches, decoders, withoutError, renames, calls, cores, loggers, specs, suites, csvMarkers, leftovers,
	})
	notes = append(notes, p.unnamed()...)
	return sortNotes(append(notes, pins(p.mod)...)), nil
}

// RewriteAfterConflicts updates old code of a project whose requirements are current: of a main.go that contained conflicts when Rewrite ran,
// options and calls that do not exist in current versions; and markers.
func RewriteAfterConflicts(tree *worktree.Tree) (diag.Findings, error) {
	p, err := readProgram(tree)
	if err != nil {
		return nil, err
	}
	return sortNotes(p.rewrite(tree, []func(*source){configFiles, options, caches, calls, csvMarkers})), nil
}

// sortNotes sorts notes by position, keeps the order of those at the same position, and removes duplicates.
func sortNotes(notes diag.Findings) diag.Findings {
	slices.SortStableFunc(notes, func(a, b diag.Finding) int { return a.Position.Compare(b.Position) })
	return notes.Distinct()
}

// rewrite applies rewrites to all files in order. Each rewrite applies to the results of the preceding ones.
func (p *program) rewrite(tree *worktree.Tree, rewrites []func(*source)) diag.Findings {
	for _, rewrite := range rewrites {
		p.indexFunctions()
		for _, f := range p.files {
			rewrite(f)
		}
		for _, f := range p.files {
			f.apply()
		}
	}
	var notes diag.Findings
	for _, f := range p.files {
		if text := f.bytes(); !bytes.Equal(text, f.original) {
			tree.WriteFile(f.Name, text, 0o644)
		}
		notes = append(notes, f.notes...)
	}
	return notes
}

// A program holds the Go files of a project.
type program struct {
	module  string
	mod     []byte
	files   []*source
	current map[string][]byte
	// functions maps directory and name to functions and methods. Ambiguous names map to the zero value.
	functions map[string]function
	// contextual are the keys of functions that were given a context parameter.
	contextual map[string]bool
}

// A function is a function or method with its file.
type function struct {
	source *source
	decl   *ast.FuncDecl
}

func readProgram(tree *worktree.Tree) (*program, error) {
	names, err := gosource.ListFiles(tree)
	if err != nil {
		return nil, fmt.Errorf("listing the project's Go files: %w", err)
	}
	p := &program{contextual: map[string]bool{}}
	if p.mod, err = tree.ReadFile("go.mod"); err != nil {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	p.module = modfile.ModulePath(p.mod)
	for _, name := range names {
		text, err := tree.ReadFile(name)
		if err != nil {
			continue // a broken link
		}
		if f := newSource(p, name, text); f != nil {
			p.files = append(p.files, f)
		}
	}
	return p, nil
}

// indexFunctions records the functions of all files.
func (p *program) indexFunctions() {
	p.functions = map[string]function{}
	for _, f := range p.files {
		for _, decl := range f.AST.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				key := f.Dir() + "." + d.Name.Name
				if _, twice := p.functions[key]; twice {
					p.functions[key] = function{}
					continue
				}
				p.functions[key] = function{f, d}
			}
		}
	}
}

// dirOf returns the directory of a package of the project.
func (p *program) dirOf(importPath string) (dir string, inModule bool) {
	if importPath == p.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, p.module+"/")
}
