package scaffold

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Deletion is the input of Delete.
type Deletion struct {
	// Removed is the data of the create api commands to undo. If several variants could have written a file, one must match.
	// Kept is the data of all other APIs, whose files and inserts remain.
	Removed, Kept []Data
	// RemovedWebhooks and KeptWebhooks are the same for create webhook. A kind may be in both with different webhooks.
	RemovedWebhooks, KeptWebhooks []Webhooks
	// Force also deletes what the user has edited.
	Force bool
	// FromPeer reports that PROJECT names a tool that created the project; the files may show it, too.
	FromPeer bool
	// Written reports whether another tool wrote a line of a file, without the space around it. It is not called for projects of this
	// program.
	Written func(file, line string) bool
}

// Edited returns a place that the user has edited: a file or, if code is not empty, a part of one.
func Edited(at diag.Position, code string) diag.Finding {
	place := diag.Place(at, code, "was edited since it was scaffolded")
	place.Object = code
	return place
}

// EditedError returns the error for edits of the user in the code that a command is to delete, which are sorted.
func EditedError(places diag.Findings) error {
	what := "this was edited since it was"
	if len(places) > 1 {
		what = fmt.Sprintf("these %d were edited since they were", len(places))
	}
	return diag.List(what+" scaffolded, nothing was deleted:", places, "save what you need from it, and pass --force to delete it anyway")
}

// SortPlaces sorts places by their text, in place, and returns them without duplicates.
func SortPlaces(places diag.Findings) diag.Findings {
	slices.SortFunc(places, func(a, b diag.Finding) int { return strings.Compare(a.Error(), b.Error()) })
	return slices.CompactFunc(places, func(a, b diag.Finding) bool { return a.Error() == b.Error() })
}

// A deleter prepares a deletion before the tree changes.
type deleter struct {
	tree          *worktree.Tree
	removed, kept *rendering
	// fromPeer reports whether another tool created the project. Those write the lists of CRDs and samples with the
	// first API.
	fromPeer bool
	// written reports whether another tool wrote a line; nil is for projects of this program.
	written func(file, line string) bool
	edited  diag.Findings
	deleted []string
	inUse   []string
	rest    map[string][]byte // new contents of files that remain
}

// DeleteReport describes a deletion beyond the changes of the tree.
type DeleteReport struct {
	// Lost are the places edited by the user that Force deleted, sorted.
	Lost diag.Findings
	// Kept are files of create webhook that other parts of the project use.
	Kept []string
	// Left are places of another tool that still mention the deleted webhooks.
	Left []string
}

// Delete removes the output of CreateAPI and CreateWebhook: whole files, declarations, and texts at markers. Unless Force is
// set, edits of the user are an EditedError.
func Delete(tree *worktree.Tree, d Deletion) (*DeleteReport, error) {
	x := newDeleter(tree, d)
	if x.fromPeer {
		d = d.registeringCore()
	}
	var err error
	if x.removed, err = renderAll(tree, d.Removed, d.RemovedWebhooks); err != nil {
		return nil, err
	}
	for _, w := range d.RemovedWebhooks {
		if err := checkWebhookPackage(tree, w.Data); err != nil {
			return nil, err
		}
	}
	if x.kept, err = renderKept(tree, d.Kept, d.KeptWebhooks); err != nil {
		return nil, err
	}
	if err := shareSuites(tree, x.removed, x.kept); err != nil {
		return nil, err
	}
	steps := []func() error{func() error { return x.removeFiles(d) }, x.removeDeclarations, x.removeTexts}
	if len(d.RemovedWebhooks) > 0 {
		steps = append(steps, x.removeOtherFiles)
		for _, step := range []func(Deletion) error{x.removeChecks, x.removeFromTests, x.disableConversion} {
			steps = append(steps, func() error { return step(d) })
		}
		steps = append([]func() error{func() error { return x.updateOverlay(d.RemovedWebhooks, d.KeptWebhooks) }}, steps...)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := x.finish(d.Force); err != nil {
		return nil, err
	}
	if slices.Contains(x.deleted, project.CRDKustomization) {
		disableCRDs(tree)
	}
	if len(d.RemovedWebhooks) > 0 {
		if err := dropCopy(tree); err != nil {
			return nil, err
		}
	}
	return &DeleteReport{Lost: x.edited, Kept: x.inUse, Left: findLeftovers(tree, d)}, nil
}

// newDeleter returns a deleter that knows which tool created the project.
func newDeleter(tree *worktree.Tree, d Deletion) *deleter {
	x := &deleter{tree: tree, rest: map[string][]byte{}, fromPeer: d.FromPeer}
	if content, err := tree.ReadFile(project.DefaultKustomization); err == nil {
		for line := range strings.Lines(string(content)) {
			x.fromPeer = x.fromPeer || textdiff.Hash(strings.TrimSpace(line)) == peersLine
		}
	}
	if x.fromPeer {
		x.written = d.Written
	}
	return x
}

// finish changes the tree. Without force, edits of the user are an EditedError, and nothing changes.
func (x *deleter) finish(force bool) error {
	x.edited = SortPlaces(x.edited)
	if len(x.edited) > 0 && !force {
		return EditedError(x.edited)
	}
	for name, content := range x.rest {
		x.tree.WriteFile(name, content, worktree.FileMode)
	}
	for _, name := range x.deleted {
		x.tree.Remove(name)
	}
	return nil
}

// read returns the content of a file as the steps before left it; ok is false if it does not exist.
func (x *deleter) read(name string) (content []byte, ok bool, err error) {
	if !x.tree.Exists(name) || slices.Contains(x.deleted, name) {
		return nil, false, nil
	}
	if rest := x.rest[name]; rest != nil {
		return rest, true, nil
	}
	if content, err = x.tree.ReadFile(name); err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	}
	return content, true, nil
}

// removeFiles removes whole files.
func (x *deleter) removeFiles(d Deletion) error {
	for _, name := range slices.Sorted(maps.Keys(x.removed.files)) {
		if x.kept.files[name] != nil || isInitialFile(name) && !x.fromPeer {
			continue
		}
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if !ok || path.Base(name) == "groupversion_info.go" && x.hasOtherFiles(name) {
			continue // types of the user need it
		}
		same := isUnedited(name, content, x.removed) || x.isPeers(name, content)
		if isInitialFile(name) && !same {
			continue
		}
		if !same {
			x.edited = append(x.edited, Edited(diag.Position{File: name}, ""))
		}
		x.deleted = append(x.deleted, name)
	}
	return x.removeConditions(d)
}

// removeTexts removes texts at markers from files that remain.
func (x *deleter) removeTexts() error {
	for _, name := range slices.Sorted(maps.Keys(x.removed.inserts)) {
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		rest, changed, err := uninsert(content, name, x.removed.inserts[name], x.kept.inserts[name], x.written)
		if err != nil {
			return err
		}
		if x.fromPeer {
			rest = x.removeRemains(name, content, rest)
		}
		if name == project.ManagerFile && x.removed.inserts[name]["env"] != nil {
			rest = WithoutEmptyEnv(rest)
		}
		x.edited = append(x.edited, changed...)
		x.rest[name] = rest
	}
	return nil
}

// peersLine is the hash of the comment on webhooks in config/default/kustomization.yaml of kubebuilder and operator-sdk.
// PROJECT doesn't tell their projects from Operon's.
const peersLine = 0x2342097ba8b95f28

// isInitialFile reports whether init writes a file, so that it remains after the deletion of the last API.
func isInitialFile(name string) bool {
	switch name {
	case project.CRDKustomization, project.CRDKustomizeConfig, project.SamplesKustomization:
		return true
	}
	return false
}

// hasOtherFiles reports whether the directory of a file contains Go files that are not deleted.
func (x *deleter) hasOtherFiles(name string) bool {
	names, err := x.tree.Walk(path.Dir(name), func(string) bool { return true })
	if err != nil {
		return true
	}
	return slices.ContainsFunc(names, func(other string) bool {
		return path.Ext(other) == ".go" && x.removed.files[other] == nil && x.removed.extended[other] == nil &&
			!strings.HasPrefix(path.Base(other), "zz_generated.")
	})
}

// crdsRequired matches the line of a suite that depends on which controller was created first.
var crdsRequired = lazyregexp.New(`ErrorIfCRDPathMissing:\s*\w+,`)

// isUnedited reports whether a file is as a create command wrote it.
func isUnedited(name string, content []byte, r *rendering) bool {
	content, _ = textdiff.AllToLF(content)
	blocks := r.inserts[name]
	if texts, ok := r.suites[path.Base(name)]; ok {
		blocks = texts
	}
	if blocks != nil {
		rest, edited, err := uninsert(content, name, blocks, nil, nil)
		if err != nil || len(edited) > 0 {
			return false
		}
		content = rest
	}
	if strings.HasSuffix(name, "_types.go") {
		content = []byte(strings.Replace(string(content), "// "+storageMarker+"\n", "", 1))
	}
	suite := path.Base(name) == "suite_test.go"
	if suite {
		content = crdsRequired.ReplaceAll(content, nil)
	}
	for _, want := range r.files[name] {
		if suite {
			want = crdsRequired.ReplaceAll(want, nil)
		}
		if bytes.Equal(content, want) {
			return true
		}
	}
	return false
}

// InitialFile renders one of the files that init writes.
func InitialFile(name string, data Data) ([]byte, error) {
	rendered, err := Render("init", data)
	if err != nil {
		return nil, err
	}
	return rendered.Files[name], nil
}
