package migrate

import (
	"bytes"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// keepTests keeps all end-to-end tests if one of their files is kept, because they use each other's functions, and likewise the
// scenarios of Molecule, whose playbooks share variables.
func (u *upgrader) keepTests() {
	for _, isTest := range []func(File) bool{
		func(f File) bool { return strings.HasPrefix(f.Name, "test/") && path.Ext(f.Name) == ".go" },
		func(f File) bool { return strings.HasPrefix(f.Name, moleculeDir+"/") },
	} {
		at := slices.IndexFunc(u.result.Files, func(f File) bool { return isTest(f) && f.State == Kept })
		if at >= 0 {
			u.keep(File{Note: StaysWith + u.result.Files[at].Name}, isTest)
		} else if own := u.ownTest(isTest); own != "" {
			u.keep(File{Note: StaysWith + own}, isTest)
		}
	}
}

// StaysWith begins the note about a file that is kept because it belongs to another one, whose name follows.
const StaysWith = "stays with "

// ownTest returns a file of the scaffold that the user has rewritten. An upgrade of an otherwise current project does not list it.
func (u *upgrader) ownTest(isTest func(File) bool) string {
	for _, name := range slices.Sorted(maps.Keys(u.theirs)) {
		if ours := u.ours[name]; ours != nil && Scaffolded(name) && isTest(File{Name: name}) && !bytes.Equal(ours, u.theirs[name]) && len(textdiff.Conflicts(ours)) == 0 && u.baseOf(name) == nil {
			return name
		}
	}
	return ""
}

// keepCode keeps Go code according to KeepCode, with the manifests, whose arguments and ports are the program's,
// and the workflow that runs the end-to-end tests.
func (u *upgrader) keepCode() {
	if u.o.KeepCode == "" {
		return
	}
	u.result.Stayed = true
	why := File{Name: "go.mod", State: Kept, Note: "stays, as otherwise " + u.o.KeepCode, Failure: u.o.KeepCode}
	belongs := func(f File) bool {
		return path.Ext(f.Name) == ".go" || strings.HasPrefix(f.Name, project.ConfigDir+"/") ||
			f.Name == ".github/workflows/test-e2e.yml"
	}
	u.keep(why, belongs)
	u.result.Files = append(slices.DeleteFunc(u.result.Files, func(f File) bool { return belongs(f) && f.Failure == "" }), why)
}

// keepKustomizations keeps the files of a kustomization that would fail otherwise, for example because of JSON patches
// for lists that the user's manifests lack. For config/default, or if that does not suffice, it keeps all manifests,
// because they belong together, and the program whose arguments they contain.
func (u *upgrader) keepKustomizations() error {
	tried := map[string]bool{}
	for {
		_, err := u.o.Verifier.Verify(u.tree, u.result.Resolved)
		failed, ok := errors.AsType[*kustomizationError](err)
		if !ok {
			return err
		}
		dir := failed.dir
		if tried[dir] || dir == path.Dir(project.DefaultKustomization) {
			dir = project.ConfigDir
		}
		if tried[dir] {
			return nil // the last verification reports it
		}
		tried[dir] = true
		u.result.Stayed = true
		u.keep(File{Note: "stays, as otherwise " + failed.Error(), Failure: failed.Error()}, func(f File) bool {
			return strings.HasPrefix(f.Name, dir+"/") || f.Name == project.MainFile && dir == project.ConfigDir
		})
	}
}

// keep reverts the changes of files, and records the reason.
func (u *upgrader) keep(why File, which func(File) bool) {
	for i, f := range u.result.Files {
		if f.State == Kept || f.State == Conflicting && f.Note != "" || !which(f) {
			continue
		}
		text := u.ours[f.Name]
		if f.Name == testingKustomization && u.testRun != nil {
			text = u.testRun
		}
		if text != nil {
			u.tree.WriteFile(f.Name, text, 0o644)
		} else {
			u.tree.Remove(f.Name)
		}
		delete(u.result.Resolved, f.Name)
		u.result.Files[i] = File{Name: f.Name, State: Kept, Note: why.Note, Failure: why.Failure}
	}
}
