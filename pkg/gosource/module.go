package gosource

import (
	"errors"
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A Module is the Go code of a project: all files of the main module, whatever their build constraints.
type Module struct {
	// Path is the module path.
	Path string
	// GoVersion is the version of the go directive in the form of go/types, or "".
	GoVersion string
	Fset      *token.FileSet
	Files     map[string]*File
}

// ReadModule parses the Go files of a tree. The error is diag.Findings if some are not valid Go.
func ReadModule(tree *worktree.Tree) (*Module, error) {
	data, err := tree.ReadFile("go.mod")
	if err != nil {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	mod, err := modfile.ParseLax("go.mod", data, nil)
	if err == nil && mod.Module == nil {
		err = errors.New("it has no module line")
	}
	if err != nil {
		return nil, fmt.Errorf("go.mod cannot be read (%w); correct it and run the command again", err)
	}
	m := &Module{Path: mod.Module.Mod.Path}
	if mod.Go != nil {
		m.GoVersion = "go" + mod.Go.Version
	}
	names, err := ListFiles(tree)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, name := range names {
		if texts[name], err = tree.ReadFile(name); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	if err := m.parse(texts); err != nil {
		return nil, err
	}
	return m, nil
}

// With returns the module with changed files; nil content removes a file. The error is diag.Findings if some are
// not valid Go.
func (m *Module) With(changes map[string][]byte) (*Module, error) {
	texts := map[string][]byte{}
	for name, f := range m.Files {
		texts[name] = f.Text
	}
	for name, text := range changes {
		switch {
		case path.Ext(name) != ".go":
		case text == nil:
			delete(texts, name)
		default:
			texts[name] = text
		}
	}
	after := &Module{Path: m.Path, GoVersion: m.GoVersion}
	if err := after.parse(texts); err != nil {
		return nil, err
	}
	return after, nil
}

func (m *Module) parse(texts map[string][]byte) error {
	m.Fset, m.Files = token.NewFileSet(), map[string]*File{}
	var findings diag.Findings
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := ParseIn(m.Fset, name, texts[name])
		if err != nil {
			findings = append(findings, SyntaxFindings(name, texts[name], err)...)
			continue
		}
		m.Files[name] = f
	}
	return findings.Err()
}

// Names returns the names of the files in order.
func (m *Module) Names() []string { return slices.Sorted(maps.Keys(m.Files)) }

// ImportPath returns the import path of a directory.
func (m *Module) ImportPath(dir string) string { return path.Join(m.Path, dir) }

// DirOf returns the directory of an import path; ok is false if it is not one of the module.
func (m *Module) DirOf(importPath string) (dir string, ok bool) {
	if importPath == m.Path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.Path+"/")
}

// ListFiles returns the names of the Go files of the main module. It leaves out other modules and the directories that
// the go command ignores.
func ListFiles(tree *worktree.Tree) ([]string, error) {
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
