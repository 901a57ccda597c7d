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

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const goModFile = "go.mod"

// UpdateRequirements makes go.mod say which requirements are direct, as go mod tidy would: a module is
// direct when a Go file of the project imports one of its packages. Versions stay, and nothing is
// added or dropped. It returns the import paths that no requirement provides, sorted.
func UpdateRequirements(tree *worktree.Tree) (unresolved []string, err error) {
	data, file, err := readGoMod(tree)
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

// AddRequirement makes go.mod require a module at a version or a later one.
func AddRequirement(tree *worktree.Tree, modulePath, version string) error {
	if err := module.Check(modulePath, version); err != nil {
		return fmt.Errorf("adding a requirement to go.mod: %w", err)
	}
	data, file, err := readGoMod(tree)
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

// CheckModule returns an error if go.mod is not that of a module with the path of PROJECT: files of the scaffold would
// import packages of another module than its own.
func CheckModule(tree *worktree.Tree, repo string) error {
	_, file, err := readGoMod(tree)
	if err != nil {
		return err
	}
	if have := file.Module.Mod.Path; have != repo {
		return &ContentError{fmt.Errorf("go.mod:%d: the module is %s, but PROJECT says repo: %s; make the two the same",
			file.Module.Syntax.Start.Line, have, repo)}
	}
	return nil
}

func missingGoMod(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &ContentError{errors.New("go.mod is missing: the project is a Go module; restore the file, for example from version control")}
	}
	return fmt.Errorf("reading go.mod: %w", worktree.Cause(err))
}

// readGoMod gives the project's go.mod, as text and parsed.
func readGoMod(tree *worktree.Tree) ([]byte, *modfile.File, error) {
	data, err := tree.ReadFile(goModFile)
	if err != nil {
		return nil, nil, missingGoMod(err)
	}
	file, err := parseGoMod(data)
	return data, file, err
}

func parseGoMod(data []byte) (*modfile.File, error) {
	if conflicts := textdiff.Conflicts(data); len(conflicts) > 0 {
		return nil, worktree.MergeConflictError{goModFile: conflicts}
	}
	file, err := modfile.Parse(goModFile, data, nil)
	if err != nil {
		return nil, &ContentError{fmt.Errorf("%w; correct it and run the command again", err)}
	}
	if file.Module == nil {
		return nil, &ContentError{errors.New("go.mod has no module line; add one with the project's import path")}
	}
	return file, nil
}

// formatGoMod writes a go.mod as the go command does, with the line ends that it had.
func formatGoMod(file *modfile.File, old []byte) ([]byte, error) {
	file.SetRequireSeparateIndirect(slices.Clone(file.Require))
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return nil, fmt.Errorf("formatting go.mod: %w", err)
	}
	if n := bytes.Count(old, []byte("\n")); n > 0 && bytes.Count(old, []byte("\r\n")) == n {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	return out, nil
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

// providerOf finds the module with the longest path that an import path lies in: the main module or
// a required one. Without one, an import whose first element has no dot is of the standard library.
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

// projectImports lists what the Go files of the main module import, in the way of go mod tidy: tests
// and files for other systems count, nested modules and folders that go leaves out do not.
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
				continue // go skips broken links and links to directories too
			}
			return nil, fmt.Errorf("reading %s: %w", name, worktree.Cause(err))
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

// ignoredByGoMod applies the ignore directives of go.mod: "./x" is that folder, "x" one of that name
// anywhere.
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
