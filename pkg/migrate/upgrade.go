// Package migrate merges what the current scaffold writes into a project that an older one scaffolded. The release that
// scaffolded it is identified by fingerprints, so that the user's text is distinguished from the scaffold's.
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

// State is what an upgrade does with a file.
type State int

const (
	// Created and Removed are files that only one of the scaffolds has.
	Created State = iota
	Removed
	// Replaced is a file without edits, Merged one whose edits stay.
	Replaced
	Merged
	// Conflicting is a file with units that both the user and the scaffold changed.
	Conflicting
	// Kept is a file that stays as it is though the scaffold changed it; Note says why.
	Kept
)

// File is what an upgrade does with one file.
type File struct {
	Name  string
	State State
	Note  string
	// Failure is what would go wrong if this file, and others with the same failure, did not stay.
	Failure string
	// Conflicts is the number of conflicts in the file.
	Conflicts int
	// Choices names the units of the file that both the user and the scaffold changed, and that stay as the user has them.
	Choices []string
}

func compareFiles(a, b File) int { return strings.Compare(a.Name, b.Name) }

// Options configure an upgrade.
type Options struct {
	Names Names
	// Fingerprints describe the releases that may have scaffolded the project. CLIVersion is the one that PROJECT names.
	Fingerprints *Fingerprints
	CLIVersion   string
	// Tool is the program whose plugins PROJECT names: kubebuilder or operator-sdk.
	Tool string
	// Layout is the layout that PROJECT names, such as go/v3, with ComponentConfig if PROJECT says so.
	Layout string
	// Verifier compares the kustomizations with those on disk.
	Verifier *Verifier
	// Stage is how far the project has come: scaffolds write more for projects with APIs and webhooks.
	Stage Stage
	// Plain holds the files of the current scaffold for the project without its webhooks. Entries of kustomizations that it
	// has are for every project, others are options that the user switches on.
	Plain map[string][]byte
	// KeepCode is what would go wrong if go.mod and Go code did not stay as they are, "" if nothing would.
	KeepCode string
	// Side decides conflicts, Label names the current scaffold in their markers.
	Side  merge.Side
	Label string
}

// Result is what an upgrade did.
type Result struct {
	// From is the release that scaffolded the project. The zero value is this program.
	From  Release
	Files []File
	// Stayed reports whether files of kustomizations stay as they are, as those would not work otherwise.
	Stayed bool
	// Resolved holds, for each file with conflicts that this upgrade marked, the text with all of them decided for ours.
	Resolved map[string][]byte
}

// Conflicts lists the files with conflicts.
func (r *Result) Conflicts() []File {
	return slices.DeleteFunc(slices.Clone(r.Files), func(f File) bool { return f.State != Conflicting })
}

// Add adds what another upgrade did after this one.
func (r *Result) Add(other *Result) {
	maps.Copy(r.Resolved, other.Resolved)
	for _, f := range other.Files {
		switch i := slices.IndexFunc(r.Files, func(have File) bool { return have.Name == f.Name }); {
		case i < 0:
			r.Files = append(r.Files, f)
		case f.State != Kept:
			r.Files[i] = f
		}
	}
	slices.SortFunc(r.Files, compareFiles)
}

// Files upgrades the scaffold's files in a tree to the current ones. Other files, such as the user's code and generated
// ones, stay as they are.
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
	if o.Side != merge.Theirs && o.Verifier.base == nil { // with that of the first of two passes
		o.Verifier.base = u.origin
	}
	if u.result.From == (Release{}) {
		return &u.result, u.stragglers()
	}
	if err := u.settings(); err != nil {
		return nil, err
	}
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

// upgrader upgrades one project.
type upgrader struct {
	tree *worktree.Tree
	// ours holds the files of the project that some scaffold writes, theirs those of the current one.
	ours, theirs map[string][]byte
	o            Options
	normalizer   *normalizer
	// carried are files whose settings are in others now, with those that no other can hold.
	carried map[string][]string
	// listed holds, by kustomization and object, the file that the object is in.
	listed map[string]map[string]string
	// referred holds the objects that the user's manifests refer to, nil before they are read.
	referred map[string]bool
	result   Result
}

// maxMerged is the limit of a scaffolded file in bytes, which are compared unit by unit with those of all releases. What
// releases write has at most 20 KiB.
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
			return fmt.Errorf("%s has %d bytes, more than the %d of a file that is merged; move what is not of the scaffold into other files", name, len(text), maxMerged)
		}
		u.ours[name] = text
	}
	return nil
}

// stragglers upgrades single files of an older release in a project that is up to date otherwise, and lists the files that
// hold conflict markers.
func (u *upgrader) stragglers() error {
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
	if m.conflicts > 0 && !isMergeable(name) {
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

// resolve verifies that a file with conflicts parses whichever side they are decided for. It returns why the file has to
// stay as it is otherwise.
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

// keepTests leaves all end-to-end tests as they are where one of their files has to stay: they use each other's functions.
func (u *upgrader) keepTests() {
	isTest := func(f File) bool { return strings.HasPrefix(f.Name, "test/") && path.Ext(f.Name) == ".go" }
	at := slices.IndexFunc(u.result.Files, func(f File) bool { return isTest(f) && f.State == Kept })
	if at >= 0 {
		u.keep(File{Note: "stays with " + u.result.Files[at].Name}, isTest)
	}
}

// keepCode leaves Go code as it is if it has to stay, with the manifests, whose arguments and ports are those of the program,
// and the workflow that runs the end-to-end tests.
func (u *upgrader) keepCode() {
	if u.o.KeepCode == "" {
		return
	}
	u.result.Stayed = true
	why := File{Name: "go.mod", State: Kept, Note: "stays, as otherwise " + u.o.KeepCode, Failure: u.o.KeepCode}
	belongs := func(f File) bool {
		return path.Ext(f.Name) == ".go" || strings.HasPrefix(f.Name, "config/") || f.Name == ".github/workflows/test-e2e.yml"
	}
	u.keep(why, belongs)
	u.result.Files = append(slices.DeleteFunc(u.result.Files, func(f File) bool { return belongs(f) && f.Failure == "" }), why)
}

// keepKustomizations leaves the files of a kustomization as they are that would not work otherwise, such as one with JSON
// patches of lists that the user's manifests lack. With config/default, or where that does not suffice, all manifests stay,
// since they belong together, and so does the program whose arguments they hold.
func (u *upgrader) keepKustomizations() error {
	tried := map[string]bool{}
	for {
		_, err := u.o.Verifier.Verify(u.tree, u.result.Resolved)
		failed, ok := errors.AsType[*kustomizationError](err)
		if !ok {
			return err
		}
		dir := failed.dir
		if tried[dir] || dir == path.Dir(kustomizationFile) {
			dir = "config"
		}
		if tried[dir] {
			return nil // the last verification reports it
		}
		tried[dir] = true
		u.result.Stayed = true
		u.keep(File{Note: "stays, as otherwise " + failed.Error(), Failure: failed.Error()}, func(f File) bool {
			return strings.HasPrefix(f.Name, dir+"/") || f.Name == mainFile && dir == "config"
		})
	}
}

// keep leaves files as they are that were to change, and records why.
func (u *upgrader) keep(why File, which func(File) bool) {
	for i, f := range u.result.Files {
		if f.State == Kept || !which(f) {
			continue
		}
		if text := u.ours[f.Name]; text != nil {
			u.tree.WriteFile(f.Name, text, 0o644)
		} else {
			u.tree.Remove(f.Name)
		}
		delete(u.result.Resolved, f.Name)
		u.result.Files[i] = File{Name: f.Name, State: Kept, Note: why.Note, Failure: why.Failure}
	}
}

// carryObjects merges the manifests whose objects the current scaffold has in new files into these, so that the user's edits
// of an object follow it.
func (u *upgrader) carryObjects() {
	created := map[string]string{} // the new file of an object
	for _, name := range slices.Sorted(maps.Keys(u.theirs)) {
		if u.ours[name] != nil || !isManifest(name) || u.wroteBefore(name) || u.removedDir(path.Dir(name)) {
			continue
		}
		if ids := objectIDs(u.theirs[name]); len(ids) == 1 {
			created[ids[0]] = name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.ours)) {
		if u.theirs[name] != nil || !isManifest(name) || !u.isResource(name) || u.unedited(name) {
			continue
		}
		root, err := merge.Parse(name, u.ours[name])
		b := u.baseOf(name)
		if err != nil || b == nil {
			continue
		}
		texts := map[string][]byte{}
		for i, document := range root.Nodes {
			text := document.Text()
			if i == len(root.Nodes)-1 {
				text = append(text, strings.Join(root.Tail, "")...)
			}
			if ids := objectIDs(text); len(ids) == 1 && created[ids[0]] != "" && !u.references()[ids[0]] {
				file := created[ids[0]]
				if m, err := mergeFile(file, text, u.theirs[file], b, merge.Options{}); err == nil && m.conflicts == 0 {
					texts[file] = m.text
				}
			}
		}
		if len(root.Nodes) > 0 && len(texts) == len(root.Nodes) {
			maps.Copy(u.theirs, texts)
			u.carried[name] = nil
		}
	}
}

// isMergeable reports whether conflicts can be marked in a file: not where the whole file is one unit.
func isMergeable(name string) bool {
	switch path.Ext(name) {
	case ".md", ".json", ".sh":
		return false
	}
	return true
}

// mergeOptions returns how to merge a file. Entries of a kustomization follow the files that they name.
func (u *upgrader) mergeOptions(name string) merge.Options {
	o := merge.Options{Side: u.o.Side, TheirsLabel: u.o.Label}
	if path.Base(name) == "kustomization.yaml" {
		o.IsOption = func(p []string) bool { return !hasEntry(name, u.o.Plain[name], p) }
		o.MayAdd = func(p []string, n *merge.Node) bool { return u.canAdd(name, p, n) }
		o.IsObsolete = u.isUnusedVariable
		o.MayRemove = func(_ []string, n *merge.Node) bool {
			return u.canRemove(path.Dir(name), n) && (n.Key != "generatorOptions" || !u.hasEditedGenerator(name))
		}
	}
	return o
}

// create adds a file that the older scaffold did not have. One that it had and that is gone was removed by the user.
func (u *upgrader) create(name string) error {
	if u.wroteBefore(name) || u.removedDir(path.Dir(name)) {
		return nil
	}
	note, err := u.superfluous(name)
	if err != nil {
		return err
	}
	if note != "" {
		u.add(name, Kept, note)
		return nil
	}
	u.tree.WriteFile(name, u.withoutMissing(name), 0o644)
	u.add(name, Created, "")
	return nil
}

// withoutMissing returns the text of a new file. In a kustomization, it leaves out entries for samples that the project does
// not have, such as those under another name, and for directories whose kustomization the user removed.
func (u *upgrader) withoutMissing(name string) []byte {
	text := u.theirs[name]
	if path.Base(name) != "kustomization.yaml" {
		return text
	}
	for _, entry := range entries(name, text, "resources") {
		file := entryPath(path.Dir(name), entry)
		kustomization := path.Join(file, "kustomization.yaml")
		removed := !u.tree.Exists(kustomization) && u.wroteBefore(kustomization)
		if file != "" && (removed || strings.HasPrefix(file, "config/samples/") && !u.exists(file)) {
			text = bytes.Replace(text, []byte(strings.Join(entry.Head, "")), nil, 1)
		}
	}
	return text
}

// removedDir reports whether the project lacks a directory in which the release that scaffolded it wrote files.
func (u *upgrader) removedDir(dir string) bool {
	if u.exists(dir) {
		return false
	}
	for name := range u.o.Fingerprints.files {
		if path.Dir(name) == dir && u.wroteBefore(name) {
			return true
		}
	}
	return false
}

// complete adds the manifests of the current scaffold that are missing and that a kustomization names now, and the
// kustomizations of directories that one names. One that the user removed stays removed, whatever names it.
func (u *upgrader) complete() error {
	named, err := u.namers()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(u.theirs)) {
		if !strings.HasPrefix(name, "config/") || u.tree.Exists(name) || u.wroteBefore(name) {
			continue
		}
		if named.of(name) == "" {
			continue
		}
		u.tree.WriteFile(name, u.theirs[name], 0o644)
		u.add(name, Created, "")
		if named, err = u.namers(); err != nil { // what the file itself names
			return err
		}
	}
	return nil
}

// Describe returns what an upgrade does with a file, for the end of a line.
func (f File) Describe() string {
	switch f.State {
	case Replaced:
		return "  (not edited)"
	case Merged:
		if len(f.Choices) > 0 {
			return fmt.Sprintf("  (your edits stay, also where the scaffold changed: %s)", strings.Join(f.Choices, ", "))
		}
		return "  (your edits stay)"
	case Removed:
		return "  (no longer part of the scaffold)"
	case Conflicting:
		if f.Note == "" {
			return fmt.Sprintf("  (conflicts: %d)", f.Conflicts)
		}
	}
	if f.Note == "" {
		return ""
	}
	return "  (" + f.Note + ")"
}
