package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Raise brings the requirements and the Go version of go.mod to those that a scaffold has, given as its go.mod
// and go.sum, if any of them is lower. Later ones stay. It reports whether it did, and whether the result is
// known to be tidy: that cannot be said without a network where the project requires more than the scaffold.
func Raise(tree *Tree, mod, sums []byte) (raised, tidy bool, err error) {
	have, mine, err := readGoMod(tree)
	if err != nil {
		return false, false, err
	}
	theirs, err := parseGoMod(mod)
	if err != nil {
		return false, false, fmt.Errorf("reading the scaffold's go.mod: %w", err)
	}
	wanted := map[string]string{}
	for _, r := range theirs.Require {
		wanted[r.Mod.Path] = r.Mod.Version
	}
	behind := mine.Go == nil || semver.Compare(goSemver(mine.Go.Version), goSemver(theirs.Go.Version)) < 0
	same := true
	for _, r := range mine.Require {
		version, known := wanted[r.Mod.Path]
		behind = behind || known && semver.Compare(r.Mod.Version, version) < 0
		same = same && (known && semver.Compare(r.Mod.Version, version) <= 0 || !known && r.Indirect)
	}
	if !behind {
		return false, true, nil
	}
	if same && len(mine.Replace)+len(mine.Exclude) == 0 {
		// All that the project imports is what the scaffold does, so its requirements are complete. What older
		// versions of them needed beyond that goes.
		if have, err = dropOthers(mine, have, wanted); err != nil {
			return false, false, err
		}
	}
	merged, err := mergeModule(goModFile, have, mod)
	if err != nil {
		return false, false, &ContentError{err}
	}
	tree.WriteFile(goModFile, merged, fileMode)
	if !same {
		old, err := tree.ReadFile("go.sum")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, false, fmt.Errorf("reading go.sum: %w", cause(err))
		}
		sums = mergeSums(old, sums)
	}
	tree.WriteFile("go.sum", sums, fileMode)
	return true, same, nil
}

// dropOthers takes the requirements out of a go.mod that are not wanted.
func dropOthers(file *modfile.File, text []byte, wanted map[string]string) ([]byte, error) {
	for _, r := range slices.Clone(file.Require) {
		if _, ok := wanted[r.Mod.Path]; !ok {
			if err := file.DropRequire(r.Mod.Path); err != nil {
				return nil, fmt.Errorf("dropping %s from go.mod: %w", r.Mod.Path, err)
			}
		}
	}
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return nil, fmt.Errorf("formatting go.mod: %w", err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 0 && bytes.Count(text, []byte("\r\n")) == n {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	return out, nil
}
