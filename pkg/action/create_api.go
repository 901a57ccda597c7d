package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// RunOptions select what create api writes for a kind of an Ansible project.
type RunOptions struct {
	// Role and Playbook write a role and a playbook, which runs the role if there are both.
	Role, Playbook bool
}

// CreateAPIOptions are the options of CreateAPI.
type CreateAPIOptions struct {
	project.ResourceOptions
	// Chart is the chart of a kind whose objects are releases of one.
	Chart ChartOptions
	// Run selects what is written for a kind of an Ansible project.
	Run RunOptions
	// Findings are problems of the options that the caller has found.
	Findings diag.Findings
	// Domain is the new domain of a project without APIs, or empty to keep it.
	Domain string
	// Image is the image that the controller deploys, or empty.
	Image   project.Image
	Plugins project.Plugins
	// SSA generates apply configurations of the types, which the controller uses.
	SSA bool
	// From is the version of the kind that a new version begins with a copy of, project.NoVersion to begin with the scaffold, or empty for
	// the newest other version of the kind, if there is one.
	From string
	// Generate generates code and, with Manifests, manifests afterwards.
	Generate, Manifests bool
}

// CreateAPI adds the types of an API, its manifests and a controller, a kind with a chart, or a kind with a role or playbook.
func (p *Project) CreateAPI(ctx context.Context, o CreateAPIOptions) (*Result, error) {
	var addition Addition
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		config, err := p.Load(ScaffoldedLayouts)
		if err != nil {
			return err
		}
		if addition, err = p.KindsOf(config.Facts()).AddKind(ctx, p, config, o); err != nil {
			return err
		}
		before := hasEmptyGroup(config)
		if err := addition.Apply(ctx, p, tree, config); err != nil {
			return err
		}
		if !before && hasEmptyGroup(config) {
			p.Reportf(diag.Note, "note: --group is empty: the API group is the domain, %s; with --group GROUP, it is GROUP.%[1]s", config.Domain())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	addition.AddSteps(p, result)
	return result, nil
}

// hasEmptyGroup reports whether the project has an API whose group is only the domain.
func hasEmptyGroup(config *project.Config) bool {
	return slices.ContainsFunc(config.Resources(), func(r project.Resource) bool { return config.Owns(r) && r.Group == "" })
}

// ReportKept reports the existing files that a scaffold did not change.
func (p *Project) ReportKept(report *scaffold.Report) {
	if len(report.Kept) > 0 {
		p.Reportf(diag.Note, "kept as they are: %s", strings.Join(report.Kept, ", "))
	}
	for _, note := range report.Notes {
		p.Reportf(diag.Warning, "%s", note)
	}
}

// HasChart reports whether the options describe a kind with a chart, which can be missing.
func (o CreateAPIOptions) HasChart() bool {
	return o.Chart != (ChartOptions{}) || o.Plugins.WithoutGo() && o.Plugins.Layout.Charts
}

// DeploysImage reports whether the controller deploys an image, which can be missing.
func (o CreateAPIOptions) DeploysImage() bool {
	return o.Image.Ref != "" || o.Plugins.DeployImage
}

// Check validates the options for a project.
func (o CreateAPIOptions) Check(config *project.Config) error {
	_, err := o.Resolve(config)
	return err
}

// copied returns the version that the types of a new version begin with, if any.
func (o CreateAPIOptions) copied(config *project.Config, gvk project.GVK) (project.Resource, bool) {
	old, _ := config.Resource(gvk)
	if !o.API || o.DeploysImage() || o.From == "" && old.HasAPI() {
		return project.Resource{}, false
	}
	for _, other := range config.OtherVersions(gvk) {
		if o.From == other.Version || o.From == "" && (other.API.SSA || !o.SSA) {
			return other, true
		}
	}
	return project.Resource{}, false
}

// Source returns the version that the types of a new version begin with, or nothing.
func (o CreateAPIOptions) Source(config *project.Config, r project.Resource) scaffold.Source {
	other, _ := o.copied(config, r.GVK)
	return scaffold.Source{Version: other.Version, Package: other.Path}
}

// checkFrom returns the problems of From.
func (o CreateAPIOptions) checkFrom(config *project.Config, gvk project.GVK) diag.Findings {
	var findings diag.Findings
	if o.From == "" || o.From == project.NoVersion {
		return nil
	}
	var versions []string
	others := config.OtherVersions(gvk)
	for _, other := range others {
		versions = append(versions, other.Version)
	}
	at := slices.Index(versions, o.From)
	switch {
	case !o.API:
		findings.Add("--from", o.From, "requires types; leave out --resource=false or --from")
	case o.DeploysImage():
		findings.Add("--from", o.From, "cannot be combined with --image, whose controller needs its own types; leave out one of them")
	case len(others) == 0:
		findings.Add("--from", o.From, fmt.Sprintf("%s has no other version in the project; leave out --from", gvk.Kind))
	case at < 0:
		findings.Add("--from", o.From, fmt.Sprintf("must be a version of %s (%s) or %s", gvk.Kind, strings.Join(versions, ", "), project.NoVersion))
	case o.SSA && !others[at].API.SSA:
		findings.Add("--from", o.From, "this version has no apply configurations; leave out --ssa or --from")
	}
	return findings
}

// Resolve validates the options and returns the resource that they describe.
func (o CreateAPIOptions) Resolve(config *project.Config) (project.Resource, error) {
	resource, others := project.ResolveResource(config, o.ResourceOptions)
	findings := slices.Concat(o.Findings, o.Plugins.CheckKinds(), others)
	if recorded, ok := config.Resource(resource.GVK); ok && config.IsChart(recorded) {
		findings = diag.Findings{{Field: "--kind", Value: o.Kind, Problem: fmt.Sprintf("the objects of %s are releases of a chart; "+
			"add code to %s, or delete the API and create it again", recorded.GVK, project.ChartsFile)}}
	}
	findings = append(findings, o.checkFrom(config, resource.GVK)...)
	if source, ok := o.copied(config, resource.GVK); resource.API != nil && (o.SSA || ok && source.API.SSA) {
		resource.API.SSA = true
	}
	if o.SSA && !o.API {
		findings.Add("--ssa", "true", "requires types; leave out --resource=false or --ssa")
	}
	if o.DeploysImage() {
		if !o.API {
			findings.Add("--image", o.Image.Ref, "requires types; leave out --resource=false or --image")
		}
		if !o.Controller {
			findings.Add("--image", o.Image.Ref, "requires a controller; leave out --controller=false")
		}
		findings = append(findings, project.CheckImage("--image", o.Image.Ref)...)
		findings = append(findings, project.CheckPort(o.Image.Port)...)
		findings = append(findings, project.CheckRunAsUser(o.Image.RunAsUser)...)
	} else if o.Image != (project.Image{}) {
		findings.Add("--image", "", "is required with the other flags of the container")
	}
	return resource, findings.Err()
}

// Generators returns the generators that run afterwards.
func (o CreateAPIOptions) Generators() codegen.Generators {
	switch {
	case !o.Generate:
		return 0
	case !o.Manifests && o.SSA:
		return codegen.Object | codegen.ApplyConfiguration // the controller does not compile without
	case !o.Manifests:
		return codegen.Object
	}
	return codegen.All
}

// ChartOptions select the chart of a kind.
type ChartOptions struct {
	// Source is where the chart is from: a directory, an archive, a URL, an oci:// reference, or a name in Repo or in a repository
	// of the user. Empty means a new chart with Helm's starter as its content.
	Source string
	// Repo is the URL of a repository, or empty.
	Repo string
	// Version is a version or a constraint; empty means the newest release.
	Version string
	// OpenSchema allows any values in the CRD, not only the chart's own.
	OpenSchema bool
	// RelatedImages takes the images of the chart from environment variables of the manager.
	RelatedImages bool
	// FullSample sets all default values of the chart in the sample.
	FullSample bool
}
