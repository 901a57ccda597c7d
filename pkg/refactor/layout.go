package refactor

import (
	"errors"
	"fmt"
	"go/build/constraint"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Folders of the layouts before go/v4.
const (
	oldControllers = "controllers"
	oldAPIs        = "apis"
)

// Layout is a project's move from an older layout to go/v4.
type Layout struct {
	tree *worktree.Tree
	m    *gosource.Module
	// folders are the old ones with all below them, and their new ones. root tells that the program moves from
	// the project's root to cmd.
	folders map[string]string
	root    bool
	moves   *moves
}

// ToV4 moves the code of a project of the layouts go/v2 and go/v3 to where go/v4 has it: main.go to cmd, controllers
// to internal/controller, and the APIs of several groups from apis to api. Imports, what they qualify and relative
// paths follow in all of the module's files; everything else keeps its bytes. config gets the new layout.
//
// Names are resolved by each file's imports alone, since the libraries of an old project may not be at hand: whether
// the code compiles is not looked at. What cannot be moved is refused by name, with nothing changed. For a project of
// another layout it returns nil.
func ToV4(tree *worktree.Tree, config *project.Config) (*Layout, error) {
	if !config.OlderLayout() {
		return nil, nil
	}
	m, err := readModule(tree)
	if findings, ok := errors.AsType[codegen.Findings](err); ok {
		return nil, &CodeError{Findings: findings}
	}
	if err != nil {
		return nil, err
	}
	l := &Layout{tree: tree, m: m, folders: map[string]string{}, moves: &moves{files: map[string][]destination{}, alias: map[string]string{}}}
	l.folders[oldControllers] = controllerDir
	if config.HasAPIs(oldAPIs) {
		l.folders[oldAPIs] = "api"
	}
	for _, r := range config.Resources() {
		if r.Group != "" {
			l.moves.alias[path.Join(oldControllers, r.Group)] = r.PackageName() + "controllers"
			l.moves.alias[path.Join(controllerDir, r.Group)] = r.PackageName() + "controller"
		}
	}
	l.moves.where, l.moves.exists = l.where, tree.Exists
	if err := l.plan(); err != nil {
		return nil, err
	}
	if err := l.inTheWay(); err != nil {
		return nil, err
	}
	if err := l.carryOut(); err != nil {
		return nil, err
	}
	return l, config.MoveToV4()
}

// where is the new place of a file or folder of the project.
func (l *Layout) where(name string) string {
	for from, to := range l.folders {
		if name == from || strings.HasPrefix(name, from+"/") {
			return path.Join(to, strings.TrimPrefix(name, from))
		}
	}
	if d := l.moves.files[name]; len(d) > 0 {
		return d[0].name
	}
	return name
}

// plan finds out which files go where.
func (l *Layout) plan() error {
	var findings codegen.Findings
	for _, from := range slices.Sorted(maps.Keys(l.folders)) {
		names, err := l.tree.Walk(from, nil)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			delete(l.folders, from)
		}
		for _, name := range names {
			if path.Base(name) == "go.mod" {
				findings = append(findings, codegen.Finding{File: name, Line: 1,
					Message: fmt.Sprintf("is a module of its own, and %s moves to %s; move it out of there first", from, l.folders[from])})
			}
			l.move(name, path.Join(l.folders[from], strings.TrimPrefix(name, from)))
		}
	}
	for _, name := range l.m.Names() {
		f := l.m.Files[name]
		if f.Dir() != "." || strings.TrimSuffix(f.AST.Name.Name, "_test") != "main" || isOutsidePackage(f) {
			continue
		}
		l.root = true
		l.move(name, path.Join("cmd", name))
		for _, line := range directives(f, "//go:embed ") {
			findings = append(findings, codegen.Finding{File: name, Line: line,
				Message: "embeds files of the project's root, which Go does not allow from cmd, where main.go goes; move this to a package of its own first"})
		}
	}
	if len(findings) > 0 {
		return fmt.Errorf("the project cannot move to layout %s as it is, nothing was changed:\n%w", project.LayoutGoV4, findings)
	}
	return nil
}

// move notes that a file moves. The package controllers is called controller then.
func (l *Layout) move(name, to string) {
	d := destination{name: to}
	if f := l.m.Files[name]; f != nil {
		d.pkg = f.AST.Name.Name
		if f.IsExternalTest() {
			d.pkg = strings.TrimSuffix(d.pkg, "_test")
		}
		if f.Dir() == oldControllers && d.pkg == oldControllers {
			d.pkg = path.Base(controllerDir)
		}
	}
	l.moves.files[name] = []destination{d}
}

// aside tells that a file is no part of its folder's package: a program to be run by name, or a list of tools.
func isOutsidePackage(f *gosource.File) bool {
	for _, group := range f.AST.Comments {
		for _, c := range group.List {
			if c.Pos() >= f.AST.Package || !constraint.IsGoBuild(c.Text) && !constraint.IsPlusBuild(c.Text) {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			// True with every tag but those two: no system and no choice of a person takes it in.
			if err == nil && !expr.Eval(func(tag string) bool { return tag != "ignore" && tag != "tools" }) &&
				expr.Eval(func(string) bool { return true }) {
				return true
			}
		}
	}
	return false
}

// directives lists the lines of a file's comments that start with a text.
func directives(f *gosource.File, start string) []int {
	var found []int
	for _, group := range f.AST.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, start) {
				found = append(found, 1+strings.Count(string(f.Text[:c.Pos()-f.AST.FileStart]), "\n"))
			}
		}
	}
	return found
}

// inTheWay refuses moves onto files, and of packages into folders that hold one.
func (l *Layout) inTheWay() error {
	var paths []string
	folders := map[string]bool{}
	for name, to := range l.moves.files {
		if l.tree.Exists(to[0].name) {
			paths = append(paths, to[0].name)
		}
		if f := l.m.Files[name]; f != nil {
			folders[to[0].dir()] = true
		}
	}
	for name, f := range l.m.Files {
		if folders[f.Dir()] && l.moves.files[name] == nil && !isOutsidePackage(f) {
			paths = append(paths, name)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	return &scaffold.ConflictError{Paths: slices.Compact(paths), Hint: "main.go goes to cmd, controllers to internal/controller and apis to api; " +
		"move away what is listed, to packages of other names, and run the command again"}
}

// carryOut rewrites and moves.
func (l *Layout) carryOut() error {
	files := rewrite(l.m, l.moves)
	if _, err := withChanges(l.m, files); err != nil {
		return fmt.Errorf("the code could not be read after the move: %w", err)
	}
	moved := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(l.moves.files)) {
		to := l.moves.files[name][0].name
		data, ok := files[to]
		if !ok {
			var err error
			if data, err = l.tree.ReadFile(name); err != nil {
				return fmt.Errorf("reading %s: %w", name, err)
			}
		}
		l.tree.Move(name, to, data)
		moved[name], moved[to] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !moved[name] {
			l.tree.WriteFile(name, files[name], 0o644)
		}
	}
	return nil
}
