package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ReportLost reports the places edited by the user that were deleted.
func (p *Project) ReportLost(places diag.Findings) {
	var texts []string
	for _, place := range places {
		texts = append(texts, place.Error())
	}
	if len(texts) > 0 {
		p.Reportf(diag.Warning, "deleted with their edits: %s", strings.Join(texts, ", "))
	}
}

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
		if err := CheckPaths(tree, config, func(r project.Resource) bool { return r.GVK == removed.GVK }); err != nil {
			return err
		}
		return p.KindsOf(config.Facts()).RemoveKind(ctx, p, tree, config, removed, o)
	})
	if err != nil {
		return nil, err
	}
	if o.Generate || removed.Path == "" {
		result.AddStepf("review what changed, then '%s'", config.Facts().Check)
	} else {
		result.AddStepf("'%s generate' for the code and manifests that --make=false left as they are", p.Program)
	}
	return result, nil
}

// resolve returns the resource that the options name.
func (o DeleteAPIOptions) resolve(config *project.Config, program string) (project.Resource, error) {
	r, err := FindResource(config, o.Group, o.Version, o.Kind)
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
	if of, ok := HubOf(config, r); ok {
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
