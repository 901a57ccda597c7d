package cmd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

func (a *app) runGenerateBundle(c *cobra.Command, o bundleOptions) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	root, layout, err := a.bundleProject(dir, &o)
	findings := o.check(a.InPipe)
	if err != nil {
		return withFindings(err, findings)
	}
	if o.kustomizeGiven {
		if o.kustomizeDir, err = fromRoot(root, dir, o.kustomizeDir); err != nil {
			return err
		}
	}
	outside, err := asFindings(o.placeOutput(root, dir))
	if err != nil {
		return err
	}
	if findings = append(findings, outside...); len(findings) > 0 {
		return errors.Join(findings, a.faults(scaffold.NewTree(a.FS, root), dir, layout, o))
	}
	if !o.stdout {
		if done, err := a.settle(c.Context(), root); done || err != nil {
			return err
		}
	}
	tree := scaffold.NewTree(a.FS, root)
	var made *bundle.Manifests
	if o.manifests {
		if made, err = a.bundleManifests(c.Context(), tree, dir, layout, &o); err != nil {
			return err
		}
	}
	if o.stdout {
		return a.printManifests(made)
	}
	return a.applyBundle(c.Context(), root, o.outputDir, func(tree *scaffold.Tree) (*bundle.Updated, error) {
		return a.writeBundle(tree, made, layout, &o)
	})
}

// bundleProject finds the project that a bundle is for, and its layout. Without a project the bundle
// needs its name from --package, and lands in the working directory.
func (a *app) bundleProject(dir string, o *bundleOptions) (root, layout string, err error) {
	root, err = project.FindRoot(a.FS, dir)
	if errors.Is(err, project.ErrNotAProject) {
		if o.pkg == "" {
			return "", "", fmt.Errorf("%w; to make a bundle without a project, name its package with --package", err)
		}
		return dir, "unknown", nil
	}
	if err != nil {
		return "", "", err
	}
	config, err := project.LoadWithoutLayout(a.FS, root)
	if err != nil {
		return "", "", err
	}
	if o.pkg == "" {
		o.pkg = config.ProjectName()
	}
	if o.pkg == "" {
		return "", "", project.Findings{{Field: "--package", Problem: "is needed: PROJECT has no projectName to take the package's name from"}}
	}
	return root, strings.Join(config.Layout(), ","), nil
}

// readInput reads what a bundle is made from.
func (a *app) readInput(tree *scaffold.Tree, dir, layout string, o *bundleOptions) (bundle.Input, []bundle.Note, error) {
	input := bundle.Input{
		Package: o.pkg, Version: o.version, Layout: layout, Builder: builderName(),
		ServiceAccounts: o.accounts, Replaces: o.replaces,
	}
	objects, notes, err := a.bundleInput(tree, dir, o)
	problems, ok := err.(manifest.Problems)
	if err != nil && !ok {
		return input, nil, err
	}
	base, err := readBase(tree, o)
	if wrong, ok := err.(manifest.Problems); ok {
		problems = append(problems, wrong...)
	} else if err != nil {
		return input, nil, err
	}
	if len(problems) > 0 {
		return input, nil, append(problems, bundle.Check(objects)...)
	}
	input.Objects, input.Base = objects, base
	return input, notes, nil
}

// faults finds what is wrong with the input of a command whose flags are wrong already, so that all of it is told
// at once: as far as the flags say where the input is.
func (a *app) faults(tree *scaffold.Tree, dir, layout string, o bundleOptions) error {
	if !o.manifests || len(o.checkSources(a.InPipe && !o.pipeToo)) > 0 {
		return nil
	}
	input, _, err := a.readInput(tree, dir, layout, &o)
	if err != nil {
		return err
	}
	if packageProblem(o.pkg) != "" {
		return bundle.Check(input.Objects).Err()
	}
	if versionProblem(o.version) != "" {
		input.Version = "0.0.0" // told already
	}
	_, err = bundle.Generate(input)
	return err
}

// asFindings takes findings out of an error, and leaves any other.
func asFindings(err error) (project.Findings, error) {
	if findings, ok := errors.AsType[project.Findings](err); ok {
		return findings, nil
	}
	return nil, err
}

// withFindings adds findings about flags to an error about the project, if that is one of wrong use too.
func withFindings(err error, findings project.Findings) error {
	if badInput(err) {
		return errors.Join(err, findings.Err())
	}
	return err
}

// bundleManifests reads the input and makes the manifests, and says what a person should know.
func (a *app) bundleManifests(ctx context.Context, tree *scaffold.Tree, dir, layout string, o *bundleOptions) (*bundle.Manifests, error) {
	input, notes, err := a.readInput(tree, dir, layout, o)
	if err != nil {
		return nil, err
	}
	if o.digests {
		if o.locked, err = a.readImages(tree, o); err != nil {
			return nil, err
		}
		input.Pin = func(ref string) (string, error) { return o.locked.pin(ctx, ref) }
	}
	made, err := bundle.Generate(input)
	if err != nil {
		return nil, err
	}
	made.Notes = append(notes, made.Notes...)
	return made, a.tellNotes(made.Notes, o.strict)
}

// builderName is how bundles name this program.
func builderName() string { return "operon-" + buildVersion().Version }

// readBase reads the project's base CSV, nil where it has none.
func readBase(tree *scaffold.Tree, o *bundleOptions) (*manifest.Object, error) {
	name := bundle.BaseFile(o.kustomizeDir, o.pkg)
	data, err := readOptional(tree, name)
	if data == nil || err != nil {
		return nil, err
	}
	objects, problems := manifest.Decode(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	for i := range objects {
		if objects[i].Kind() == "ClusterServiceVersion" {
			return &objects[i], nil
		}
	}
	return nil, manifest.Problems{{Position: manifest.Position{File: name}, Text: "holds no ClusterServiceVersion; restore the base CSV, or delete the file to start from placeholders"}}
}

// tellNotes prints notes on stderr, with -q too: what is left out of a bundle must not go unseen.
func (a *app) tellNotes(notes []bundle.Note, strict bool) error {
	for _, n := range notes {
		word := "note"
		if n.Dropped {
			word = "warning"
			if strict {
				word = "error"
			}
		}
		fmt.Fprintf(a.Err, "%s: %s\n", word, n)
	}
	if strict && len(bundle.Dropped(notes)) > 0 {
		return &usageError{err: errors.New("--strict: the bundle would lack what the errors name; nothing was written")}
	}
	return nil
}

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
	if epoch, ok := sourceDate(a.Getenv("SOURCE_DATE_EPOCH")); ok {
		return epoch
	}
	return a.Now()
}

// applyBundle makes a change that brings the bundle in a folder up to date, and remembers what was generated.
func (a *app) applyBundle(ctx context.Context, root, dir string, change func(*scaffold.Tree) (*bundle.Updated, error)) error {
	var up *bundle.Updated
	err := a.apply(ctx, root, func(tree *scaffold.Tree) (err error) {
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
func (a *app) updateBundle(tree *scaffold.Tree, u bundle.Update, csv string) (*bundle.Updated, error) {
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
func (a *app) writeBundle(tree *scaffold.Tree, made *bundle.Manifests, layout string, o *bundleOptions) (*bundle.Updated, error) {
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
		a.progressf("note: --overwrite=false: %s and %s stay as they are, with their channels", existing, bundle.DockerfileName)
	case o.metadata:
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
func findMetadata(tree *scaffold.Tree, usual string, files []string) (string, error) {
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
func checkSizes(tree *scaffold.Tree, dir string) ([]bundle.Note, error) {
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

// sourceDate reads the time of SOURCE_DATE_EPOCH, seconds since 1970.
func sourceDate(value string) (time.Time, bool) {
	seconds, err := strconv.ParseInt(value, 10, 64)
	return time.Unix(seconds, 0), err == nil
}
