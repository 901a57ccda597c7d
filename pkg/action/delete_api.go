package action

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// DeleteAPIOptions are the options of DeleteAPI.
type DeleteAPIOptions struct {
	Group, Version, Kind string
	// ControllerName, if not empty, is the controller to delete; the rest of the API is kept.
	ControllerName string
	// Findings are problems of the options that the caller has found.
	Findings diag.Findings
	// Force deletes edited files, too.
	Force bool
	// Generate generates code and manifests afterwards.
	Generate bool
}

// DeleteAPI deletes an API with its types, controllers and manifests, or a kind with its chart.
func (p *Project) DeleteAPI(ctx context.Context, o DeleteAPIOptions) (*Result, error) {
	var config *project.Config
	var removed project.Resource
	result, err := p.Update(ctx, func(tree *worktree.Tree) (err error) {
		if config, err = p.Load(ScaffoldedLayouts); err != nil {
			return err
		}
		if removed, err = o.resolve(config, p.Program); err != nil {
			return err
		}
		if err := checkPaths(tree, config, func(r project.Resource) bool { return r.GVK == removed.GVK }); err != nil {
			return err
		}
		return p.kinds(config.Facts()).RemoveKind(ctx, p, tree, config, removed, o)
	})
	if err != nil {
		return nil, err
	}
	if o.Generate || removed.Path == "" {
		result.nextf("review what changed, then '%s'", config.Facts().Check)
	} else {
		result.nextf("'%s generate' for the code and manifests that --make=false left as they are", p.Program)
	}
	return result, nil
}

// deletionOf describes what delete api removes for a kind of Go projects.
func (p *Project) deletionOf(ctx context.Context, tree *worktree.Tree, config *project.Config, header string, r project.Resource, o DeleteAPIOptions) deletion {
	removed, kept := r, r
	kept.Controllers, kept.API, kept.Webhooks = nil, nil, nil
	// What is kept may result from the command that created both.
	undone := p.recordedData(config, r, header)
	if o.ControllerName != "" {
		removed.API, removed.Webhooks, removed.Controllers = nil, nil, []string{o.ControllerName}
		kept = r
		kept.Controllers = slices.DeleteFunc(slices.Clone(r.Controllers), func(name string) bool { return name == o.ControllerName })
		undone = slices.DeleteFunc(undone, func(data scaffold.Data) bool {
			return !data.Resource.Controller || data.Resource.ControllerName != o.ControllerName
		})
	}
	return deletion{
		subject: "the API", removed: removed, kept: kept, force: o.Force, generate: o.Generate, undone: undone,
		clean: func(remaining []project.Resource) error {
			return p.removeGenerated(ctx, tree, config, removed, remaining, o.Generate, header)
		},
	}
}

// resolve returns the resource that the options name.
func (o DeleteAPIOptions) resolve(config *project.Config, program string) (project.Resource, error) {
	r, err := findResource(config, o.Group, o.Version, o.Kind)
	if findings, ok := err.(diag.Findings); ok || len(o.Findings) > 0 {
		return r, slices.Concat(o.Findings, findings).Err()
	}
	switch {
	case err != nil || o.ControllerName == "":
		if err == nil {
			err = checkNotConverted(config, r, program).Err()
		}
		return r, err
	case config.IsChart(r):
		return r, diag.Findings{{Field: "--controller-name", Value: o.ControllerName, Problem: "a kind with a chart has no controllers in Go"}}
	case !slices.Contains(r.Controllers, o.ControllerName):
		problem := "the project has no controller for the kind"
		if r.HasController() {
			problem = "is not a controller of the kind; it has " + strings.Join(r.Controllers, ", ")
		}
		return r, diag.Findings{{Field: "--controller-name", Value: o.ControllerName, Problem: problem}}
	}
	return r, nil
}

// checkNotConverted returns a finding if a version is the hub or a spoke of a conversion.
func checkNotConverted(config *project.Config, r project.Resource, program string) diag.Findings {
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
	return diag.Findings{{Field: "--version", Value: r.Version, Problem: problem + "; delete that first: " + command}}
}

// removeGenerated removes files that are no longer generated, and the marker of the stored version if only one version of the
// kind remains.
func (p *Project) removeGenerated(
	ctx context.Context, tree *worktree.Tree, config *project.Config, removed project.Resource, remaining []project.Resource, generate bool, header string,
) error {
	controllers := false
	var versions []string
	samePackage := false
	for _, other := range remaining {
		controllers = controllers || other.HasController()
		if !other.HasAPI() || other.QualifiedGroup() != removed.QualifiedGroup() {
			continue
		}
		samePackage = samePackage || other.Path == removed.Path
		if other.Kind == removed.Kind {
			versions = append(versions, path.Join(strings.TrimPrefix(other.Path, config.Repo()+"/"), other.FileStem()+"_types.go"))
		}
	}
	if !controllers && generate {
		role, err := scaffold.InitialFile(project.RoleFile, p.projectData(config, header))
		if err != nil {
			return err
		}
		if tree.Exists(project.RoleFile) {
			tree.WriteFile(project.RoleFile, role, 0o644)
		}
	}
	if !removed.HasAPI() {
		return nil
	}
	if len(versions) == 0 {
		dirs, err := crdDirs(tree)
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			tree.RemoveIfExists(path.Join(dir, removed.CRDFile()))
		}
	}
	dir := strings.TrimPrefix(removed.Path, config.Repo()+"/")
	if !samePackage && !tree.Exists(path.Join(dir, "groupversion_info.go")) {
		tree.RemoveIfExists(path.Join(dir, "zz_generated.deepcopy.go"))
	}
	if err := scaffold.DisableApply(tree, dir); err != nil {
		return err
	}
	if generate || !samePackage {
		if err := scaffold.DropApply(tree, dir); err != nil {
			return err
		}
	}
	if generate && samePackage { // other types may have apply configurations, too
		if err := p.GenerateIn(ctx, tree, codegen.ApplyConfiguration); err != nil {
			return err
		}
	}
	slices.Sort(versions)
	return scaffold.RemoveStorageMarker(tree, removed.Kind, versions)
}
