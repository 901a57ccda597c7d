package refactor

import (
	"errors"
	"fmt"
	"go/build/constraint"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Layout is a move of a project from an older layout to go/v4.
type Layout struct {
	tree *worktree.Tree
	m    *gosource.Module
	// dirs maps moved directories to their new paths. root reports whether the program moves from the root directory to cmd.
	dirs  map[string]string
	root  bool
	moves *moves
}

// MoveToV4 moves the code of a project of the layouts go/v2 and go/v3 to the directories of go/v4: main.go to cmd,
// controllers to internal/controller, and the APIs of several groups from apis to api. Imports, qualified identifiers
// and relative paths are updated in all files of the module. config gets the new layout.
//
// Names are resolved by the imports of each file only, because the libraries of an old project may not be available;
// the code is not type-checked. If something cannot be moved, the error names it and nothing is changed. For other
// layouts it returns nil.
func MoveToV4(tree *worktree.Tree, config *project.Config) (*Layout, error) {
	if !config.OlderLayout() {
		return nil, nil
	}
	m, err := gosource.ReadModule(tree)
	if findings, ok := errors.AsType[diag.Findings](err); ok {
		return nil, brokenBefore(findings)
	}
	if err != nil {
		return nil, err
	}
	l := &Layout{tree: tree, m: m, dirs: map[string]string{}, moves: &moves{files: map[string][]destination{}, alias: map[string]string{}}}
	l.dirs[project.OldControllerDir] = project.ControllerDir
	if config.HasAPIs(project.OldAPIDir) {
		l.dirs[project.OldAPIDir] = project.APIDir
	}
	for _, r := range config.Resources() {
		if r.Group != "" {
			l.moves.alias[path.Join(project.OldControllerDir, r.Group)] = r.PackageName() + "controllers"
			l.moves.alias[path.Join(project.ControllerDir, r.Group)] = r.PackageName() + "controller"
		}
	}
	l.moves.newPath, l.moves.exists = l.newPath, tree.Exists
	if err := l.plan(); err != nil {
		return nil, err
	}
	if err := l.checkTargets(); err != nil {
		return nil, err
	}
	if err := l.execute(); err != nil {
		return nil, err
	}
	return l, config.MoveToV4()
}

// newPath returns the new path of a file or directory of the project.
func (l *Layout) newPath(name string) string {
	for from, to := range l.dirs {
		if name == from || strings.HasPrefix(name, from+"/") {
			return path.Join(to, strings.TrimPrefix(name, from))
		}
	}
	if d := l.moves.files[name]; len(d) > 0 {
		return d[0].name
	}
	return name
}

// plan determines the moves of files.
func (l *Layout) plan() error {
	var findings diag.Findings
	for _, from := range slices.Sorted(maps.Keys(l.dirs)) {
		names, err := l.tree.Walk(from, nil)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			delete(l.dirs, from)
		}
		for _, name := range names {
			if path.Base(name) == "go.mod" {
				findings = append(findings, diag.Finding{Position: diag.Position{File: name, Line: 1},
					Problem: fmt.Sprintf("is a separate module in %s, which moves to %s; move it out of there first", from, l.dirs[from])})
			}
			l.move(name, path.Join(l.dirs[from], strings.TrimPrefix(name, from)))
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
			findings = append(findings, diag.Finding{Position: diag.Position{File: name, Line: line},
				Problem: "embeds files of the project's root, which Go does not allow from cmd, to which main.go moves; move the directive to another package first"})
		}
	}
	if len(findings) > 0 {
		return &diag.Group{Heading: fmt.Sprintf("the project cannot move to layout %s, nothing was changed:", project.LayoutGoV4), Err: findings}
	}
	return nil
}

// move records the move of a file. The package controllers is renamed to controller.
func (l *Layout) move(name, to string) {
	d := destination{name: to}
	if f := l.m.Files[name]; f != nil {
		d.pkg = f.AST.Name.Name
		if f.IsExternalTest() {
			d.pkg = strings.TrimSuffix(d.pkg, "_test")
		}
		if f.Dir() == project.OldControllerDir && d.pkg == project.OldControllerDir {
			d.pkg = path.Base(project.ControllerDir)
		}
	}
	l.moves.files[name] = []destination{d}
}

// isOutsidePackage reports whether a build constraint excludes a file from the package of its directory: a program that
// is run by name, or a list of tools.
func isOutsidePackage(f *gosource.File) bool {
	for _, group := range f.AST.Comments {
		for _, c := range group.List {
			if c.Pos() >= f.AST.Package || !constraint.IsGoBuild(c.Text) && !constraint.IsPlusBuild(c.Text) {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			// False even if all other tags are set: no system and no choice of the user includes the file.
			if err == nil && !expr.Eval(func(tag string) bool { return tag != "ignore" && tag != "tools" }) &&
				expr.Eval(func(string) bool { return true }) {
				return true
			}
		}
	}
	return false
}

// directives returns the lines of the comments of a file that start with a text.
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

// checkTargets returns an error if moves would overwrite files, or if the target directory of a package contains one.
func (l *Layout) checkTargets() error {
	var paths []string
	targets := map[string]bool{}
	for name, to := range l.moves.files {
		if l.tree.Exists(to[0].name) {
			paths = append(paths, to[0].name)
		}
		if f := l.m.Files[name]; f != nil {
			targets[to[0].dir()] = true
		}
	}
	for name, f := range l.m.Files {
		if targets[f.Dir()] && l.moves.files[name] == nil && !isOutsidePackage(f) {
			paths = append(paths, name)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	return &scaffold.ConflictError{Places: scaffold.InTheWay(slices.Compact(paths)...), Hint: "main.go moves to cmd, controllers to internal/controller and apis to api; " +
		"move away what is listed, to other packages, and run the command again"}
}

// execute rewrites and moves the files.
func (l *Layout) execute() error {
	files := rewrite(l.m, l.moves)
	if _, err := l.m.With(files); err != nil {
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
