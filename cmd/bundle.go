package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// allOptions are the flags of bundle: those of the steps that it takes, and some of its own.
type allOptions struct {
	bundle bundleOptions
	base   kustomizeOptions
	check  bool
}

func newBundle(a *app) *cobra.Command {
	var o allOptions
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Generate code, manifests and the bundle in one step",
		Long: `Generate the project's bundle for the Operator Lifecycle Manager (OLM) in one step: generate code
and manifests, update the base of the ClusterServiceVersion (CSV), build config/manifests, and write
the bundle. Either all files are written or none.

The result is the same as that of 'make bundle', and of 'generate', 'generate kustomize manifests'
and 'generate bundle' one after the other. Flags that are not given are taken from the two commands
in the Makefile's bundle target, otherwise from the bundle on disk. The version is the later of the
two.`,
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
			return o.bundle.within(c, func() error { return a.runBundle(c, o) })
		},
	}
	// The sub-commands have flags of the same names.
	f := c.Flags()
	a.addOffline(f)
	f.StringVar(&o.bundle.image, "image", "", "reference of the manager `image`, written to config/manager")
	f.StringVarP(&o.bundle.version, "version", "v", "", "semantic `version` of the bundle")
	f.StringVar(&o.bundle.channels, "channels", "", "comma-separated `channels` of the bundle (default: alpha for a new bundle)")
	f.StringVar(&o.bundle.defaultChannel, "default-channel", "", "default `channel` of the package")
	f.StringVar(&o.base.replaces, "replaces", "", "`name` of the CSV that this one replaces, kept in the base")
	f.StringVar(&o.base.skipRange, "skip-range", "", "`range` of versions that can be upgraded directly to this one, kept in the base")
	f.StringVar(&o.bundle.pkg, "package", "", "package `name` (default: the project name)")
	f.StringVar(&o.bundle.kustomizeDir, "kustomize-dir", defaultKustomizeDir, "`directory` with the kustomization of the bundle and the base CSV")
	f.StringVar(&o.bundle.outputDir, "output-dir", "", "`directory` to write the bundle to (default: bundle)")
	f.StringSliceVar(&o.bundle.accounts, "extra-service-accounts", nil, "service `accounts` without a Deployment whose permissions the CSV includes")
	f.StringSliceVar(&o.bundle.existingRoles, "existing-roles", nil, "existing `roles` in clusters that the operator's service accounts are bound to")
	f.BoolVar(&o.bundle.digests, "use-image-digests", false, "refer to images by digest; without network the digests are read from "+imagesFile)
	o.bundle.registryOptions.addTo(f)
	f.BoolVar(&o.check, "check", false, "write nothing; exit with 1 and print a diff if the bundle is stale (for CI)")
	f.BoolVar(&o.bundle.strict, "strict", false, "fail if part of the input would be left out of the bundle")
	f.BoolVar(&o.base.interactive, "interactive", false, "ask for all descriptions; =false asks for none (default: ask at a terminal if there is no base)")
	f.StringVar(&o.base.prefer, "prefer", "", "side that wins where both the base and the code changed")
	completeValues(c, "prefer", string(base.InBase), string(base.InCode))
	o.base.describe.addTo(f)
	c.AddCommand(newBundleValidate(a))
	return c
}

func (a *app) runBundle(c *cobra.Command, o allOptions) error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	root, err := project.FindRoot(a.FS, dir)
	if err != nil {
		return err
	}
	if o.check {
		err = worktree.Unfinished(a.FS, root)
	} else if done, settled := a.settle(c.Context(), root); done || settled != nil {
		return settled
	}
	if err != nil {
		return err
	}
	tree := worktree.NewTree(a.FS, root)
	config, err := readProject(tree)
	if err != nil {
		return err
	}
	given := o
	early := *a
	early.quiet = true // the resolution below prints the warnings
	if err := early.resolveBundle(c, tree, dir, config, &o); err != nil {
		return err
	}
	metadata, err := a.describeBundle(c, tree, config, o)
	if err != nil {
		return err
	}
	var record []byte
	var up *bundle.Updated
	change := func(tree *worktree.Tree) (err error) {
		// Another command may have changed the project before this one took the lock.
		if config, err = readProject(tree); err != nil {
			return err
		}
		o = given
		if err = a.resolveBundle(c, tree, dir, config, &o); err != nil {
			return err
		}
		record, up, err = a.makeBundle(c.Context(), tree, dir, config, o, metadata)
		return err
	}
	if o.check {
		result, err := a.at(root).Preview(change)
		return a.checked(result, err, fmt.Sprintf("run '%s bundle' with the same flags but --check, and commit what it changes", a.program))
	}
	if err = a.applyGenerated(c.Context(), root, change); err == nil && !a.dryRun {
		a.rememberBase(root, o.base, record)
		a.writeBundleRecord(root, o.bundle.outputDir, up.Created, up.Generated)
	}
	return err
}

// describeBundle gathers what is to be said about the operator. It asks a person only: what is piped into a
// bundle is not meant as an answer.
func (a *app) describeBundle(c *cobra.Command, tree *worktree.Tree, config *project.Config, o allOptions) (base.Metadata, error) {
	if o.base.interactive || a.InTerminal && !o.check {
		return a.describe(c, tree, config, o.base)
	}
	content, err := readOptional(tree, o.base.basePath(o.base.inputDir))
	if err != nil {
		return base.Metadata{}, err
	}
	metadata, err := a.metadata(o.base.describe)
	if err == nil && metadata.DisplayName == "" && (content == nil || isScaffolded(config, o.base.packageName, content)) {
		a.notef("note: nobody has described the operator yet; call '%s' at a terminal, or see '%[1]s --help' for flags that say it", c.CommandPath())
	}
	return metadata, err
}

// makeBundle takes all steps in a tree.
func (a *app) makeBundle(ctx context.Context, tree *worktree.Tree, dir string, config *project.Config, o allOptions, metadata base.Metadata) (record []byte, up *bundle.Updated, err error) {
	if isGo(config) {
		if err := a.generate(ctx, tree, codegen.All); err != nil {
			return nil, nil, err
		}
	}
	if record, err = a.generateBase(ctx, tree, o.base, metadata); err != nil {
		return nil, nil, err
	}
	if o.bundle.image != "" {
		if err := setImage(ctx, tree, o.bundle.image); err != nil {
			return nil, nil, err
		}
	}
	layout := strings.Join(config.Layout(), ",")
	made, err := a.bundleManifests(ctx, tree, dir, layout, &o.bundle)
	if err != nil {
		return nil, nil, err
	}
	if up, err = a.writeBundle(tree, made, layout, &o.bundle); err != nil {
		return nil, nil, err
	}
	if err := a.tellNotes(up.Notes, false); err != nil {
		return nil, nil, err
	}
	return record, up, a.validateMade(ctx, tree, o.bundle)
}

// validateMade refuses a bundle that OLM would not install, and tells what else is wrong with it.
func (a *app) validateMade(ctx context.Context, tree *worktree.Tree, o bundleOptions) error {
	names, err := tree.Walk(o.outputDir, nil)
	if err != nil {
		return fmt.Errorf("reading the bundle: %w", err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = tree.ReadFile(name); err != nil {
			return fmt.Errorf("reading the bundle: %w", err)
		}
	}
	findings, err := a.findings(ctx, tree.Root(), files, o)
	if err != nil {
		return err
	}
	var faults []error
	for _, f := range findings {
		switch {
		case f.Level == validate.Error:
			faults = append(faults, errors.New(f.String()))
		case f.Level != validate.Warning || !a.annotate("warning", f.String()):
			a.progressf("%s", f)
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("the bundle would not be valid, nothing was written:\n%w", errors.Join(faults...))
	}
	return nil
}

// findings validates the files of a bundle, or returns the findings of an earlier run of this build in the same files.
func (a *app) findings(ctx context.Context, root string, files map[string][]byte, o bundleOptions) ([]validate.Finding, error) {
	key := fmt.Sprintf("%q %q %t", a.Build, o.outputDir, o.strict)
	bundled := afero.NewMemMapFs()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		key += fmt.Sprintf(" %q %x", name, sha256.Sum256(files[name]))
		if err := afero.WriteFile(bundled, strings.TrimPrefix(name, o.outputDir+"/"), files[name], 0o644); err != nil {
			return nil, fmt.Errorf("reading the bundle: %w", err)
		}
	}
	if a.Build != "" {
		var found []validate.Finding
		if json.Unmarshal(a.recall(root, findingsRecord, key), &found) == nil {
			return found, nil
		}
	}
	result, err := validate.Bundle(ctx, validate.Source{FS: afero.NewIOFS(bundled), Name: o.outputDir}, validate.Options{Strict: o.strict})
	if err != nil {
		return nil, err
	}
	if data, err := json.Marshal(result.Findings); err == nil && a.Build != "" {
		a.remember(root, findingsRecord, key, data)
	}
	return result.Findings, nil
}

// The folder of the manager's kustomization, and the image that stands for its own there.
const (
	managerDir   = "config/manager"
	managerImage = "controller"
)

// setImage names the manager's image, as kustomize edit set image does in make bundle.
func setImage(ctx context.Context, tree *worktree.Tree, ref string) error {
	name, content, err := manifest.SetImage(ctx, tree.Root(), managerDir, managerImage, ref, tree.Edits())
	if err != nil {
		return fmt.Errorf("--image: %w", err)
	}
	tree.WriteFile(name, content, 0o644)
	return nil
}
