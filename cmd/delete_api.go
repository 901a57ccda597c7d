package cmd

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// deleteOptions are the flags of delete api.
type deleteOptions struct {
	group, version, kind string
	// controller is --controller-name: then nothing else of the API goes.
	controller string
	// make asks for generated code and manifests.
	force, make bool
}

func newDeleteAPI(a *app) *cobra.Command {
	var o deleteOptions
	c := &cobra.Command{
		Use:   "api",
		Short: "Delete an API: types, controllers and manifests",
		Long: `Delete an API: its types, controllers, webhooks and tests, CRD, roles and sample, what create api
and create webhook inserted into the manager, suites and kustomizations, and its entry in PROJECT.

If files were edited after create api wrote them, they are listed and nothing is deleted; --force
deletes them too. An API that other code of the project uses is kept, and the uses are listed. A
version that others convert to and from is kept until delete webhook removes the conversion. Objects
in a cluster are not deleted.`,
		Example: fmt.Sprintf(`  # An API with its controllers:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached

  # One of several controllers of a kind:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached --controller-name memcached-backup

  # Show what would be deleted, including edited files:
  %[1]s delete api --group cache --version v1alpha1 --kind Memcached --force --dry-run`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runDeleteAPI(c, o) },
	}
	f := c.Flags()
	a.addOffline(f)
	a.addOutput(c, textOutput, jsonOutput)
	f.StringVar(&o.group, "group", "", "`group` of the API, without the project's domain")
	f.StringVar(&o.version, "version", "", "`version` of the API, such as v1alpha1")
	f.StringVar(&o.kind, "kind", "", "`kind` of the resource, such as Memcached")
	f.StringVar(&o.controller, "controller-name", "", "delete only the controller of this `name`")
	f.BoolVar(&o.force, "force", false, "delete edited files too")
	f.BoolVar(&o.make, "make", true, "generate code and manifests afterwards")
	return c
}

func (a *app) runDeleteAPI(c *cobra.Command, o deleteOptions) error {
	root, config, done, err := a.beginWith(c.Context(), loadOlderProject)
	if done || err != nil {
		return err
	}
	if _, err := o.resolve(config, a.program); err != nil {
		return err
	}
	err = a.apply(c.Context(), root, func(tree *worktree.Tree) error { return a.deleteAPI(c.Context(), tree, o) })
	if err != nil || a.dryRun {
		return err
	}
	a.deletedNext(o.make)
	return nil
}

// resolve finds the resource that the flags name.
func (o deleteOptions) resolve(config *project.Config, program string) (project.Resource, error) {
	r, err := findResource(config, o.group, o.version, o.kind)
	if err != nil {
		return r, err
	}
	var findings project.Findings
	if o.controller != "" && !slices.Contains(r.Controllers, o.controller) {
		problem := "the project has no controller for the kind"
		if r.HasController() {
			problem = "is no controller of the kind; it has " + strings.Join(r.Controllers, ", ")
		}
		findings = append(findings, project.Finding{Field: "--controller-name", Value: o.controller, Problem: problem})
	}
	if o.controller == "" {
		findings = append(findings, convertedWith(config, r, program)...)
	}
	return r, findings.Err()
}

// convertedWith finds the conversion that a version is part of, as the hub or as a spoke.
func convertedWith(config *project.Config, r project.Resource, program string) project.Findings {
	hub, problem := r, ""
	if r.Webhooks != nil && r.Webhooks.Conversion {
		problem = fmt.Sprintf("is the hub that %s converts to and from", strings.Join(r.Webhooks.Spoke, ", "))
	}
	if of, ok := hubOf(config, r); ok {
		hub, problem = of, fmt.Sprintf("converts to and from the hub %s", of.Version)
	}
	if problem == "" {
		return nil
	}
	command := fmt.Sprintf("%s delete webhook --group %s --version %s --kind %s --conversion", program, hub.Group, hub.Version, hub.Kind)
	if hub.Version != r.Version && len(hub.Webhooks.Spoke) > 1 {
		command += " --spoke " + r.Version
	}
	return project.Findings{{Field: "--version", Value: r.Version, Problem: problem + "; take that away first: " + command}}
}

// deleteAPI takes the API out of the tree.
func (a *app) deleteAPI(ctx context.Context, tree *worktree.Tree, o deleteOptions) error {
	return a.delete(ctx, tree, func(config *project.Config, header string) (removal, error) {
		r, err := o.resolve(config, a.program)
		if err != nil {
			return removal{}, err
		}
		going, left := r, r
		left.Controllers, left.API, left.Webhooks = nil, nil, nil
		// What stays may still stem from the command that made both.
		undone := a.recordedData(config, r, header)
		if o.controller != "" {
			going.API, going.Webhooks, going.Controllers = nil, nil, []string{o.controller}
			left = r
			left.Controllers = slices.DeleteFunc(slices.Clone(r.Controllers), func(name string) bool { return name == o.controller })
			undone = slices.DeleteFunc(undone, func(data scaffold.Data) bool { return !data.Resource.Controller || !serves(data, going) })
		}
		return removal{
			what: "the API", going: going, left: left, force: o.force, make: o.make, undone: undone,
			clean: func(staying []project.Resource) error {
				return a.dropGenerated(ctx, tree, config, going, staying, o.make, header)
			},
		}, nil
	})
}

// serves tells whether data is of a controller of r.
func serves(data scaffold.Data, r project.Resource) bool {
	return slices.Contains(r.Controllers, data.Resource.ControllerName)
}

// dropGenerated takes generated files away that nothing makes any more, and the marker of the stored
// version that a second version of the kind brought.
func (a *app) dropGenerated(ctx context.Context, tree *worktree.Tree, config *project.Config, going project.Resource, staying []project.Resource, make bool, header string) error {
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
	if !controllers && make {
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
		dirs, err := crdDirs(tree)
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			remove(tree, definition(dir, nameOf(going)))
		}
	}
	dir := strings.TrimPrefix(going.Path, config.Repo()+"/")
	if !samePackage && !tree.Exists(path.Join(dir, "groupversion_info.go")) {
		remove(tree, path.Join(dir, "zz_generated.deepcopy.go"))
	}
	if err := scaffold.DisableApply(tree, dir); err != nil {
		return err
	}
	if make || !samePackage {
		if err := scaffold.DropApply(tree, dir); err != nil {
			return err
		}
	}
	if make && samePackage { // other types may have apply configurations, too
		if err := a.generate(ctx, tree, codegen.ApplyConfiguration); err != nil {
			return err
		}
	}
	slices.Sort(versions)
	return scaffold.RemoveStorageMarker(tree, going.Kind, versions)
}

func remove(tree *worktree.Tree, name string) {
	if tree.Exists(name) {
		tree.Remove(name)
	}
}
