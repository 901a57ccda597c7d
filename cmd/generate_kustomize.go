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
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// manifestsDir is where the kustomization of a bundle lives.
const manifestsDir = "config/manifests"

// kustomizeOptions are the flags of generate kustomize manifests.
type kustomizeOptions struct {
	apisDir, inputDir, outputDir, packageName string
	interactive                               bool
	prefer                                    string
	describe                                  describeOptions
	// replaces and skipRange are flags of bundle.
	replaces, skipRange string
}

func newGenerateKustomize(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "kustomize",
		Short:   "Generate what kustomize builds a bundle from",
		Long:    "Generate the base that kustomize builds a bundle from.",
		Example: fmt.Sprintf("  %s generate kustomize manifests", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	c.AddCommand(newGenerateKustomizeManifests(a))
	return c
}

func newGenerateKustomizeManifests(a *app) *cobra.Command {
	var o kustomizeOptions
	c := &cobra.Command{
		Use:   "manifests",
		Short: "Generate the base of the ClusterServiceVersion and its kustomization.yaml",
		Long: `Generate the base of the operator's ClusterServiceVersion: what people say about the operator,
and what the markers +operator-sdk:csv:customresourcedefinitions in the API types tell about
its kinds. What was changed in the base by hand stays as it is. A kustomization.yaml is added
where there is none.

Where there is no base yet, or nobody has changed the one that the project came with, the
texts that flags leave open are asked for, at a terminal or line by line from a pipe.`,
		Example: fmt.Sprintf(`  # Asks for what catalogs show of the operator, once:
  %[1]s generate kustomize manifests

  # Asks for nothing, as in CI:
  %[1]s generate kustomize manifests --interactive=false

  # Says it all by flags, or by a file:
  %[1]s generate kustomize manifests --display-name "Memcached Operator" \
    --description "Runs memcached." --provider-name Example --provider-url https://example.com \
    --keywords memcached,cache --maintainers "Ana:ana@example.com"
  %[1]s generate kustomize manifests --metadata-file operator.yaml`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runGenerateKustomize(c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.apisDir, "apis-dir", "api", "`folder` of the API types")
	f.StringVar(&o.inputDir, "input-dir", manifestsDir, "`folder` that holds the base as it is, in bases")
	f.StringVar(&o.outputDir, "output-dir", manifestsDir, "`folder` to write to")
	f.StringVar(&o.packageName, "package", "", "`name` of the operator's package (default the project's)")
	f.BoolVar(&o.interactive, "interactive", false, "ask for all texts, =false for none (default where there is no base)")
	f.StringVar(&o.prefer, "prefer", "", "the `side` that wins where both were changed: base or code")
	completeValues(c, "prefer", string(base.InBase), string(base.InCode))
	o.describe.addTo(f)
	return c
}

func (a *app) runGenerateKustomize(c *cobra.Command, o kustomizeOptions) error {
	root, err := a.projectRoot()
	if err != nil {
		return err
	}
	if done, err := a.settle(c.Context(), root); done || err != nil {
		return err
	}
	tree := scaffold.NewTree(a.FS, root)
	config, err := readProject(tree)
	if err != nil {
		return err
	}
	if err := a.resolveKustomize(c, root, config, &o); err != nil {
		return err
	}
	metadata, err := a.describe(c, tree, config, o)
	if err != nil {
		return err
	}
	silent := a
	if a.quiet && !a.dryRun { // make bundle prints its own steps
		env := *a.Env
		env.Out = io.Discard
		copied := *a
		copied.Env, silent = &env, &copied
	}
	var record []byte
	err = silent.apply(c.Context(), root, func(tree *scaffold.Tree) (err error) {
		record, err = a.generateBase(c.Context(), tree, o, metadata)
		return err
	})
	if err == nil && !a.dryRun {
		a.rememberBase(root, o, record)
	}
	return err
}

// readProject reads PROJECT, of any layout: there are bundles of all kinds of operators.
func readProject(tree *scaffold.Tree) (*project.Config, error) {
	data, err := tree.ReadFile(project.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.FileName, reason(err))
	}
	return project.Parse(data)
}

// resolveKustomize checks the flags and completes them. All folders come out relative to the root.
func (a *app) resolveKustomize(c *cobra.Command, root string, config *project.Config, o *kustomizeOptions) error {
	var findings project.Findings
	for _, dir := range []struct {
		flag  string
		value *string
	}{{"apis-dir", &o.apisDir}, {"input-dir", &o.inputDir}, {"output-dir", &o.outputDir}} {
		flag := c.Flags().Lookup(dir.flag)
		if *dir.value == "" {
			*dir.value = flag.DefValue // an empty variable in a script asks for nothing else
			continue
		}
		if !flag.Changed {
			continue
		}
		rel, problem := a.below(root, *dir.value)
		if problem == "" && flag.Name == "apis-dir" {
			if info, err := a.FS.Stat(filepath.Join(root, filepath.FromSlash(rel))); err == nil && !info.IsDir() {
				problem = "is no folder"
			}
		}
		if problem != "" {
			findings = append(findings, project.Finding{Field: "--" + dir.flag, Value: *dir.value, Problem: problem})
			continue
		}
		*dir.value = rel
	}
	return a.resolveBase(c, root, config, o, findings)
}

// resolveBase checks and completes what a base is made of, but for folders. It adds to the findings about these.
func (a *app) resolveBase(c *cobra.Command, root string, config *project.Config, o *kustomizeOptions, findings project.Findings) error {
	switch base.Side(o.prefer) {
	case base.Neither, base.InBase, base.InCode:
	default:
		findings = append(findings, project.Finding{Field: "--prefer", Value: o.prefer, Problem: "must be base or code"})
	}
	switch {
	case o.packageName != "":
		if strings.ContainsAny(o.packageName, `/\`) {
			findings = append(findings, project.Finding{Field: "--package", Value: o.packageName, Problem: "must be a name"})
		}
	case config.ProjectName() != "":
		o.packageName = config.ProjectName()
	default:
		name, found := project.ProjectNameFromDir(filepath.Base(root))
		for _, f := range found {
			f.Field, f.Problem = "--package", strings.ReplaceAll(f.Problem, "--project-name", "--package")
			findings = append(findings, f)
		}
		o.packageName = name
	}
	findings = append(findings, o.describe.check()...)
	if err := findings.Err(); err != nil {
		return err
	}
	if problems := validation.IsDNS1123Subdomain(o.packageName + ".v0.0.0"); len(problems) > 0 {
		a.progressf("warning: --package %q: Kubernetes will refuse a ClusterServiceVersion of that name: %s", o.packageName, problems[0])
	}
	return nil
}

// below is a folder that a flag names, relative to the project's root; it says what is wrong with it.
func (a *app) below(root, dir string) (rel, problem string) {
	abs := filepath.FromSlash(dir)
	if !filepath.IsAbs(abs) {
		work, err := a.workDir()
		if err != nil {
			return "", err.Error()
		}
		abs = filepath.Join(work, abs)
	}
	rel, err := filepath.Rel(root, abs)
	if dir == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", "must be a folder of the project"
	}
	return filepath.ToSlash(rel), ""
}

// basePath is the file of a base below a folder.
func (o kustomizeOptions) basePath(dir string) string {
	return path.Join(dir, "bases", o.packageName+".clusterserviceversion.yaml")
}

// generateBase brings the base in a tree up to date. It returns the record of what the code gave, for rememberBase
// once the tree is written.
func (a *app) generateBase(ctx context.Context, tree *scaffold.Tree, o kustomizeOptions, metadata base.Metadata) ([]byte, error) {
	config, err := readProject(tree)
	if err != nil {
		return nil, err
	}
	from := o.basePath(o.inputDir)
	options := base.Options{Package: o.packageName, Name: from, Metadata: metadata, Prefer: base.Side(o.prefer),
		Replaces: o.replaces, SkipRange: o.skipRange}
	if options.Base, err = readOptional(tree, from); err != nil {
		return nil, err
	}
	if options.Record, err = a.readBaseRecord(tree, o); err != nil {
		return nil, err
	}
	if isGo(config) {
		for _, r := range config.Resources() {
			options.Known = append(options.Known, base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind})
		}
		if options.Kinds, options.APIs, err = a.apis(ctx, tree, config, o.apisDir); err != nil {
			_, other := base.Make(options) // whatever is wrong with the base is said along
			return nil, errors.Join(err, other)
		}
	}
	result, err := base.Make(options)
	if err != nil {
		return nil, err
	}
	for _, note := range result.Notes {
		a.progressf("note: %s", note)
	}
	tree.WriteFile(o.basePath(o.outputDir), result.CSV, 0o644)
	writeBaseRecord(tree, o, result)
	return result.Record, a.kustomization(tree, o)
}

// readOptional reads a file of a tree, nil where there is none; one without content is empty, not nil.
func readOptional(tree *scaffold.Tree, name string) ([]byte, error) {
	data, err := tree.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, reason(err))
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

// isGo tells whether the operator is written in Go, by the first plugin of PROJECT that says so.
func isGo(config *project.Config) bool {
	for _, plugin := range config.Layout() {
		for _, language := range []string{"go", "helm", "ansible"} {
			if strings.HasPrefix(plugin, language) {
				return language == "go"
			}
		}
	}
	return false
}

// apis reads the types of the project's kinds.
func (a *app) apis(ctx context.Context, tree *scaffold.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error) {
	resources := config.Resources()
	if len(resources) == 0 {
		return nil, nil, nil
	}
	if !tree.Exists(dir) {
		a.progressf("warning: there is no folder %s, so the base says nothing about the project's kinds; --apis-dir names another", dir)
		return nil, nil, nil
	}
	apis, warnings, err := codegen.APIs(ctx, codegen.APIOptions{Root: tree.Root(), Overlay: overlay(tree), Dir: dir, Env: a.Environ})
	if err != nil {
		return nil, nil, err
	}
	for _, warning := range warnings {
		a.progressf("warning: %s", warning)
	}
	var kinds []base.Kind
	for _, r := range resources {
		kind := base.Kind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
		if slices.Contains(kinds, kind) {
			continue // two tools may have written the same kind
		}
		// The types of kinds that the project only has controllers for live elsewhere.
		if r.API != nil || slices.ContainsFunc(apis, func(api codegen.API) bool { return base.KindOf(api) == kind }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, apis, nil
}

// kustomization adds a kustomization.yaml for a base where there is none.
func (a *app) kustomization(tree *scaffold.Tree, o kustomizeOptions) error {
	name := path.Join(o.outputDir, "kustomization.yaml")
	there, err := readOptional(tree, name)
	if err != nil {
		return err
	}
	entry := "bases/" + o.packageName + ".clusterserviceversion.yaml"
	if there != nil {
		if !bytes.Contains(there, []byte(entry)) {
			a.progressf("note: %s does not list %s among its resources: add it for bundles of this package", name, entry)
		}
		return nil
	}
	text, err := scaffoldFile(manifestsDir+"/kustomization.yaml", scaffold.Project{Name: o.packageName})
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "- ../"); ok {
			target := path.Join("config", strings.TrimSpace(rest))
			if !tree.Exists(target) {
				continue // kustomize refuses folders that are not there
			}
			rel, err := filepath.Rel(filepath.FromSlash(o.outputDir), filepath.FromSlash(target))
			if err != nil {
				return err
			}
			line = "- " + filepath.ToSlash(rel) + "\n"
		}
		lines = append(lines, line)
	}
	tree.WriteFile(name, []byte(strings.Join(lines, "")), 0o644)
	return nil
}

// scaffoldFile is a file as init writes it.
func scaffoldFile(name string, p scaffold.Project) ([]byte, error) {
	rendered, err := scaffold.Render("init", scaffold.Data{Project: p})
	if err != nil {
		return nil, err
	}
	data, ok := rendered.Files[name]
	if !ok {
		return nil, fmt.Errorf("the scaffold has no %s", name)
	}
	return data, nil
}

// isScaffolded tells that a base is as init wrote it, so that nobody has described the operator yet.
func isScaffolded(config *project.Config, packageName string, content []byte) bool {
	if content == nil || packageName != config.ProjectName() {
		return false
	}
	want, err := scaffoldFile(kustomizeOptions{packageName: packageName}.basePath(manifestsDir),
		scaffold.Project{Name: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo(), Namespaced: config.Namespaced()})
	return err == nil && bytes.Equal(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), want)
}
