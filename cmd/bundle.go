package cmd

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/describe"
	"github.com/operon-sdk/operon/cmd/internal/follow"
	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/project"
)

// bundleFlags are the flags of bundle.
type bundleFlags struct {
	bundles.Options
	digestOptions
	describe           describe.Options
	interactive, check bool
}

func newBundle(a *app) *cobra.Command {
	var o bundleFlags
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Generate code, manifests and the bundle in one step",
		Long: `Generate the project's bundle for the Operator Lifecycle Manager (OLM) in one step: generate code
and manifests, update the base of the ClusterServiceVersion (CSV), build config/manifests, and write
the bundle. Either all files are written or none.

The result is the same as with 'make bundle', or with 'generate', 'generate kustomize manifests' and
'generate bundle' one after the other. Flags that you don't pass are taken from these commands in
the Makefile's bundle target, its prerequisites and the scripts that it runs, or else from the
bundle on disk. The later of the two versions wins. The kustomization is the one that the target
builds. If the target doesn't run 'generate kustomize manifests', an existing base changes only
through flags. Other commands, such as sed and yq, aren't run; a note names each of them.`,
		Example: fmt.Sprintf(`  # The first bundle:
  %[1]s bundle --version 0.0.1 --image registry.example.com/memcached-operator:v0.0.1

  # The next version, which replaces the first:
  %[1]s bundle --version 0.0.2 --image registry.example.com/memcached-operator:v0.0.2 --replaces memcached-operator.v0.0.1

  # In CI, fail if the bundle is stale:
  %[1]s bundle --check`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.followMakefile(c, &o); err != nil {
				return err
			}
			return o.Within(c, func() error { return a.runBundle(c, o) })
		},
	}
	// The sub-commands have flags of the same names.
	f := c.Flags()
	a.addOffline(f)
	a.addAllowRemote(f)
	f.StringVar(&o.Image, "image", "", "reference of the manager `image`, written to config/manager")
	f.StringVarP(&o.Version, "version", "v", "", "semantic `version` of the bundle")
	f.StringVar(&o.Channels, "channels", "", "comma-separated `channels` of the bundle (default: alpha for a new bundle)")
	addBundleFlags(f, &o.GenerateOptions, &o.digestOptions)
	f.StringVar(&o.Replaces, "replaces", "", "`name` of the CSV that this one replaces, kept in the base")
	f.StringVar(&o.SkipRange, "skip-range", "", "`range` of versions that can be upgraded directly to this one, kept in the base")
	f.BoolVar(&o.check, "check", false, "write nothing; exit with 1 and print a diff if the bundle is stale (for CI)")
	f.BoolVar(&o.interactive, "interactive", false, "ask for all descriptions; =false asks for none (default: ask at a terminal unless the base was edited)")
	addDescription(c, &o.describe, &o.Base)
	c.AddCommand(newBundleValidate(a))
	return c
}

func (a *app) runBundle(c *cobra.Command, o bundleFlags) error {
	if _, _, err := a.SourceDate(); err != nil {
		return err
	}
	config := a.actions()
	config.DryRun = config.DryRun || o.check
	return a.runInRoot(c.Context(), config, func(p *action.Project) error { return a.bundle(c, p, o) })
}

func (a *app) bundle(c *cobra.Command, p *action.Project, o bundleFlags) error {
	a.resolveDigests(&o.GenerateOptions, &o.digestOptions)
	o.Base.Findings = o.describe.Check()
	current, err := bundles.Check(p, o.Options)
	if err != nil {
		return err
	}
	if o.Base.Metadata, err = a.describeBundle(c, current, o); err != nil {
		return err
	}
	result, err := bundles.Bundle(c.Context(), p, o.Options)
	if o.check {
		return a.print.Checked(result, err, fmt.Sprintf("run '%s bundle' with the same flags, without --check, and commit what it changes", a.program))
	}
	if err == nil && len(result.Changes) > 0 {
		dir := cmp.Or(o.OutputDir, project.BundleDir)
		result.AddStepf("'%[1]s bundle validate %[2]s', then '%[1]s image bundle --image IMAGE --push' for the bundle's image, or '%[1]s run bundle %[2]s' to install it with OLM", a.program, words.Join([]string{dir}))
	}
	return a.print.Generated(result, err)
}

// followMakefile sets the options that the command line leaves open to what the project's Makefile does.
func (a *app) followMakefile(c *cobra.Command, o *bundleFlags) error {
	root, err := a.ProjectRoot()
	if err != nil {
		return err
	}
	bundle := follow.Bundle{
		Program: a.program, Root: root, Dir: a.Dir, FS: a.FS, Flags: c.Flags(), Options: &o.Options, Notef: a.print.Notef, Verbosef: a.print.Verbosef,
		NewFlags: func(step calls.BundleStep) *pflag.FlagSet {
			other := newApp(a.Env, a.program) // flags that commands share are fields of the app
			if step == calls.KustomizeManifests {
				return newGenerateKustomizeManifests(other).Flags()
			}
			return newGenerateBundle(other).Flags()
		},
	}
	return bundle.Makefile()
}

// describeBundle returns the description of the operator. It prompts only at a terminal: the input of a pipe is not meant as
// answers.
func (a *app) describeBundle(c *cobra.Command, current *bundles.CurrentBase, o bundleFlags) (base.Metadata, error) {
	if o.KeepBase && current.Content != nil {
		return base.Metadata{}, nil
	}
	if o.interactive || a.InTerminal && !o.check {
		return a.interview(c, o.interactive).Metadata(current, &o.describe)
	}
	metadata, err := o.describe.Metadata(a.Env)
	if err == nil && metadata.DisplayName == "" && (current.Content == nil || current.Scaffolded) {
		a.print.Notef("note: the description of the operator is still the default; run '%s' at a terminal, or see '%[1]s --help' for flags that set it", c.CommandPath())
	}
	return metadata, err
}

// digestOptions are the flags of commands that may replace the tags of images by digests.
type digestOptions struct {
	images.Registry
	digests bool
}

// addBundleFlags adds the flags that bundle and generate bundle share.
func addBundleFlags(f *pflag.FlagSet, o *bundles.GenerateOptions, d *digestOptions) {
	f.StringVar(&o.DefaultChannel, "default-channel", "", "default `channel` of the package")
	f.StringVar(&o.Package, "package", "", "package `name` (default: the project name)")
	addDirFlag(f, &o.KustomizeDir, "kustomize-dir", project.ManifestsDir, "`directory` with the kustomization of the bundle and the base CSV")
	f.StringVar(&o.OutputDir, "output-dir", "", "`directory` to write the bundle to (default: bundle)")
	f.StringSliceVar(&o.ServiceAccounts, "extra-service-accounts", nil, "service `accounts` without a Deployment whose permissions the CSV includes")
	f.StringSliceVar(&o.ExistingRoles, "existing-roles", nil, "existing `roles` in clusters that the operator's service accounts are bound to")
	f.BoolVar(&o.Strict, "strict", false, "fail if part of the input would be left out of the bundle")
	f.BoolVar(&d.digests, "use-image-digests", false, "refer to images by digest; without network the digests are read from "+bundles.DigestsFile)
	d.Registry.AddTo(f)
}

// resolveDigests sets the options for digests to the flags, which it validates.
func (a *app) resolveDigests(o *bundles.GenerateOptions, d *digestOptions) {
	o.Findings = d.Check()
	if d.digests {
		o.Digest = d.Access(a.print).Digest
	}
}

// addDirFlag adds a flag for a directory whose default is relative to the project: it is empty unless the flag is given.
func addDirFlag(f *pflag.FlagSet, dir *string, name, fallback, usage string) {
	f.StringVar(dir, name, "", usage)
	f.Lookup(name).DefValue = fallback
}

// workDirIfEmpty replaces an empty value of a directory flag that was given by the working directory.
func workDirIfEmpty(c *cobra.Command, flag string, dir *string) {
	if c.Flags().Changed(flag) && *dir == "" {
		*dir = "."
	}
}
