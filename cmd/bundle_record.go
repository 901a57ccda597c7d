package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/scaffold"
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
func readEdits(tree *scaffold.Tree) ([]bundle.Edit, error) {
	data, err := readOptional(tree, editsFile)
	if data == nil || err != nil {
		return nil, err
	}
	edits, err := bundle.ParseEdits(data)
	if err != nil {
		return nil, manifest.Problems{{Position: manifest.Position{File: editsFile}, Text: "is no valid JSON: " + err.Error() + "; restore it from version control, or delete it to forget which values of the bundle were edited by hand"}}
	}
	return edits, nil
}

// writeEdits records the edits, and takes the file away when there are none.
func writeEdits(tree *scaffold.Tree, edits []bundle.Edit) error {
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

// recordFile is where the cache keeps what was generated for the bundle in a folder. The time in the
// CSV belongs to its name, so that a bundle that came from elsewhere, as with another branch, is not
// compared with what was generated here.
func (a *app) recordFile(root, dir, created string) string {
	cache := a.cache("bundle")
	if cache == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(root + "\x00" + dir + "\x00" + created))
	return filepath.Join(cache, hex.EncodeToString(sum[:16])+".json")
}

// readBundleRecord gives what was generated before, nil where that is not known.
func (a *app) readBundleRecord(root, dir, created string) bundle.Record {
	name := a.recordFile(root, dir, created)
	if name == "" {
		return nil
	}
	data, err := afero.ReadFile(a.FS, name)
	if err != nil {
		return nil
	}
	var record bundle.Record
	if json.Unmarshal(data, &record) != nil {
		return nil
	}
	return record
}

// writeBundleRecord keeps what was generated. A cache that cannot be written is one that will not be there.
func (a *app) writeBundleRecord(root, dir, created string, record bundle.Record) {
	name := a.recordFile(root, dir, created)
	if name == "" {
		return
	}
	data, err := json.Marshal(record)
	if err != nil {
		return
	}
	if old, err := afero.ReadFile(a.FS, name); err == nil && string(old) == string(data) {
		return
	}
	a.keep(name, data)
}

// keep writes a file of a cache, whole. A cache that cannot be written is one that will not be there.
func (a *app) keep(name string, data []byte) {
	if err := a.FS.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return
	}
	aside := name + ".new"
	if afero.WriteFile(a.FS, aside, data, 0o644) == nil {
		_ = a.FS.Rename(aside, name)
	}
}

// build builds a kustomization of the project, or takes what the cache has of it.
func (a *app) build(tree *scaffold.Tree, folder string) ([]byte, error) {
	name := a.recordFile(tree.Root(), folder, "build")
	var before *manifest.Built
	if name != "" {
		if data, err := afero.ReadFile(a.FS, name); err == nil {
			before = manifest.ReadBuilt(data)
		}
	}
	out, built, err := manifest.BuildAgain(tree.Root(), folder, overlay(tree), before)
	if err != nil || name == "" || built == nil {
		return out, err
	}
	if data, err := json.Marshal(built); err == nil {
		a.keep(name, data)
	}
	return out, nil
}
