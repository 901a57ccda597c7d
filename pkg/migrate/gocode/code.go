package gocode

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
	"golang.org/x/mod/modfile"
)

// Note tells a person of code that does something else than it did, or that has to be rewritten by hand.
type Note struct {
	File string
	// Line is 0 where the code is not there any more.
	Line    int
	Message string
}

// String is the note with its place, as compilers write it.
func (n Note) String() string {
	if n.Line == 0 {
		return n.File + ": " + n.Message
	}
	return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Message)
}

// Code rewrites the Go files of a tree for the versions that today's scaffold requires: reconcilers, builders,
// managers, webhooks and tests. It may run again: what is of today stays. Files that cannot be parsed are left to
// the compiler to name, and so is what cannot be rewritten, but for what would compile and do something else:
// the notes tell of that. today are the files of today's scaffold, which suites take what they lack from.
func Code(tree *worktree.Tree, today map[string][]byte) ([]Note, error) {
	p, err := readProgram(tree)
	if err != nil {
		return nil, err
	}
	p.today = today
	notes := p.rewrite(tree, []func(*source){
		reconcilers, requests, runnables, builders, watches, owners, mappers, mapped, events, queues,
		configFiles, options, caches, decoders, withoutError, renames, calls, cores, loggers, specs, suites, leftovers,
	})
	notes = append(notes, p.unnamed()...)
	return sortNotes(append(notes, pins(p.mod)...)), nil
}

// Settled rewrites what is left of a main.go that could not be read when Code ran, as it held conflicts, and that a
// person has settled since: options and calls that cannot be anything else but old.
func Settled(tree *worktree.Tree) ([]Note, error) {
	p, err := readProgram(tree)
	if err != nil {
		return nil, err
	}
	return sortNotes(p.rewrite(tree, []func(*source){configFiles, options, caches, calls})), nil
}

func sortNotes(notes []Note) []Note {
	slices.SortStableFunc(notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(notes)
}

// rewrite takes all files through rewrites of one file each, in order. Each sees what those before it made of all.
func (p *program) rewrite(tree *worktree.Tree, rewrites []func(*source)) []Note {
	for _, rewrite := range rewrites {
		p.survey()
		for _, f := range p.files {
			rewrite(f)
		}
		for _, f := range p.files {
			f.apply()
		}
	}
	var notes []Note
	for _, f := range p.files {
		if text := f.bytes(); !bytes.Equal(text, f.original) {
			tree.WriteFile(f.Name, text, 0o644)
		}
		notes = append(notes, f.notes...)
	}
	return notes
}

// program is the Go files of a project.
type program struct {
	module string
	mod    []byte
	files  []*source
	today  map[string][]byte
	// functions are the functions and methods by folder and name, those of one name that is used more than once left out.
	functions map[string]function
	// contextual are those that were given a context.
	contextual map[string]bool
}

// function is a function or method with the file that it is in.
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

// survey notes the functions of all files as they are now.
func (p *program) survey() {
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

// dirOf is the folder of a package of the project.
func (p *program) dirOf(importPath string) (dir string, own bool) {
	if importPath == p.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, p.module+"/")
}
