package cmd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/reshape"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// deleteOptions are the flags of delete api.
type deleteOptions struct {
	group, version, kind string
	// controller is --controller-name: then nothing else of the API goes.
	controller string
	force      bool
}

func newDeleteAPI(a *app) *cobra.Command {
	var o deleteOptions
	c := &cobra.Command{
		Use:   "api",
		Short: "Undo create api: types, controllers, manifests and what wires them",
		Long: `Take an API away: its types, controllers and tests, CRD, roles and sample, what create api
inserted into the manager, suites and kustomizations, and its entry in PROJECT.

What was edited since create api wrote it is listed, and nothing is deleted; --force deletes it
all the same. An API that other code of the project uses stays, and the places are named.
Objects in a cluster are not touched.`,
		Example: fmt.Sprintf(`  # An API with its controllers:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached

  # One of several controllers of a kind:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached --controller-name memcached-backup

  # See what would go, edited files included:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached --force --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runDeleteAPI(c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.version, "version", "", "`version` of the API, such as v1alpha1")
	f.StringVar(&o.kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.StringVar(&o.controller, "controller-name", "", "`name` of a controller, to delete that one only")
	f.BoolVar(&o.force, "force", false, "delete what was edited too")
	return c
}

func (a *app) runDeleteAPI(c *cobra.Command, o deleteOptions) error {
	root, config, done, err := a.begin(c.Context())
	if done || err != nil {
		return err
	}
	if _, err := o.resolve(config); err != nil {
		return err
	}
	err = a.apply(c.Context(), root, func(tree *scaffold.Tree) error { return a.deleteAPI(c.Context(), tree, o) })
	if err != nil || a.dryRun {
		return err
	}
	a.progressf("next: review what changed, then 'make test'")
	return nil
}

// resolve finds the resource that the flags name.
func (o deleteOptions) resolve(config *project.Config) (project.Resource, error) {
	var findings project.Findings
	for _, f := range []struct{ flag, value string }{{"--version", o.version}, {"--kind", o.kind}} {
		if f.value == "" {
			findings = append(findings, project.Finding{Field: f.flag, Problem: "is needed to name an API of the project"})
		}
	}
	if len(findings) > 0 {
		return project.Resource{}, findings
	}
	var names []string
	for _, r := range config.Resources() {
		if r.Group == o.group && r.Version == o.version && r.Kind == o.kind {
			return r, o.check(r)
		}
		names = append(names, r.String())
	}
	wanted := project.GVK{Group: o.group, Domain: config.Domain(), Version: o.version, Kind: o.kind}
	problem := fmt.Sprintf("the project has no API %s", wanted)
	if len(names) > 0 {
		problem += "; it has " + strings.Join(names, ", ")
	}
	return project.Resource{}, project.Findings{{Field: "--kind", Value: o.kind, Problem: problem}}
}

func (o deleteOptions) check(r project.Resource) error {
	var findings project.Findings
	if o.controller != "" && !slices.Contains(r.Controllers, o.controller) {
		problem := "the project has no controller for the kind"
		if r.HasController() {
			problem = "is no controller of the kind; it has " + strings.Join(r.Controllers, ", ")
		}
		findings = append(findings, project.Finding{Field: "--controller-name", Value: o.controller, Problem: problem})
	}
	if o.controller == "" && r.Webhooks != nil {
		findings = append(findings, project.Finding{Field: "--kind", Value: o.kind, Problem: "has webhooks; delete those first"})
	}
	return findings.Err()
}

// deleteAPI takes the API out of the tree.
func (a *app) deleteAPI(ctx context.Context, tree *scaffold.Tree, o deleteOptions) error {
	config, err := loadProject(tree)
	if err != nil {
		return err
	}
	r, err := o.resolve(config)
	if err != nil {
		return err
	}
	header, err := boilerplate(tree)
	if err != nil {
		return err
	}
	going := r
	staying := config.Resources()
	staying = slices.DeleteFunc(staying, func(other project.Resource) bool { return other.GVK == r.GVK })
	left := r
	left.Controllers, left.API = nil, nil
	if o.controller != "" {
		going.API, going.Controllers = nil, []string{o.controller}
		left = r
		left.Controllers = slices.DeleteFunc(slices.Clone(r.Controllers), func(name string) bool { return name == o.controller })
	}
	whole := !left.HasAPI() && !left.HasController() && left.Webhooks == nil
	if !whole {
		staying = append(staying, left)
	}
	d := scaffold.Deletion{Force: o.force}
	// What stays may still stem from the command that made both.
	d.Going = a.recordedData(config, r, header)
	if o.controller != "" {
		d.Going = slices.DeleteFunc(d.Going, func(data scaffold.Data) bool { return !data.Resource.Controller || !serves(data, going) })
	}
	for _, other := range staying {
		d.Staying = append(d.Staying, a.recordedData(config, other, header)...)
	}
	before, err := reshape.Snapshot(tree)
	if err != nil {
		return err
	}
	if err := scaffold.DeleteAPI(tree, d); err != nil {
		return err
	}
	if err := a.dropGenerated(tree, config, going, staying, header); err != nil {
		return err
	}
	if whole {
		err = config.RemoveResource(r.GVK)
	} else {
		err = config.UpdateResource(left)
	}
	if err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return err
	}
	if err := a.checkUnused(ctx, tree, before); err != nil {
		return err
	}
	err = a.generate(ctx, tree, codegen.All, offline)
	if errors.Is(err, codegen.ErrModulesMissing) {
		a.progressf("warning: code and manifests are not generated again, the module cache lacks what that needs; run 'go mod download', then '%s generate'", a.program)
		return nil
	}
	return err
}

// serves tells whether data is of a controller of r.
func serves(data scaffold.Data, r project.Resource) bool {
	return slices.Contains(r.Controllers, data.Resource.ControllerName)
}

// dropGenerated takes generated files away that nothing makes any more, and the marker of the stored
// version that a second version of the kind brought.
func (a *app) dropGenerated(tree *scaffold.Tree, config *project.Config, going project.Resource, staying []project.Resource, header string) error {
	controllers := false
	var versions []string
	samePackage := false
	for _, other := range staying {
		controllers = controllers || other.HasController()
		if !other.HasAPI() || other.QualifiedGroup() != going.QualifiedGroup() {
			continue
		}
		samePackage = samePackage || other.Path == going.Path
		if other.Kind == going.Kind {
			versions = append(versions, path.Join(strings.TrimPrefix(other.Path, config.Repo()+"/"), other.FileStem()+"_types.go"))
		}
	}
	if !controllers {
		role, err := scaffold.InitialFile("config/rbac/role.yaml", a.projectData(config, header))
		if err != nil {
			return err
		}
		if tree.Exists("config/rbac/role.yaml") {
			tree.WriteFile("config/rbac/role.yaml", role, 0o644)
		}
	}
	if !going.HasAPI() {
		return nil
	}
	if len(versions) == 0 {
		remove(tree, fmt.Sprintf("config/crd/bases/%s_%s.yaml", going.QualifiedGroup(), going.Plural))
	}
	dir := strings.TrimPrefix(going.Path, config.Repo()+"/")
	if !samePackage && !tree.Exists(path.Join(dir, "groupversion_info.go")) {
		remove(tree, path.Join(dir, "zz_generated.deepcopy.go"))
	}
	slices.Sort(versions)
	return scaffold.ForgetStorage(tree, going.Kind, versions)
}

func remove(tree *scaffold.Tree, name string) {
	if tree.Exists(name) {
		tree.Remove(name)
	}
}

// checkUnused refuses a deletion after which code that compiled does not any more.
func (a *app) checkUnused(ctx context.Context, tree *scaffold.Tree, before *reshape.Code) error {
	broken, err := reshape.Broken(ctx, tree, before, a.Environ)
	if errors.Is(err, codegen.ErrModulesMissing) {
		return nil // what uses the API says so when it is compiled
	}
	if err != nil || len(broken) == 0 {
		return err
	}
	return fmt.Errorf("other code of the project uses the API, nothing was deleted:\n%w\nchange it first", broken)
}
