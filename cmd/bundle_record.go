package cmd

import (
	"encoding/json"
	"fmt"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// editsFile records, for everybody who works on the project, the edits that stand in for generated
// values. What was generated is kept in the user's cache: a clone does not have it, and needs it only
// where a person edited what is generated.
const editsFile = ".operon/bundle.json"

// bundleEdits is the content of editsFile.
type bundleEdits struct {
	Comment string        `json:"comment"`
	Edits   []bundle.Edit `json:"edits"`
}

// readEdits reads the recorded edits of a project.
func readEdits(tree *worktree.Tree) ([]bundle.Edit, error) {
	data, err := readOptional(tree, editsFile)
	if data == nil || err != nil {
		return nil, err
	}
	edits, err := bundle.ParseEdits(data)
	if err != nil {
		return nil, diag.Findings{{Position: diag.Position{File: editsFile}, Problem: "is no valid JSON: " + err.Error() + "; restore it from version control, or delete it to forget which values of the bundle were edited by hand"}}
	}
	return edits, nil
}

// writeEdits records the edits, and takes the file away when there are none.
func writeEdits(tree *worktree.Tree, edits []bundle.Edit) error {
	if len(edits) == 0 {
		if tree.Exists(editsFile) {
			tree.Remove(editsFile)
		}
		return nil
	}
	data, err := json.MarshalIndent(bundleEdits{
		Comment: "Values of the bundle that were edited by hand, with what is generated in their place. Keep it in version control.",
		Edits:   edits,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", editsFile, err)
	}
	tree.WriteFile(editsFile, append(data, '\n'), 0o644)
	return nil
}

// recordKey is what the record of the bundle in a folder goes by. The time in the CSV belongs to it, so that a bundle
// that came from elsewhere, as with another branch, is not compared with what was generated here.
func recordKey(dir, created string) string { return dir + "\x00" + created }

// readBundleRecord gives what was generated before, nil where that is not known.
func (a *app) readBundleRecord(root, dir, created string) bundle.Record {
	var record bundle.Record
	if json.Unmarshal(a.recall(root, bundleRecord, recordKey(dir, created)), &record) != nil {
		return nil
	}
	return record
}

// writeBundleRecord keeps what was generated.
func (a *app) writeBundleRecord(root, dir, created string, record bundle.Record) {
	if data, err := json.Marshal(record); err == nil {
		a.remember(root, bundleRecord, recordKey(dir, created), data)
	}
}

// build builds a kustomization of the project, or takes what this machine remembers of it.
func (a *app) build(tree *worktree.Tree, folder string) ([]byte, error) {
	out, built, err := manifest.BuildAgain(tree.Root(), folder, tree.Edits(), manifest.ReadBuilt(a.recall(tree.Root(), buildRecord, folder)))
	if err != nil || built == nil {
		return out, err
	}
	if data, err := json.Marshal(built); err == nil {
		a.remember(tree.Root(), buildRecord, folder, data)
	}
	return out, nil
}
