package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

// pkgmanFlags are the flags of pkgman-to-bundle.
type pkgmanFlags struct {
	bundles.MigrateOptions
	image, build string
	// words are the command in build.
	words []string
}

// defaultBuild is the default of --build-cmd. The name of the image is appended.
const defaultBuild = "docker build -f bundle.Dockerfile . -t"

func newPkgmanToBundle(a *app) *cobra.Command {
	var o pkgmanFlags
	c := &cobra.Command{
		Use:   "pkgman-to-bundle DIR",
		Short: "Convert package manifests to bundles",
		Long: `Convert each version of an operator in the package manifest format to a bundle. DIR contains
PACKAGE.package.yaml and a directory of manifests for each version. The bundle for the directory
VERSION is written to bundle-VERSION in --output-dir, a new directory, with its Dockerfile next to
it. Manifests are copied byte for byte; a scorecard configuration among them goes to
bundle/tests/scorecard.

A version joins the channels that it is the head of, and channels whose head leads to it by
replaces. A version without such a channel joins the default channel.

With --image-tag-base, the image of each bundle is built too, with the name
--image-tag-base:VERSION. The command is --build-cmd, or 'docker build -f bundle.Dockerfile . -t'.
It runs in the directory of the bundle's Dockerfile and gets the image name as its last argument; a
program such as ./build.sh is relative to the working directory. The command is split into words
with quotes and backslashes as in a shell, but no shell runs it: variables, pipes and patterns are
rejected. If you need them, write a script, or use sh -c '…', where $0 is the image name.`,
		Example: fmt.Sprintf(`  %[1]s pkgman-to-bundle packagemanifests

  # To another directory, with images:
  %[1]s pkgman-to-bundle packagemanifests --output-dir out --image-tag-base quay.io/example/memcached-operator-bundle

  # With another program to build images:
  %[1]s pkgman-to-bundle packagemanifests --image-tag-base quay.io/example/memcached-operator-bundle --build-cmd 'podman build -f bundle.Dockerfile . -t'`, a.program),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return usagef(c, "%s takes one argument, the directory with the package manifest, but got %d", c.CommandPath(), len(args))
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.Dir = args[0]
			return a.runPkgmanToBundle(c.Context(), o, c.Flags().Changed("build-cmd"))
		},
	}
	f := c.Flags()
	f.StringVar(&o.OutputDir, "output-dir", "bundles", "`directory` to write the bundles to")
	f.StringVar(&o.image, "image-tag-base", "", "`name` of the bundle images without a tag; the version directory is the tag")
	f.StringVar(&o.build, "build-cmd", "", "`command` that builds an image (default: "+defaultBuild+")")
	return c
}

func (o *pkgmanFlags) check(buildGiven bool) diag.Findings {
	var findings diag.Findings
	if o.Dir == "" {
		findings.Add("DIR", "", "must be a directory")
	}
	if o.OutputDir == "" {
		findings.Add("--output-dir", "", "must be a directory")
	}
	if buildGiven && o.image == "" {
		findings.Add("--image-tag-base", "", "is required with --build-cmd: it names the images")
	}
	if o.image != "" {
		o.CheckTag = func(tag string) error { return image.CheckTag(o.image, tag) }
		if err := o.CheckTag("0.0.0"); err != nil {
			findings.Add("--image-tag-base", o.image, err.Error())
		}
	}
	line := defaultBuild
	if buildGiven {
		line = o.build
	}
	var err error
	if o.words, err = words.Split(line); err != nil {
		findings.Add("--build-cmd", line, err.Error())
	}
	return findings
}

func (a *app) runPkgmanToBundle(ctx context.Context, o pkgmanFlags, buildGiven bool) error {
	if findings := o.check(buildGiven); len(findings) > 0 {
		return findings
	}
	migration, err := bundles.MigratePackageManifests(ctx, a.actions(), o.MigrateOptions)
	if err != nil {
		return a.print.Outcome(nil, err)
	}
	if err := a.print.Outcome(migration.Result, nil); err != nil || o.image == "" {
		return err
	}
	return a.buildBundles(ctx, migration.Bundles, o)
}

// buildBundles builds the image of each bundle, even if others fail.
func (a *app) buildBundles(ctx context.Context, bundles []bundles.MigratedBundle, o pkgmanFlags) error {
	program := o.words[0]
	if strings.ContainsAny(program, `/\`) && !filepath.IsAbs(program) {
		program = filepath.Join(a.Dir, program) // not relative to the bundle, where it runs
	}
	var failures []error
	for _, b := range bundles {
		ref := o.image + ":" + b.Version
		args := append(o.words[1:len(o.words):len(o.words)], ref)
		line := words.Join(append([]string{o.words[0]}, args...))
		if a.dryRun {
			a.print.Progressf("would run in %s: %s", b.Name, line)
			continue
		}
		a.print.Progressf("in %s: %s", b.Name, line)
		var buffer bytes.Buffer
		output := io.Writer(&buffer)
		if !a.print.Quiet {
			output = a.print.Text()
		}
		err := a.Run(ctx, Command{Dir: b.Dir, Environ: a.Environ, Out: output, Err: output, Name: program, Args: args})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("program %s to build images not found; the bundles are written; pass another one with --build-cmd", o.words[0])
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			_, _ = io.Copy(a.print.Text(), &buffer)
			failures = append(failures, fmt.Errorf("building %s: '%s': %w", ref, line, diag.Cause(err)))
			continue
		}
		if _, err := fmt.Fprintf(a.print.TextOut(), "built    %s\n", ref); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}
