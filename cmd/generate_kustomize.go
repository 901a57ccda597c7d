package cmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
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
		Short:   "Generate the base of the bundle",
		Long:    "Generate the base that kustomize builds the bundle from.",
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
		Short: "Generate the base of the ClusterServiceVersion (CSV)",
		Long: `Generate the base of the operator's ClusterServiceVersion (CSV): the description of the operator for
catalogs, and the description of its kinds from the markers
+operator-sdk:csv:customresourcedefinitions in the API types. Manual changes of the base are kept. A
missing kustomization.yaml is added.

If there is no base yet, or the base is still the scaffold's, the command asks for the texts that
flags do not give, at a terminal or line by line from a pipe.`,
		Example: fmt.Sprintf(`  # Ask for the descriptions that catalogs show:
  %[1]s generate kustomize manifests

  # Ask for nothing, as in CI:
  %[1]s generate kustomize manifests --interactive=false

  # With flags, or a file:
  %[1]s generate kustomize manifests --display-name "Memcached Operator" --description "Runs memcached." --provider-name Example --provider-url https://example.com --keywords memcached,cache --maintainers "Ana:ana@example.com"
  %[1]s generate kustomize manifests --metadata-file operator.yaml`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runGenerateKustomize(c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.apisDir, "apis-dir", "api", "`directory` of the API types")
	f.StringVar(&o.inputDir, "input-dir", manifestsDir, "`directory` of the current base, in its directory bases")
	f.StringVar(&o.outputDir, "output-dir", manifestsDir, "`directory` to write to")
	f.StringVar(&o.packageName, "package", "", "package `name` (default: the project name)")
	f.BoolVar(&o.interactive, "interactive", false, "ask for all descriptions; =false asks for none (default: ask if there is no base)")
	f.StringVar(&o.prefer, "prefer", "", "side that wins where both the base and the code changed")
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
	tree := worktree.NewTree(a.FS, root)
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
	var record []byte
	err = a.applyAt(c.Context(), root, o.outputDir, func(tree *worktree.Tree) (err error) {
		record, err = a.generateBase(c.Context(), tree, o, metadata)
		return err
	})
	if err == nil && !a.dryRun {
		a.rememberBase(root, o, record)
	}
	return err
}

// resolveKustomize checks the flags and completes them. All folders come out relative to the root.
func (a *app) resolveKustomize(c *cobra.Command, root string, config *project.Config, o *kustomizeOptions) error {
	var findings diag.Findings
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
		if dir.flag == "output-dir" {
			rel, err := fromRoot(root, a.Dir, *dir.value)
			if err != nil {
				return err
			}
			*dir.value = rel
			continue
		}
		rel, problem := a.below(root, *dir.value)
		if problem == "" && flag.Name == "apis-dir" {
			if info, err := a.FS.Stat(filepath.Join(root, filepath.FromSlash(rel))); err == nil && !info.IsDir() {
				problem = "is no folder"
			}
		}
		if problem != "" {
			findings = append(findings, diag.Finding{Field: "--" + dir.flag, Value: *dir.value, Problem: problem})
			continue
		}
		*dir.value = rel
	}
	return a.resolveBase(c, root, config, o, findings)
}

// resolveBase checks and completes what a base is made of, but for folders. It adds to the findings about these.
func (a *app) resolveBase(c *cobra.Command, root string, config *project.Config, o *kustomizeOptions, findings diag.Findings) error {
	switch base.Side(o.prefer) {
	case base.Neither, base.InBase, base.InCode:
	default:
		findings = append(findings, diag.Finding{Field: "--prefer", Value: o.prefer, Problem: "must be base or code"})
	}
	switch {
	case o.packageName != "":
		if strings.ContainsAny(o.packageName, `/\`) {
			findings = append(findings, diag.Finding{Field: "--package", Value: o.packageName, Problem: "must be a name"})
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
		a.warnf("--package %q: Kubernetes will refuse a ClusterServiceVersion of that name: %s", o.packageName, problems[0])
	}
	return nil
}

// below is a folder that a flag names, relative to the project's root; it says what is wrong with it.
func (a *app) below(root, dir string) (rel, problem string) {
	rel, err := filepath.Rel(root, a.absolute(dir))
	if dir == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", "must be a folder of the project"
	}
	return filepath.ToSlash(rel), ""
}
