package migrate

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// remove removes files that are not in the current scaffold, unless they were edited or a kustomization refers to them.
func (u *upgrader) remove() error {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(u.ours)) {
		_, carried := u.carried[name]
		if u.theirs[name] == nil && (carried || u.baseOf(name) != nil) {
			names = append(names, name)
		}
	}
	// A kustomization that refers to others may be removed, and then these are removed as well.
	removed := map[string]bool{}
	var named namers
	for repeat := true; repeat; {
		repeat = false
		var err error
		if named, err = u.namers(); err != nil {
			return err
		}
		for _, name := range names {
			settings, carried := u.carried[name]
			if removed[name] || len(settings) > 0 || !carried && !u.unedited(name) || u.namesEdited(name) {
				continue
			}
			if named.of(name) == "" {
				u.tree.Remove(name)
				u.add(name, Removed, "")
				removed[name], repeat = true, true
			}
		}
	}
	for _, name := range names {
		if removed[name] {
			continue
		}
		settings := u.carried[name]
		switch {
		case len(settings) > 0:
			u.add(name, Kept, "sets "+strings.Join(settings, ", ")+"; the scaffold no longer gives these to the manager")
		case !u.unedited(name):
			u.add(name, Kept, "was edited; no longer part of the scaffold")
		case u.namesEdited(name):
			u.add(name, Kept, "names files of yours; no longer part of the scaffold")
		default:
			u.add(name, Kept, named.of(name)+" names it; no longer part of the scaffold")
		}
	}
	return nil
}

// namesEdited reports whether a kustomization refers to files in its directory that the user edited or added and that
// nothing else builds.
func (u *upgrader) namesEdited(kustomization string) bool {
	if !isKustomization(kustomization) {
		return false
	}
	return slices.ContainsFunc(named(kustomization, u.ours[kustomization], false), func(name string) bool {
		_, carried := u.carried[name]
		edited := Scaffolded(name) && (u.ours[name] == nil || !u.unedited(name)) // other files are generated
		return path.Dir(name) == path.Dir(kustomization) && u.tree.Exists(name) && !carried && edited
	})
}
