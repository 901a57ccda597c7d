package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// NeedsBump reports whether BumpRequirements would change go.mod.
func NeedsBump(tree *worktree.Tree, mod []byte) (bool, error) {
	_, ours, err := ReadGoMod(tree)
	if err != nil {
		return false, err
	}
	theirs, err := parseGoMod(mod)
	if err != nil {
		return false, fmt.Errorf("reading the scaffold's go.mod: %w", err)
	}
	return isLower(ours, theirs), nil
}

// isLower reports whether a go.mod has a lower version of anything than the scaffold's.
func isLower(ours, theirs *modfile.File) bool {
	if ours.Go == nil || semver.Compare(goSemver(ours.Go.Version), goSemver(theirs.Go.Version)) < 0 {
		return true
	}
	wanted := versions(theirs)
	return slices.ContainsFunc(ours.Require, func(r *modfile.Require) bool {
		version, known := wanted[r.Mod.Path]
		return known && semver.Compare(r.Mod.Version, version) < 0
	})
}

// versions returns the required versions of a go.mod by module path.
func versions(file *modfile.File) map[string]string {
	list := map[string]string{}
	for _, r := range file.Require {
		list[r.Mod.Path] = r.Mod.Version
	}
	return list
}

// BumpRequirements raises the requirements and the Go version of go.mod to a scaffold's, given as its go.mod
// and go.sum, if any of them is lower. Higher versions are kept. It reports whether it changed go.mod.
func BumpRequirements(tree *worktree.Tree, mod, sums []byte) (raised bool, err error) {
	text, ours, err := ReadGoMod(tree)
	if err != nil {
		return false, err
	}
	theirs, err := parseGoMod(mod)
	if err != nil {
		return false, fmt.Errorf("reading the scaffold's go.mod: %w", err)
	}
	if !isLower(ours, theirs) {
		return false, nil
	}
	wanted, used := versions(theirs), usedModules(tree, ours, theirs)
	same := true
	for _, r := range ours.Require {
		version, known := wanted[r.Mod.Path]
		same = same && (known && semver.Compare(r.Mod.Version, version) <= 0 || !known && !used(r))
	}
	if same && len(ours.Replace)+len(ours.Exclude) == 0 {
		// The project imports only packages that the scaffold imports, so the scaffold's requirements are complete.
		if text, err = dropOthers(ours, text, wanted); err != nil {
			return false, err
		}
	}
	merged, err := mergeRequirements(text, mod)
	if err != nil {
		return false, err
	}
	tree.WriteFile(goModFile, merged, worktree.FileMode)
	if !same {
		old, err := tree.ReadFile(goSumFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("reading go.sum: %w", diag.Cause(err))
		}
		sums = mergeSums(old, sums)
	}
	tree.WriteFile(goSumFile, sums, worktree.FileMode)
	return true, nil
}

// usedModules returns a function that reports whether the project's code needs a requirement: whether it provides an
// import, or, if the code cannot be parsed, whether go.mod lists it as direct.
func usedModules(tree *worktree.Tree, file, theirs *modfile.File) func(*modfile.Require) bool {
	imports, err := projectImports(tree, file)
	if err != nil {
		return func(r *modfile.Require) bool { return !r.Indirect }
	}
	all := &modfile.File{Module: file.Module, Require: slices.Concat(file.Require, theirs.Require)}
	used := map[string]bool{}
	for _, imp := range imports {
		provider, _ := providerOf(imp, all)
		used[provider] = true
	}
	return func(r *modfile.Require) bool { return used[r.Mod.Path] }
}

// dropOthers removes the requirements that are not wanted from a go.mod.
func dropOthers(file *modfile.File, text []byte, wanted map[string]string) ([]byte, error) {
	for _, r := range slices.Clone(file.Require) {
		if _, ok := wanted[r.Mod.Path]; !ok {
			if err := file.DropRequire(r.Mod.Path); err != nil {
				return nil, fmt.Errorf("dropping %s from go.mod: %w", r.Mod.Path, err)
			}
		}
	}
	file.Cleanup()
	return formatGoMod(file, text)
}
