package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Options configure an upgrade.
type Options struct {
	Names Names
	// Fingerprints describe the releases that may have scaffolded the project. CLIVersion is the release in PROJECT.
	Fingerprints *Fingerprints
	CLIVersion   string
	// Tool is the program of the plugins in PROJECT: kubebuilder or operator-sdk.
	Tool string
	// Layout is the layout in PROJECT, such as go/v3, with ComponentConfig if PROJECT has that.
	Layout string
	// Verifier compares the kustomizations with those on disk.
	Verifier *Verifier
	// Content is the content of the project: scaffolds write more for projects with APIs and webhooks.
	Content Content
	// Plain holds the files of the current scaffold for the project without its webhooks. Entries of kustomizations that it
	// has are for every project, others are options that the user switches on.
	Plain map[string][]byte
	// KeepCode is the failure if go.mod and Go code changed, or "".
	KeepCode string
	// Side decides conflicts, Label names the current scaffold in their markers.
	Side  merge.Side
	Label string
}

// Files upgrades the scaffolded files in a tree to the current ones. Other files, such as the user's code and generated
// ones, are kept.
func Files(tree *worktree.Tree, current map[string][]byte, o Options) (*Result, error) {
	u := &upgrader{
		tree: tree, theirs: maps.Clone(current), o: o, normalizer: newNormalizer(o.Names),
		ours: map[string][]byte{}, carried: map[string][]string{}, listed: map[string]map[string]string{},
		result: Result{Resolved: map[string][]byte{}},
	}
	if err := u.read(); err != nil {
		return nil, err
	}
	u.result.From = u.identify()
	if o.Side != merge.Theirs && o.Verifier.base == nil { // in the first of two passes
		o.Verifier.base = u.origin
	}
	if u.result.From == (Release{}) {
		return &u.result, u.updateRemaining()
	}
	u.undoTestRun()
	if err := u.moveSettings(); err != nil {
		return nil, err
	}
	u.followNames()
	u.carryObjects()
	names := slices.Sorted(maps.Keys(u.theirs))
	names = slices.DeleteFunc(names, func(name string) bool { return !Scaffolded(name) })
	for _, name := range names {
		if u.ours[name] == nil {
			continue
		}
		if err := u.update(name); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if u.ours[name] == nil {
			if err := u.create(name); err != nil {
				return nil, err
			}
		}
	}
	u.keepTests()
	if err := u.remove(); err != nil {
		return nil, err
	}
	if err := u.complete(); err != nil {
		return nil, err
	}
	u.keepCode()
	if err := u.renameFlags(); err != nil {
		return nil, err
	}
	if err := u.keepKustomizations(); err != nil {
		return nil, err
	}
	slices.SortFunc(u.result.Files, compareFiles)
	return &u.result, nil
}

// An upgrader upgrades one project.
type upgrader struct {
	tree *worktree.Tree
	// ours holds the project's files that some scaffold writes; theirs holds the current scaffold's files.
	ours, theirs map[string][]byte
	o            Options
	normalizer   *normalizer
	// carried are files whose settings were moved to others, with the settings that could not be moved.
	carried map[string][]string
	// listed holds, by kustomization and object, the file that the object is in.
	listed map[string]map[string]string
	// referred holds the objects that the user's manifests refer to, nil before they are read.
	referred map[string]bool
	// testRun is the kustomization of the tests as it was before undoTestRun, or nil.
	testRun []byte
	result  Result
}

// usesRuntime reports whether the project gets its program from the base image.
func (u *upgrader) usesRuntime() bool { return usesRuntime(u.o.Layout) }

// maxMerged is the size limit of a scaffolded file, which is compared unit by unit with the files of all releases. Releases
// write up to 20 KiB.
const maxMerged = 256 << 10

// read reads the files that some scaffold writes.
func (u *upgrader) read() error {
	names := slices.Collect(maps.Keys(u.o.Fingerprints.files))
	for name := range u.theirs {
		if Scaffolded(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		text, err := u.tree.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if len(text) > maxMerged {
			return fmt.Errorf("%s has %d bytes, more than the %d of a file that is merged; move your own parts into other files", name, len(text), maxMerged)
		}
		u.ours[name] = text
	}
	return nil
}

// updateRemaining upgrades single files of an older release in an otherwise current project, and lists files with
// conflict markers.
func (u *upgrader) updateRemaining() error {
	for _, name := range slices.Sorted(maps.Keys(u.theirs)) {
		ours := u.ours[name]
		switch {
		case ours == nil || !Scaffolded(name):
		case len(textdiff.Conflicts(ours)) > 0:
			u.add(name, Conflicting, "holds conflict markers")
		case !u.isCurrent(name) && u.baseOf(name) != nil:
			if err := u.update(name); err != nil {
				return err
			}
		}
	}
	u.keepTests()
	u.keepCode()
	slices.SortFunc(u.result.Files, compareFiles)
	return u.keepKustomizations()
}

func (u *upgrader) add(name string, state State, note string) {
	u.result.Files = append(u.result.Files, File{Name: name, State: state, Note: note})
}

// update merges a file that both have.
func (u *upgrader) update(name string) error {
	ours, theirs := u.ours[name], u.theirs[name]
	if len(textdiff.Conflicts(ours)) > 0 {
		u.add(name, Conflicting, "holds conflict markers")
		return nil
	}
	if other := u.displacing(name); other != "" && !isPositional(ours) {
		u.add(name, Kept, other+" puts another container first")
		return nil
	}
	b := u.baseOf(name)
	if b == nil {
		if !bytes.Equal(ours, theirs) {
			u.add(name, Kept, "is not what a scaffold wrote")
		}
		return nil
	}
	options := u.mergeOptions(name)
	m, err := mergeFile(name, ours, theirs, b, options)
	if err != nil {
		u.add(name, Kept, fmt.Sprintf("cannot be parsed: %v", err))
		return nil
	}
	if m.reason != "" {
		u.add(name, Kept, m.reason)
		return nil
	}
	if m.conflicts > 0 && !isMergeable(name) || m.edited && isWhole(name) {
		u.add(name, Kept, "was edited")
		return nil
	}
	if m.conflicts > 0 {
		note, err := u.resolve(name, b, options)
		if err != nil {
			return err
		}
		if note != "" {
			u.add(name, Kept, note)
			return nil
		}
	}
	if m.conflicts == 0 && checkSyntax(name, m.text) != nil && checkSyntax(name, ours) == nil {
		u.add(name, Kept, "was edited where the scaffold changed, too")
		return nil
	}
	if bytes.Equal(m.text, ours) {
		return nil
	}
	u.tree.WriteFile(name, m.text, 0o644)
	switch {
	case m.conflicts > 0:
		u.result.Files = append(u.result.Files, File{Name: name, State: Conflicting, Conflicts: m.conflicts})
	case m.edited:
		u.result.Files = append(u.result.Files, File{Name: name, State: Merged, Choices: m.choices})
	default:
		u.add(name, Replaced, "")
	}
	return nil
}

// resolve checks that a file with conflicts parses with either side. Otherwise it returns the reason to keep the file.
func (u *upgrader) resolve(name string, b merge.Base, o merge.Options) (string, error) {
	for _, side := range []merge.Side{merge.Theirs, merge.Ours} {
		o.Side = side
		m, err := mergeFile(name, u.ours[name], u.theirs[name], b, o)
		if err != nil {
			return "", fmt.Errorf("merging %s: %w", name, err)
		}
		if checkSyntax(name, m.text) != nil {
			return "was edited where the scaffold changed, too", nil
		}
		u.result.Resolved[name] = m.text
	}
	return "", nil
}

// isMergeable reports whether conflicts can be marked in a file: not where the whole file is one unit, as in playbooks.
func isMergeable(name string) bool {
	if strings.HasPrefix(name, moleculeDir+"/") && path.Base(name) != "molecule.yml" {
		return false
	}
	switch path.Ext(name) {
	case ".md", ".json", ".sh":
		return false
	}
	return true
}

// mergeOptions returns how to merge a file. Entries of a kustomization follow the files that they name.
func (u *upgrader) mergeOptions(name string) merge.Options {
	o := merge.Options{Side: u.o.Side, TheirsLabel: u.o.Label}
	if name == requirementsFile {
		o.MayRemove = func(_ []string, n *merge.Node) bool { return !u.usesCollection(n.Key) }
	}
	if isKustomization(name) {
		o.IsOption = func(p []string) bool { return !hasEntry(name, u.o.Plain[name], p) }
		o.MayAdd = func(p []string, n *merge.Node) bool { return u.canAdd(name, p, n) }
		o.IsObsolete = u.isUnusedVariable
		o.MayRemove = func(p []string, n *merge.Node) bool {
			return !isAddedByKustomize(p) && u.canRemove(path.Dir(name), n) && (n.Key != "generatorOptions" || !u.hasEditedGenerator(name))
		}
	}
	return o
}

// isAddedByKustomize reports whether a unit of a kustomization is one that kustomize adds when it edits the file. The peers' samples
// have it, too.
func isAddedByKustomize(p []string) bool {
	return len(p) == 2 && slices.Contains([]string{"apiVersion", "kind", "images"}, p[1])
}
