package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// pkgmanOptions are the flags of pkgman-to-bundle.
type pkgmanOptions struct {
	dir, outputDir, image, build string
	// words are the command in build.
	words []string
}

// defaultBuild builds an image unless --build-cmd says otherwise; the image's name is put after it.
const defaultBuild = "docker build -f bundle.Dockerfile . -t"

func newPkgmanToBundle(a *app) *cobra.Command {
	var o pkgmanOptions
	c := &cobra.Command{
		Use:   "pkgman-to-bundle DIR",
		Short: "Convert package manifests to bundles",
		Long: `Convert each version of an operator in the package manifest format to a bundle: DIR contains
PACKAGE.package.yaml and a directory of manifests for each version. The bundle of the directory
VERSION is written to bundle-VERSION below --output-dir, a new directory, with its Dockerfile next
to it. Manifests are copied byte for byte; a scorecard configuration among them is written to
bundle/tests/scorecard.

A version is in the channels that it is the head of, and in those whose head is reached from it by
replaces. A version without such a channel is in the default channel.

With --image-tag-base the image of each bundle is built too and named --image-tag-base:VERSION. The
command is --build-cmd or 'docker build -f bundle.Dockerfile . -t'. It runs in the directory of the
bundle's Dockerfile and gets the image name as its last argument; a program such as ./build.sh is
relative to the working directory. The command is split into words with quotes and backslashes as in
a shell, but no shell runs it: variables, pipes and patterns are refused. For these write a script,
or give sh -c '…', where $0 is the image name.`,
		Example: fmt.Sprintf(`  %[1]s pkgman-to-bundle packagemanifests

  # To another directory, with images:
  %[1]s pkgman-to-bundle packagemanifests --output-dir out --image-tag-base quay.io/example/memcached-operator-bundle

  # With another program to build images:
  %[1]s pkgman-to-bundle packagemanifests --image-tag-base quay.io/example/memcached-operator-bundle --build-cmd 'podman build -f bundle.Dockerfile . -t'`, a.program),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return usagef(c, "%s takes one argument, the folder with the package manifest, but got %d", c.CommandPath(), len(args))
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.dir = args[0]
			return a.runPkgmanToBundle(c.Context(), o, c.Flags().Changed("build-cmd"))
		},
	}
	f := c.Flags()
	f.StringVar(&o.outputDir, "output-dir", "bundles", "`directory` to write the bundles to")
	f.StringVar(&o.image, "image-tag-base", "", "`name` of the bundle images without a tag; the version directory is the tag")
	f.StringVar(&o.build, "build-cmd", "", "`command` that builds an image (default: "+defaultBuild+")")
	return c
}

func (o *pkgmanOptions) check(buildGiven bool) diag.Findings {
	var findings diag.Findings
	add := func(flag, value, problem string) {
		findings = append(findings, diag.Finding{Field: flag, Value: value, Problem: problem})
	}
	if o.dir == "" {
		add("DIR", "", "must name a folder")
	}
	if o.outputDir == "" {
		add("--output-dir", "", "must name a folder")
	}
	if buildGiven && o.image == "" {
		add("--image-tag-base", "", "is required with --build-cmd: it names the images")
	}
	if o.image != "" {
		if err := image.CheckTag(o.image, "0.0.0"); err != nil {
			add("--image-tag-base", o.image, err.Error())
		}
	}
	line := defaultBuild
	if buildGiven {
		line = o.build
	}
	var err error
	if o.words, err = splitWords(line); err != nil {
		add("--build-cmd", line, err.Error())
	}
	return findings
}

func (a *app) runPkgmanToBundle(ctx context.Context, o pkgmanOptions, buildGiven bool) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	if findings := o.check(buildGiven); len(findings) > 0 {
		return findings
	}
	root, out, err := a.bundlesRoot(dir, o.outputDir)
	if err != nil {
		return err
	}
	if done, err := a.settle(ctx, root); err != nil || done && o.image == "" {
		return err
	}
	switch exists, err := afero.Exists(a.FS, a.absolute(o.outputDir)); {
	case err != nil:
		return fmt.Errorf("--output-dir %q: %w", o.outputDir, reason(err))
	case exists:
		return diag.Findings{{Field: "--output-dir", Value: o.outputDir, Problem: "already exists; remove it, or name a new directory"}}
	}
	bundles, err := a.convert(dir, o)
	if err != nil {
		return err
	}
	if err := a.apply(ctx, root, func(tree *worktree.Tree) error {
		writeBundles(tree, out, bundles)
		return nil
	}); err != nil {
		return err
	}
	if o.image == "" {
		return nil
	}
	return a.buildBundles(ctx, filepath.Join(root, filepath.FromSlash(out)), dir, bundles, o)
}

// bundlesRoot finds the folder whose change is one transaction, and the output's folder as seen from
// it: the project or the working directory around the output, or else the nearest folder there is.
func (a *app) bundlesRoot(dir, out string) (root, rel string, err error) {
	var roots []string
	if found, err := project.FindRoot(a.FS, dir); err == nil {
		roots = append(roots, found)
	}
	nearest := filepath.Clean(out)
	if !filepath.IsAbs(nearest) {
		nearest = filepath.Join(dir, nearest)
	}
	for _, root = range append(roots, dir, a.nearestDirectory(nearest)) {
		if rel, err = fromRoot(root, dir, out); err == nil && !isOutside(rel) {
			break
		}
	}
	return root, rel, err
}

// nearestDirectory returns the nearest existing directory around an absolute path, which may be that itself.
func (a *app) nearestDirectory(name string) string {
	for name != filepath.Dir(name) {
		if exists, _ := afero.DirExists(a.FS, name); exists { // an error is that of a later step, too
			break
		}
		name = filepath.Dir(name)
	}
	return name
}

// convert reads the package and makes its bundles in memory.
func (a *app) convert(dir string, o pkgmanOptions) ([]bundle.Converted, error) {
	r := &packageReader{fs: a.FS, root: dir}
	pkg, versions, err := r.read(o.dir)
	if err != nil {
		return nil, err
	}
	for i, c := range pkg.Channels {
		if problem := channelProblem(c.Name); problem != "" {
			r.problem(pkg.Locate("channels", fmt.Sprint(i), "name"), "the channel %q %s", c.Name, problem)
		}
	}
	if o.image != "" {
		for _, v := range versions {
			if err := image.CheckTag(o.image, path.Base(v.Dir)); err != nil {
				r.problem(diag.Position{File: v.Dir}, "an image %s", err)
			}
		}
	}
	bundles, notes, err := bundle.Convert(pkg, versions, builderName())
	problems, ok := err.(diag.Findings)
	if err != nil && !ok {
		return nil, err
	}
	if problems = append(r.problems, problems...); len(problems) > 0 {
		return nil, problems
	}
	return bundles, a.tellNotes(append(r.notes, notes...), false)
}

// writeBundles writes bundles into a tree.
func writeBundles(tree *worktree.Tree, out string, bundles []bundle.Converted) {
	for _, b := range bundles {
		for name, content := range b.Files {
			tree.WriteFile(path.Join(out, bundleFolder(b), name), content, 0o644)
		}
	}
}

func bundleFolder(b bundle.Converted) string { return "bundle-" + b.Version }

// buildBundles builds the image of each bundle. One that fails does not keep the others from it.
func (a *app) buildBundles(ctx context.Context, out, dir string, bundles []bundle.Converted, o pkgmanOptions) error {
	program := o.words[0]
	if strings.ContainsAny(program, `/\`) && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program) // the caller's folder, not the bundle's
	}
	var failures []error
	for _, b := range bundles {
		ref := o.image + ":" + b.Version
		args := append(o.words[1:len(o.words):len(o.words)], ref)
		line := joinWords(append([]string{o.words[0]}, args...))
		if a.dryRun {
			a.progressf("would run in %s: %s", bundleFolder(b), line)
			continue
		}
		a.progressf("in %s: %s", bundleFolder(b), line)
		var said bytes.Buffer
		output := io.Writer(&said)
		if !a.quiet {
			output = a.Err
		}
		err := a.Run(ctx, Command{Dir: filepath.Join(out, bundleFolder(b)), Environ: a.Environ, Out: output, Err: output, Name: program, Args: args})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("there is no program %s to build images with; the bundles are written, name another one with --build-cmd", o.words[0])
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			_, _ = io.Copy(a.Err, &said)
			failures = append(failures, fmt.Errorf("building %s: '%s': %w", ref, line, reason(err)))
			continue
		}
		if _, err := fmt.Fprintf(a.Out, "built    %s\n", ref); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}
