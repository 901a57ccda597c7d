package refactor

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// APIName is an API as manifests and markers name it; Group is the whole group, cache.example.com.
type APIName struct{ Group, Version, Kind, Plural string }

// Renaming is a change of names. Code follows by what its identifiers stand for; texts follow line by line
// where the scaffold wrote them, and elsewhere where there is no doubt about what they mean.
type Renaming struct {
	// \[\]scaffold Pairs []scaffold are what the scaffold writes by the old names and by the new ones.
	Pairs []scaffold.RenderedPair
	// Folders of Go packages move from old to new. Packages are the new names of packages, by old folder.
	Folders, Packages map[string]string
	// Module is the module's new path, empty where it stays.
	Module string
	// Aliases are the names by which the scaffold imports packages, old and new, by old folder.
	Aliases map[string][2]string
	// APIs are the old and new names of APIs, Project those of the project, where they change.
	APIs    [][2]APIName
	Project [2]string
	// Files get other names beside those that the pairs tell. Removed are generated files that do.
	Files   map[string]string
	Removed []string
}

// RenameError tells that the code would not be the same after a renaming.
type RenameError struct{ Findings codegen.Findings }

func (e *RenameError) Error() string {
	const most = 20
	list, more := e.Findings, ""
	if len(list) > most {
		more = fmt.Sprintf("\nand %d more", len(list)-most)
		list = list[:most]
	}
	return "nothing was changed, because the code would not compile, or would mean something else, by the new names:\n" + list.Error() + more +
		"\nchoose another name, or rename what is in its way first"
}

// Unwrap gives the findings.
func (e *RenameError) Unwrap() error { return e.Findings }

// Remaining lists where a renamed project still has old names.
type Remaining struct {
	// Places are lines that may mean the old name, as file:line: text; only the user can decide.
	Places []string
	// Released are the bundles, package manifests and catalogs that are published under an old name: directories, or catalog files.
	Released []string
}

// Rename carries out a renaming in a tree, except in PROJECT, generated files, and released bundles and catalogs. It returns
// where old names remain.
func Rename(ctx context.Context, tree *worktree.Tree, r Renaming, o Options) (*Remaining, error) {
	m, err := readModule(tree)
	if err != nil {
		return nil, err
	}
	libs, err := listLibraries(ctx, tree, o.Go, nil, m)
	if err != nil {
		return nil, err
	}
	x := &renamer{
		Renaming: r, tree: tree, m: m, info: newInfo(),
		want: map[token.Pos]string{}, words: map[string]string{}, changes: map[string][]change{}, files: map[string]string{},
	}
	if findings := check(m, libs, x.info); len(findings) > 0 {
		return nil, &CodeError{Findings: findings}
	}
	if err := x.moves(); err != nil {
		return nil, err
	}
	if err := x.readChanges(); err != nil {
		return nil, err
	}
	x.survey()
	if len(x.findings) > 0 {
		return nil, &RenameError{x.findings}
	}
	code := x.code()
	after, err := x.after(code)
	if err != nil {
		return nil, err
	}
	info := newInfo()
	if findings := check(after, libs, info); len(findings) > 0 {
		return nil, &RenameError{findings}
	}
	if findings := x.compare(after, info); len(findings) > 0 {
		return nil, &RenameError{findings}
	}
	if err := x.others(code); err != nil {
		return nil, err
	}
	put(tree, code)
	for _, name := range r.Removed {
		if tree.Exists(name) {
			tree.Remove(name)
		}
	}
	return x.remaining()
}

func newInfo() *types.Info {
	return &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
	}
}

// renamer carries out a Renaming.
type renamer struct {
	Renaming
	tree *worktree.Tree
	m    *gosource.Module
	info *types.Info
	// files move from old to new names.
	files map[string]string
	// changes are what becomes of lines that the scaffold wrote, by file.
	changes map[string][]change
	// released are the files of released bundles, package manifests and catalogs, each with the path to list for it.
	released map[string]string
	// want are new names of what the code declares, by the place of the declaration; words those that
	// comments can be taken to mean.
	want     map[token.Pos]string
	words    map[string]string
	findings codegen.Findings
}

// moves finds out which files get other names, and refuses those that are in each other's way.
func (x *renamer) moves() error {
	all, err := x.walk()
	if err != nil {
		return err
	}
	for _, name := range all {
		if to := x.moved(name); to != name {
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
	var taken []string
	targets := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(x.files)) {
		to := x.files[name]
		if _, leaves := x.files[to]; targets[to] || x.tree.Exists(to) && !leaves {
			taken = append(taken, to)
		}
		targets[to] = true
	}
	if len(taken) > 0 {
		slices.Sort(taken)
		return &scaffold.ConflictError{Paths: slices.Compact(taken), Hint: "move away what is listed; files of the project would get these names"}
	}
	return nil
}

// moved is where a file goes with the folder that it is in.
func (x *renamer) moved(name string) string {
	for _, from := range slices.Backward(slices.Sorted(maps.Keys(x.Folders))) { // the innermost one decides
		if rest, in := strings.CutPrefix(name, from+"/"); in {
			return path.Join(x.Folders[from], rest)
		}
	}
	return name
}

// to is the new name of a file.
func (x *renamer) to(name string) string {
	if to := x.files[name]; to != "" {
		return to
	}
	return name
}

// newImport is the new path of a package of the module.
func (x *renamer) newImport(old string) string {
	dir, own := x.m.DirOf(old)
	if !own {
		return old
	}
	module := x.m.Path
	if x.Module != "" {
		module = x.Module
	}
	return path.Join(module, strings.TrimSuffix(x.moved(dir+"/"), "/"))
}

// after is the module as it is with the changed code.
func (x *renamer) after(code map[string][]byte) (*gosource.Module, error) {
	m := x.m
	if x.Module != "" {
		copied := *m
		copied.Path = x.Module
		m = &copied
	}
	after, err := withChanges(m, code)
	if findings, ok := errors.AsType[codegen.Findings](err); ok {
		return nil, &RenameError{findings}
	}
	return after, err
}

// skipped names the folders that hold nothing of the project's own.
func (x *renamer) skipped(dir string) bool {
	base := path.Base(dir)
	return base == ".git" || base == "vendor" || base == "node_modules" || dir == "bin" || dir == "dist" || dir == "bundle" ||
		x.tree.Exists(path.Join(dir, "go.mod"))
}
