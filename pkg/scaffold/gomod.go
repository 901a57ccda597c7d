package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const (
	goModFile = "go.mod"
	goSumFile = "go.sum"
)

// UpdateRequirements updates the indirect comments of go.mod as go mod tidy does: a module is direct if a Go file of
// the project imports one of its packages. Versions are kept, and no requirement is added or removed. It returns the
// sorted import paths that no requirement provides.
func UpdateRequirements(tree *worktree.Tree) (unresolved []string, err error) {
	data, file, err := ReadGoMod(tree)
	if err != nil {
		return nil, err
	}
	imports, err := projectImports(tree, file)
	if err != nil {
		return nil, err
	}
	updated, unresolved, err := requirements(data, file, imports)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(updated, data) {
		tree.WriteFile(goModFile, updated, worktree.FileMode)
	}
	return unresolved, nil
}

// AddRequirement adds a requirement to go.mod, or updates one of a lower version.
func AddRequirement(tree *worktree.Tree, modulePath, version string) error {
	if err := module.Check(modulePath, version); err != nil {
		return fmt.Errorf("adding a requirement to go.mod: %w", err)
	}
	data, file, err := ReadGoMod(tree)
	if err != nil {
		return err
	}
	if file.Module.Mod.Path == modulePath {
		return fmt.Errorf("adding a requirement to go.mod: %s is this project's own module", modulePath)
	}
	i := slices.IndexFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == modulePath })
	if i >= 0 && semver.Compare(file.Require[i].Mod.Version, version) >= 0 {
		return nil
	}
	if err := file.AddRequire(modulePath, version); err != nil {
		return fmt.Errorf("adding %s@%s to go.mod: %w", modulePath, version, err)
	}
	updated, err := formatGoMod(file, data)
	if err != nil {
		return err
	}
	tree.WriteFile(goModFile, updated, worktree.FileMode)
	return nil
}

// CheckModule returns an error if the module path of go.mod is not repo, because imports in scaffolded files use repo.
func CheckModule(tree *worktree.Tree, repo string) error {
	_, file, err := ReadGoMod(tree)
	if err != nil {
		return err
	}
	if current := file.Module.Mod.Path; current != repo {
		return goModFinding(file.Module.Syntax, "the module is %s, but repo in PROJECT is %s; change one of them", current, repo)
	}
	return nil
}

func missingGoMod(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("go.mod is missing: the project is a Go module; restore the file, for example from version control")
	}
	return fmt.Errorf("reading go.mod: %w", diag.Cause(err))
}

// ReadGoMod returns the text of go.mod and the parsed file, which has a module line.
func ReadGoMod(tree *worktree.Tree) ([]byte, *modfile.File, error) {
	data, err := tree.ReadFile(goModFile)
	if err != nil {
		return nil, nil, missingGoMod(err)
	}
	file, err := parseGoMod(data)
	return data, file, err
}

func parseGoMod(data []byte) (*modfile.File, error) {
	if conflicts := textdiff.ConflictFindings(goModFile, data); conflicts != nil {
		return nil, conflicts
	}
	file, err := modfile.Parse(goModFile, data, nil)
	if err != nil {
		return nil, project.GoModFinding(err, "correct it and run the command again")
	}
	if file.Module == nil {
		return nil, errors.New("go.mod has no module line; add one with the project's import path")
	}
	return file, nil
}

// goModFinding returns an error about a line of go.mod.
func goModFinding(line *modfile.Line, format string, args ...any) error {
	return diag.Finding{Position: diag.Position{File: goModFile, Line: line.Start.Line}, Problem: fmt.Sprintf(format, args...)}
}

// formatGoMod formats a go.mod as the go command does, with the line ends of the old text.
func formatGoMod(file *modfile.File, old []byte) ([]byte, error) {
	file.SetRequireSeparateIndirect(slices.Clone(file.Require))
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return nil, fmt.Errorf("formatting go.mod: %w", err)
	}
	_, crlf := textdiff.ToLF(old)
	return textdiff.FromLF(out, crlf), nil
}

// requirements marks the requirements that imports need as direct and all others as indirect.
func requirements(data []byte, file *modfile.File, imports []string) (updated []byte, unresolved []string, err error) {
	direct := map[string]bool{}
	for _, imp := range imports {
		provider, std := providerOf(imp, file)
		switch {
		case provider != "":
			direct[provider] = true
		case !std:
			unresolved = append(unresolved, imp)
		}
	}
	changed := false
	for _, r := range file.Require {
		if r.Indirect == direct[r.Mod.Path] {
			r.Indirect = !r.Indirect
			changed = true
		}
	}
	if !changed {
		return data, unresolved, nil
	}
	updated, err = formatGoMod(file, data)
	return updated, unresolved, err
}

// providerOf returns the module with the longest path that contains an import path: the main module or a required one.
// Without one, std reports whether the import is of the standard library.
func providerOf(imp string, file *modfile.File) (modulePath string, std bool) {
	consider := func(p string) {
		if len(p) > len(modulePath) && (imp == p || strings.HasPrefix(imp, p+"/")) {
			modulePath = p
		}
	}
	consider(file.Module.Mod.Path)
	for _, r := range file.Require {
		consider(r.Mod.Path)
	}
	if modulePath != "" {
		return modulePath, false
	}
	return "", gosource.IsStandard(imp)
}

// projectImports lists the imports of the Go files of the main module as go mod tidy does: tests and files for other systems
// count, but not nested modules and ignored directories.
func projectImports(tree *worktree.Tree, file *modfile.File) ([]string, error) {
	skip := func(dir string) bool {
		base := path.Base(dir)
		return base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor" ||
			ignoredByGoMod(dir, file) || tree.Exists(dir+"/"+goModFile)
	}
	names, err := tree.Walk(".", skip)
	if err != nil {
		return nil, fmt.Errorf("listing the project's Go files: %w", err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		base := path.Base(name)
		if path.Ext(base) != ".go" || base[0] == '.' || base[0] == '_' {
			continue
		}
		data, err := tree.ReadFile(name)
		if err != nil {
			if !tree.IsRegular(name) {
				continue // the go command ignores broken links and links to directories
			}
			return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
		imports, err := fileImports(name, data)
		if err != nil {
			return nil, err
		}
		for _, imp := range imports {
			seen[imp] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// ignoredByGoMod applies the ignore directives of go.mod: "./x" is one directory, "x" any directory of that name.
func ignoredByGoMod(dir string, file *modfile.File) bool {
	for _, ignore := range file.Ignore {
		if rel, ok := strings.CutPrefix(ignore.Path, "./"); ok {
			if strings.HasPrefix(dir+"/", path.Clean(rel)+"/") {
				return true
			}
		} else if strings.Contains("/"+dir+"/", "/"+path.Clean(ignore.Path)+"/") {
			return true
		}
	}
	return false
}

// HasModule reports whether go.mod requires or replaces a module.
func HasModule(tree *worktree.Tree, modulePath string) (bool, error) {
	_, file, err := ReadGoMod(tree)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == modulePath }) ||
		slices.ContainsFunc(file.Replace, func(r *modfile.Replace) bool { return r.Old.Path == modulePath }), nil
}
