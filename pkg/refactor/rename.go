package refactor

import (
	"context"
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/typecheck"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Renaming is a change of names. Code is renamed by the meaning of identifiers. Texts are renamed in lines that the
// scaffold wrote, and in other places if the meaning is clear.
type Renaming struct {
	// Pairs are the outputs of the scaffold with the old and the new names.
	Pairs []scaffold.RenderedPair
	// Dirs maps old to new directories of Go packages, Packages old directories to new package names.
	Dirs, Packages map[string]string
	// Module is the new module path, or "" if it does not change.
	Module string
	// Aliases maps old directories to the old and new names by which the scaffold imports their packages.
	Aliases map[string][2]string
	// APIs are renamed APIs before and after, Project the names of the project.
	APIs    [][2]project.Resource
	Project [2]string
	// Files maps old to new names of further files. Removed are generated files with old names.
	Files   map[string]string
	Removed []string
	// NoModule means that the project has no Go module. Its charts do not change.
	NoModule bool
	// Roles maps old to new names of Ansible roles, Variables the names of variables in roles, playbooks and other texts.
	Roles, Variables map[string]string
}

// renameError returns the error for code that would have another meaning after a renaming.
func renameError(findings diag.Findings) error {
	return &diag.Group{
		Heading: "nothing was changed, because the code would not compile, or would mean something else, with the new names:",
		Err:     findings, Advice: []string{"choose another name, or rename what is in its way first"},
	}
}

// Remaining lists the places of old names in a renamed project.
type Remaining struct {
	// Places are lines that may mean the old name, as file:line: text.
	Places []string
	// Released are the bundles, package manifests and catalogs that are published under an old name: directories or
	// catalog files.
	Released []string
}

// Rename applies a renaming to a tree, except to PROJECT, generated files, and released bundles and catalogs. It returns the
// places of remaining old names.
func Rename(ctx context.Context, tree *worktree.Tree, r Renaming, checker typecheck.Checker) (*Remaining, error) {
	if r.NoModule {
		x := &renamer{Renaming: r, tree: tree, m: &gosource.Module{}, changes: map[string][]change{}, files: map[string]string{}}
		if err := x.prepare(); err != nil {
			return nil, err
		}
		return x.finish(map[string][]byte{})
	}
	m, err := gosource.ReadModule(tree)
	if err != nil {
		return nil, err
	}
	libs, err := checker.Load(ctx, tree, m)
	if err != nil {
		return nil, err
	}
	x := &renamer{
		Renaming: r, tree: tree, m: m, info: newInfo(),
		newNames: map[token.Pos]string{}, words: map[string]string{}, changes: map[string][]change{}, files: map[string]string{},
	}
	findings, err := libs.Check(ctx, m, x.info)
	if err != nil {
		return nil, err
	}
	if len(findings) > 0 {
		return nil, brokenBefore(findings)
	}
	if err := x.prepare(); err != nil {
		return nil, err
	}
	x.findNames()
	if len(x.findings) > 0 {
		return nil, renameError(x.findings)
	}
	code := x.code()
	after, err := x.after(code)
	if err != nil {
		return nil, err
	}
	info := newInfo()
	if findings, err = libs.Check(ctx, after, info); err != nil {
		return nil, err
	}
	if len(findings) > 0 {
		return nil, renameError(findings)
	}
	if findings := x.compare(after, info); len(findings) > 0 {
		return nil, renameError(findings)
	}
	return x.finish(code)
}

// prepare determines the new names of files and the changes of lines that the scaffold wrote.
func (x *renamer) prepare() error {
	if err := x.planMoves(); err != nil {
		return err
	}
	return x.readChanges()
}

// finish writes the changed code and the other files.
func (x *renamer) finish(code map[string][]byte) (*Remaining, error) {
	if err := x.addOthers(code); err != nil {
		return nil, err
	}
	writeFiles(x.tree, code)
	for _, name := range x.Removed {
		if x.tree.Exists(name) {
			x.tree.Remove(name)
		}
	}
	return x.findRemaining()
}

func newInfo() *types.Info {
	return &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
	}
}

// A renamer applies a Renaming.
type renamer struct {
	Renaming
	tree *worktree.Tree
	m    *gosource.Module
	info *types.Info
	// files maps old to new file names.
	files map[string]string
	// changes are the changes of lines that the scaffold wrote, by file.
	changes map[string][]change
	// released maps the files of released bundles, package manifests and catalogs to the path to list.
	released map[string]string
	// newNames maps the positions of declarations to new names. words are the new names of words in comments.
	newNames map[token.Pos]string
	words    map[string]string
	findings diag.Findings
}

// planMoves determines the new names of files, and returns an error if they conflict.
func (x *renamer) planMoves() error {
	all, err := x.listFiles()
	if err != nil {
		return err
	}
	for _, name := range all {
		if to := x.inNewDir(name); to != name {
			x.files[name] = to
		}
	}
	for _, t := range x.Pairs {
		if t.From != t.To && !t.Part && x.tree.Exists(t.From) {
			x.files[t.From] = t.To
		}
	}
	for _, from := range slices.Sorted(maps.Keys(x.Files)) {
		if x.tree.Exists(from) {
			x.files[from] = x.Files[from]
		}
	}
	var moves []move
	for from, to := range x.files {
		moves = append(moves, move{from, to})
	}
	return checkMoves(x.tree, moves, "move away what is listed; files of the project would get these names")
}

// inNewDir returns the path of a file in the new place of its directory.
func (x *renamer) inNewDir(name string) string {
	for _, from := range slices.Backward(slices.Sorted(maps.Keys(x.Dirs))) { // the innermost directory counts
		if rest, in := strings.CutPrefix(name, from+"/"); in {
			return path.Join(x.Dirs[from], rest)
		}
	}
	return name
}

func (x *renamer) newPath(name string) string {
	if to := x.files[name]; to != "" {
		return to
	}
	return name
}

// newImport returns the new import path of a package of the module.
func (x *renamer) newImport(old string) string {
	dir, inModule := x.m.DirOf(old)
	if !inModule {
		return old
	}
	module := x.m.Path
	if x.Module != "" {
		module = x.Module
	}
	return path.Join(module, strings.TrimSuffix(x.inNewDir(dir+"/"), "/"))
}

func (x *renamer) after(code map[string][]byte) (*gosource.Module, error) {
	m := x.m
	if x.Module != "" {
		copied := *m
		copied.Path = x.Module
		m = &copied
	}
	after, err := m.With(code)
	if findings, ok := errors.AsType[diag.Findings](err); ok {
		return nil, renameError(findings)
	}
	return after, err
}

// skipDir reports whether a directory contains no code or manifests of the project.
func (x *renamer) skipDir(dir string) bool {
	return dir == "dist" || dir == "bundle" || dir == project.ChartRecords || isForeign(x.tree, dir) ||
		x.tree.Exists(path.Join(dir, "Chart.yaml")) && (x.NoModule || x.tree.Exists(project.ChartRecord(dir)))
}
