package cmd

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// printManifests prints the manifests as documents of a YAML stream.
func (a *app) printManifests(made *bundle.Manifests) error {
	if made == nil {
		return nil
	}
	bundle.SetCreated(made.CSV, a.created())
	csv, err := manifest.Encode(made.CSV)
	if err != nil {
		return err
	}
	docs := []string{string(csv)}
	for _, name := range made.Order {
		docs = append(docs, string(made.Files[name]))
	}
	_, err = fmt.Fprint(a.Out, "---\n"+strings.Join(docs, "---\n"))
	return err
}

// created is the time that a changed CSV bears.
func (a *app) created() time.Time {
	if at, given, err := a.sourceDate(); given && err == nil {
		return at
	}
	return a.Now()
}

// applyBundle updates the bundle in dir, and records what was generated. The change writes below out only where that is
// outside of the project.
func (a *app) applyBundle(ctx context.Context, root, out, dir string, change func(*worktree.Tree) (*bundle.Updated, error)) error {
	var up *bundle.Updated
	err := a.applyAt(ctx, root, out, func(tree *worktree.Tree) (err error) {
		if up, err = change(tree); err != nil {
			return err
		}
		return a.tellNotes(up.Notes, false)
	})
	if err == nil && !a.dryRun {
		a.writeBundleRecord(root, dir, up.Created, up.Generated)
	}
	return err
}

// updateBundle merges what is generated with the files in a tree. The update names the former; csv is the file of
// the CSV.
func (a *app) updateBundle(tree *worktree.Tree, u bundle.Update, csv string) (*bundle.Updated, error) {
	disk, err := readOptional(tree, csv)
	if err != nil {
		return nil, err
	}
	created := bundle.CreatedAt(disk)
	if u.Edits, err = readEdits(tree); err != nil {
		return nil, err
	}
	u.Before, u.Now = a.readBundleRecord(tree.Root(), u.Dir, created), a.created()
	u.Read = func(name string) ([]byte, bool, error) {
		data, err := readOptional(tree, name)
		return data, data != nil, err
	}
	up, err := u.Run()
	if err != nil {
		return nil, err
	}
	for name, content := range up.Files {
		tree.WriteFile(name, content, 0o644)
	}
	for _, name := range up.Removed {
		tree.Remove(name)
	}
	if up.Created == "" {
		up.Created = created
	}
	return up, writeEdits(tree, up.Kept)
}

// writeBundle brings the bundle in a tree up to date, and gives what is to be remembered of it.
func (a *app) writeBundle(tree *worktree.Tree, made *bundle.Manifests, layout string, o *bundleOptions) (*bundle.Updated, error) {
	at := func(name string) string { return path.Join(o.outputDir, name) }
	files, err := tree.Walk(o.outputDir, nil)
	if err != nil {
		return nil, err
	}
	u := bundle.Update{Dir: o.outputDir, Manifests: made, List: bundle.ManifestNames(o.outputDir, files)}
	existing := ""
	if o.metadata && !o.overwrite {
		if existing, err = findMetadata(tree, at(bundle.AnnotationsFile), files); err != nil {
			return nil, err
		}
	}
	switch {
	case existing != "":
		a.notef("note: --overwrite=false: %s and %s stay as they are, with their channels", existing, bundle.DockerfileName)
	case o.metadata:
		if o.defaultChannel != "" && !slices.Contains(strings.Split(o.channels, ","), o.defaultChannel) {
			a.warnf("--default-channel %q is not among the channels %s; the package needs another bundle in it", o.defaultChannel, o.channels)
		}
		u.Metadata = &bundle.Metadata{
			Dir: o.copyDir, Package: o.pkg, Channels: o.channels, DefaultChannel: o.defaultChannel,
			Layout: layout, Builder: builderName(),
			Scorecard: tree.Exists(at(bundle.ScorecardFile)) || made != nil && made.Scorecard != nil,
		}
	}
	up, err := a.updateBundle(tree, u, at(path.Join(bundle.ManifestsDir, bundle.CSVFile(o.pkg))))
	if err != nil {
		return nil, err
	}
	notes, err := checkSizes(tree, o.outputDir)
	up.Notes = append(up.Notes, notes...)
	if err != nil {
		return nil, err
	}
	return up, o.locked.write(tree)
}

// findMetadata finds the file that holds the metadata of a bundle, at its usual place first; it is empty
// where none does.
func findMetadata(tree *worktree.Tree, usual string, files []string) (string, error) {
	for _, name := range append([]string{usual}, files...) {
		data, err := readOptional(tree, name)
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
func checkSizes(tree *worktree.Tree, dir string) ([]bundle.Note, error) {
	files := map[string][]byte{}
	for _, folder := range []string{bundle.ManifestsDir, path.Dir(bundle.AnnotationsFile)} {
		names, err := tree.Walk(path.Join(dir, folder), nil)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if files[name], err = tree.ReadFile(name); err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, reason(err))
			}
		}
	}
	return bundle.CheckSizes(dir, files)
}
