package scaffold

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Paths are paths that differ between projects, relative to the root. An empty one means the layout's.
type Paths struct {
	// Main is the Go file that starts the manager, such as cmd/main.go.
	Main string
	// Controllers is the directory of the controllers, such as internal/controller. Multigroup projects divide it by group.
	Controllers string
}

// CRDPrefix returns the directory of the generated CRDs in the form of the entries of config/crd/kustomization.yaml.
func (p Project) CRDPrefix() string {
	switch p.CRDs {
	case "":
		return "bases/"
	case ".":
		return ""
	}
	return p.CRDs + "/"
}

// findCRDs returns the directory of the CRDs that config/crd/kustomization.yaml lists, or "" if there is not exactly one.
func findCRDs(tree *worktree.Tree) string {
	const name = project.CRDKustomization
	content, err := tree.ReadFile(name)
	if err != nil {
		return ""
	}
	found := ""
	for _, doc := range scanYAML([]string{string(content)}, name).documents() {
		resources := safeyaml.Child(doc, "resources")
		if resources == nil {
			continue
		}
		for _, entry := range resources.Content {
			if path.Ext(entry.Value) != ".yaml" || !strings.Contains(path.Base(entry.Value), "_") { // GROUP_PLURAL.yaml
				continue
			}
			dir := path.Dir(entry.Value)
			if found != "" && found != dir {
				return ""
			}
			found = dir
		}
	}
	return found
}

// MainFile returns the Go file that starts the manager.
func (p Project) MainFile() string {
	return cmp.Or(p.Paths.Main, p.facts().MainFile, project.MainFile)
}

// ControllerDir returns the directory of the controllers.
func (p Project) ControllerDir() string {
	return cmp.Or(p.Paths.Controllers, p.facts().ControllerDir, project.ControllerDir)
}

// ControllerAlias returns the name by which the manager's program imports the package of the controller.
func (d Data) ControllerAlias() string {
	if d.Project.MultiGroup && d.Resource.Group != "" {
		return strings.NewReplacer("-", "", ".", "").Replace(d.Resource.Group + path.Base(d.Project.ControllerDir()))
	}
	return d.Resource.ControllerPackage
}

// ControllerImportName returns the explicit name of the import of that package, or "" if the name of its directory suffices.
func (d Data) ControllerImportName() string {
	if alias := d.ControllerAlias(); alias != path.Base(d.Project.ControllerDir()) {
		return alias
	}
	return ""
}

// ControllerToRoot returns the elements of the path from the controller's directory to the root, as Go strings.
func (d Data) ControllerToRoot() string {
	n := strings.Count(d.Project.ControllerDir(), "/") + 1
	if d.Project.MultiGroup && d.Resource.Group != "" {
		n++
	}
	return strings.TrimSuffix(strings.Repeat(`"..", `, n), ", ")
}

// AmbiguousMainError reports that several programs of a project start a manager.
type AmbiguousMainError struct{ Files []string }

func (e *AmbiguousMainError) Error() string {
	return fmt.Sprintf("%s each start a manager; add the line '// +kubebuilder:scaffold:builder' into the one that new controllers belong to, "+
		"above its call of Start, and run the command again", strings.Join(e.Files, " and "))
}

// FindPaths sets the paths of a project that are not set yet.
func (p *Project) FindPaths(tree *worktree.Tree) error {
	if !p.hasProgram() || p.Paths != (Paths{}) {
		return nil
	}
	main, err := findMain(tree, *p)
	if err != nil {
		return err
	}
	p.Paths.Main = main
	if !tree.Exists(p.ControllerDir()) {
		p.Paths.Controllers = findControllers(tree, *p)
	}
	p.Paths = Paths{Main: p.MainFile(), Controllers: p.ControllerDir()}
	return nil
}

var (
	startsManager = lazyregexp.New(`\bNewManager\(`)
	builderMarker = lazyregexp.New(`(?m)^\s*//\s?\+kubebuilder:scaffold:builder\s*$`)
	packageMain   = lazyregexp.New(`(?m)^package main\b`)
	setsUp        = lazyregexp.New(`\bSetupWithManager\(`)
)

// findMain finds the file that starts the manager: the layout's, or the only one with the marker for controllers,
// or the only program that creates a manager. It returns "" if there is no such file.
func findMain(tree *worktree.Tree, p Project) (string, error) {
	usual := []string{p.MainFile(), project.MainFile, project.OldMainFile}
	for _, name := range usual {
		if content, err := tree.ReadFile(name); err == nil && (builderMarker.Match(content) || startsManager.Match(content)) {
			return name, nil
		}
	}
	names, err := gosource.ListFiles(tree)
	if err != nil {
		return "", err
	}
	var marked, programs []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := tree.ReadFile(name)
		if err != nil {
			return "", err
		}
		switch {
		case builderMarker.Match(content):
			marked = append(marked, name)
		case packageMain.Match(content) && startsManager.Match(content):
			programs = append(programs, name)
		}
	}
	for _, found := range [][]string{marked, programs} {
		if len(found) > 1 {
			return "", &AmbiguousMainError{Files: found}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	return "", nil
}

// findControllers finds the directory of the controllers by the imports of the manager's program. It returns "" if they
// are not all in one directory.
func findControllers(tree *worktree.Tree, p Project) string {
	content, err := tree.ReadFile(p.MainFile())
	if err != nil {
		return ""
	}
	file, err := gosource.ParseImports("", content)
	if err != nil {
		return "" // the insertion reports it
	}
	var dirs []string
	for _, spec := range file.AST.Imports {
		dir, local := strings.CutPrefix(gosource.ImportPath(spec), p.Repo+"/")
		if !local || !declaresController(tree, dir) {
			continue
		}
		if p.MultiGroup && slices.Contains([]string{"controller", "controllers"}, path.Base(path.Dir(dir))) {
			dir = path.Dir(dir)
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) != 1 {
		return ""
	}
	return dirs[0]
}

// declaresController reports whether a Go file in a directory sets up a controller.
func declaresController(tree *worktree.Tree, dir string) bool {
	for _, name := range goFilesIn(tree, dir) {
		content, err := tree.ReadFile(name)
		if err == nil && !strings.HasSuffix(name, "_test.go") && setsUp.Match(content) && bytes.Contains(content, []byte("Reconcile(")) {
			return true
		}
	}
	return false
}

func goFilesIn(tree *worktree.Tree, dir string) []string {
	names, err := tree.Walk(dir, func(string) bool { return true })
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return path.Ext(name) != ".go" })
}

// packageIn returns the name of the Go package in a directory, or "" if there is none.
func packageIn(tree *worktree.Tree, dir string) string {
	for _, name := range goFilesIn(tree, dir) {
		content, err := tree.ReadFile(name)
		if err != nil {
			continue
		}
		file, err := gosource.ParseImports("", content)
		if err == nil && !strings.HasSuffix(file.AST.Name.Name, "_test") {
			return file.AST.Name.Name
		}
	}
	return ""
}
