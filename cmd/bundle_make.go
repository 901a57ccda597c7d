package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

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
		return "", "", diag.Findings{{Field: "--package", Problem: "is required: PROJECT has no projectName"}}
	}
	return root, strings.Join(config.Layout(), ","), nil
}

// readInput reads what a bundle is made from.
func (a *app) readInput(tree *worktree.Tree, dir, layout string, o *bundleOptions) (bundle.Input, []bundle.Note, error) {
	input := bundle.Input{
		Package: o.pkg, Version: o.version, Layout: layout, Builder: builderName(),
		ServiceAccounts: o.accounts, ExistingRoles: o.existingRoles, Replaces: o.replaces,
	}
	objects, notes, err := a.bundleInput(tree, dir, o)
	problems, ok := err.(diag.Findings)
	if err != nil && !ok {
		return input, nil, err
	}
	base, err := readBase(tree, o)
	if wrong, ok := err.(diag.Findings); ok {
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
func (a *app) faults(tree *worktree.Tree, dir, layout string, o bundleOptions) error {
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

// asFindings returns the findings in an error that user input caused, or another error.
func asFindings(err error) (diag.Findings, error) {
	if findings, ok := errors.AsType[diag.Findings](err); ok && diag.IsUsage(findings) {
		return findings, nil
	}
	return nil, err
}

// bundleManifests reads the input and makes the manifests, and says what a person should know.
func (a *app) bundleManifests(ctx context.Context, tree *worktree.Tree, dir, layout string, o *bundleOptions) (*bundle.Manifests, error) {
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
	if errors.Is(err, bundle.ErrVersionRequired) {
		err = &usageError{err: err}
	}
	if err != nil {
		return nil, err
	}
	made.Notes = append(notes, made.Notes...)
	return made, a.tellNotes(made.Notes, o.strict)
}

// builderName is how bundles name this program.
func builderName() string { return "operon-" + buildVersion().Version }

// readBase reads the project's base CSV, nil where it has none.
func readBase(tree *worktree.Tree, o *bundleOptions) (*manifest.Object, error) {
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
	return nil, diag.Findings{{Position: diag.Position{File: name}, Problem: "has no ClusterServiceVersion; restore the base CSV, or delete the file to start from placeholders"}}
}

// tellNotes prints notes on stderr. If strict is set, what is left out of the bundle is an error.
func (a *app) tellNotes(notes []bundle.Note, strict bool) error {
	if len(notes) > diag.MaxListed { // the errors of --strict are among the first
		notes = slices.Concat(bundle.Dropped(notes), slices.DeleteFunc(slices.Clone(notes), func(n bundle.Note) bool { return n.Dropped }))
	}
	listed, rest := diag.Shorten(notes, "note")
	var lost []error
	for _, n := range listed {
		switch {
		case !n.Dropped:
			a.notef("note: %s", n)
		case !strict:
			a.warnf("%s", n)
		default:
			lost = append(lost, errors.New(n.String()))
		}
	}
	for _, line := range rest {
		a.progressf("%s", line)
	}
	if len(lost) > 0 {
		return errors.Join(append(lost, errors.New("--strict: the bundle would lack what the errors name; nothing was written"))...)
	}
	return nil
}
