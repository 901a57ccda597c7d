package bundles

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// renderManifests returns the manifests as a YAML stream.
func renderManifests(p *action.Project, generated *bundle.Manifests) ([]byte, error) {
	bundle.SetCreated(generated.CSV, creationTime(p))
	csv, err := manifest.Encode(generated.CSV)
	if err != nil {
		return nil, err
	}
	docs := []string{string(csv)}
	for _, name := range generated.Order {
		docs = append(docs, string(generated.Files[name]))
	}
	return []byte("---\n" + strings.Join(docs, "---\n")), nil
}

// update updates the bundle in dir with change, and records what was generated. If out is outside of the project, only the
// changes in it are made.
func update(ctx context.Context, p *action.Project, out, dir string, change func(*worktree.Tree) (*bundle.Updated, error)) (*action.Result, error) {
	var updated *bundle.Updated
	result, err := p.UpdateAt(ctx, out, func(tree *worktree.Tree) (err error) {
		if updated, err = change(tree); err != nil {
			return err
		}
		return reportNotes(p, updated.Notes, false)
	})
	if err == nil && !p.DryRun {
		recordBundle(p, dir, updated)
	}
	return result, err
}

// updateFiles merges generated files with those in a tree; csv is the file of the CSV.
func updateFiles(p *action.Project, tree *worktree.Tree, u bundle.Update, csv string) (*bundle.Updated, error) {
	current, err := tree.ReadOptional(csv)
	if err != nil {
		return nil, err
	}
	created := bundle.CreatedAt(current)
	if u.Edits, err = readEdits(tree); err != nil {
		return nil, err
	}
	if json.Unmarshal(p.Records().Get(action.BundleRecord, bundleKey(u.Dir, created)), &u.Before) != nil {
		u.Before = nil
	}
	u.Now = creationTime(p)
	u.Read = func(name string) ([]byte, bool, error) {
		data, err := tree.ReadOptional(name)
		return data, data != nil, err
	}
	updated, err := u.Run()
	if err != nil {
		return nil, err
	}
	for name, content := range updated.Files {
		tree.WriteFile(name, content, 0o644)
	}
	for _, name := range updated.Removed {
		tree.Remove(name)
	}
	if updated.Created == "" {
		updated.Created = created
	}
	return updated, writeEdits(tree, updated.Kept)
}

// write updates the bundle in a tree.
func (b *bundleRun) write(tree *worktree.Tree, generated *bundle.Manifests) (*bundle.Updated, error) {
	at := func(name string) string { return path.Join(b.outputDir, name) }
	files, err := tree.Walk(b.outputDir, nil)
	if err != nil {
		return nil, err
	}
	u := bundle.Update{Dir: b.outputDir, Manifests: generated, List: bundle.ManifestNames(b.outputDir, files)}
	existing := ""
	if b.Metadata && b.KeepMetadata {
		if existing, err = findMetadata(tree, at(bundle.AnnotationsFile), files); err != nil {
			return nil, err
		}
	}
	switch {
	case existing != "":
		b.Reportf(diag.Note, "note: --overwrite=false: %s and %s are kept with their channels", existing, bundle.DockerfileName)
	case b.Metadata:
		if b.DefaultChannel != "" && !slices.Contains(strings.Split(b.Channels, ","), b.DefaultChannel) {
			b.Reportf(diag.Warning, "--default-channel %q is not among the channels %s; the package needs another bundle in it", b.DefaultChannel, b.Channels)
		}
		u.Metadata = &bundle.Metadata{
			Dir: b.copyDir, Package: b.Package, Channels: b.Channels, DefaultChannel: b.DefaultChannel,
			Layout: b.layout, Builder: builder(b.Project),
			Scorecard: tree.Exists(at(bundle.ScorecardFile)) || generated != nil && generated.Scorecard != nil,
		}
	}
	updated, err := updateFiles(b.Project, tree, u, at(path.Join(bundle.ManifestsDir, bundle.CSVFile(b.Package))))
	if err != nil {
		return nil, err
	}
	notes, err := checkSizes(tree, b.outputDir)
	updated.Notes = append(updated.Notes, notes...)
	if err != nil {
		return nil, err
	}
	return updated, b.digests.write(tree)
}

// findMetadata returns the file with the metadata of a bundle, or empty. The usual file takes precedence.
func findMetadata(tree *worktree.Tree, usual string, files []string) (string, error) {
	for _, name := range append([]string{usual}, files...) {
		data, err := tree.ReadOptional(name)
		if err != nil {
			return "", err
		}
		if data != nil && bundle.HasMetadata(name, data) {
			return name, nil
		}
	}
	return "", nil
}

// checkSizes compares the bundle in a tree with the limits of OLM and etcd.
func checkSizes(tree *worktree.Tree, dir string) (diag.Findings, error) {
	files := map[string][]byte{}
	for _, sub := range []string{bundle.ManifestsDir, path.Dir(bundle.AnnotationsFile)} {
		names, err := tree.Walk(path.Join(dir, sub), nil)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if files[name], err = tree.ReadFile(name); err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
			}
		}
	}
	return bundle.CheckSizes(dir, files)
}

// editsFile contains the edits that replace generated values, for all who work on the project. What was generated is in the
// cache: a clone needs it only if a generated value was edited.
const editsFile = ".operon/bundle.json"

// readEdits reads the recorded edits of a project.
func readEdits(tree *worktree.Tree) ([]bundle.Edit, error) {
	data, err := tree.ReadOptional(editsFile)
	if data == nil || err != nil {
		return nil, err
	}
	edits, err := bundle.ParseEdits(data)
	if err != nil {
		return nil, diag.Findings{{Position: diag.Position{File: editsFile}, Problem: "is not valid JSON: " + err.Error() + "; restore it from version control, or delete it to discard the record of edited values"}}
	}
	return edits, nil
}

// writeEdits records the edits, and removes the file if there are none.
func writeEdits(tree *worktree.Tree, edits []bundle.Edit) error {
	if len(edits) == 0 {
		if tree.Exists(editsFile) {
			tree.Remove(editsFile)
		}
		return nil
	}
	data, err := json.MarshalIndent(struct {
		Comment string        `json:"comment"`
		Edits   []bundle.Edit `json:"edits"`
	}{"Values of the bundle that were edited by hand, with what is generated in their place. Keep it in version control.", edits}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", editsFile, err)
	}
	tree.WriteFile(editsFile, append(data, '\n'), 0o644)
	return nil
}

// bundleKey is the key of the record of the bundle in a directory. It contains the creation time, so that a bundle from another
// branch or machine is not compared with what was generated here.
func bundleKey(dir, created string) string { return dir + "\x00" + created }

// recordBundle stores what was generated.
func recordBundle(p *action.Project, dir string, updated *bundle.Updated) {
	if data, err := json.Marshal(updated.Generated); err == nil {
		p.Records().Put(action.BundleRecord, bundleKey(dir, updated.Created), data)
	}
}
