package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// EditOptions are the options of Edit. Nil fields change nothing.
type EditOptions struct {
	// Multigroup selects the layout with one directory per group.
	Multigroup *bool
	// Namespaced makes the manager watch one namespace.
	Namespaced *bool
	// License, LicenseFile and Owner select the header of Go files, as in LicenseOptions.
	License, LicenseFile, Owner *string
	Plugins                     project.Plugins
	// IDE adds configurations that debug the operator in an IDE, one of scaffold.IDEs.
	IDE string
	// Chart generates the Helm chart that installs the operator, or is nil.
	Chart ChartGenerator
	// Certificates changes where webhooks get their certificate, or is nil.
	Certificates func(context.Context, *worktree.Tree, *project.Config) error
	// Force leaves edited lines that Namespaced would change to the user, and overwrites configurations of the IDE.
	Force bool
	// Findings are problems of the options that the caller has found.
	Findings diag.Findings
	// NoVerify moves code with Multigroup without compiling it.
	NoVerify bool
}

func (o EditOptions) changesHeader() bool {
	return o.License != nil || o.LicenseFile != nil || o.Owner != nil
}

// IsEmpty reports whether the options change nothing.
func (o EditOptions) IsEmpty() bool {
	return o.onlyPlugins() && o.IDE == "" && len(o.Plugins.Optional()) == 0 && o.Chart == nil && o.Certificates == nil
}

// onlyPlugins reports whether the options change nothing but the plugins.
func (o EditOptions) onlyPlugins() bool {
	return o.Multigroup == nil && o.Namespaced == nil && !o.changesHeader()
}

// Edit changes the layout, the scope or the license header of the project.
func (p *Project) Edit(ctx context.Context, o EditOptions) (*Result, error) {
	var config *project.Config
	var notes []string
	result, err := p.Update(ctx, func(tree *worktree.Tree) (err error) {
		if config, err = p.Load(EditableLayouts); err != nil {
			return err
		}
		if err := p.checkEdit(config, o).Err(); err != nil {
			return err
		}
		if o.Multigroup != nil {
			if err := CheckPaths(tree, config, func(project.Resource) bool { return true }); err != nil {
				return err
			}
		}
		if notes, err = p.applyEdit(ctx, tree, config, o); err != nil {
			return err
		}
		if o.Certificates != nil {
			if err := o.Certificates(ctx, tree, config); err != nil {
				return err
			}
		}
		if o.IDE != "" {
			if err := scaffold.AddIDE(tree, o.IDE, p.ProjectData(config, ""), o.Force); err != nil {
				return err
			}
		}
		if o.Chart != nil {
			return o.Chart.Apply(ctx, tree, config)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		result.Notes = append(result.Notes, "to be changed by hand: "+note)
	}
	if len(result.Changes) == 0 {
		result.Unchanged = "the project already has these settings; nothing was changed"
		if o.Chart != nil {
			return result, o.Chart.Describe(result)
		}
		return result, nil
	}
	if o.IDE != "" {
		result.AddStepf("'%s run local --debug' or '%[1]s run local --no-manager', then choose a configuration in your IDE", p.Program)
	}
	if !o.onlyPlugins() || o.Certificates != nil {
		result.AddStepf("review what changed, then '%s'", config.Facts().Check)
	}
	p.addPluginSteps(result, o.Plugins)
	if o.Chart != nil {
		return result, o.Chart.Describe(result)
	}
	return result, nil
}

// checkEdit validates the options.
func (p *Project) checkEdit(config *project.Config, o EditOptions) diag.Findings {
	findings := append(o.Plugins.CheckProject(), o.Findings...)
	if o.Plugins.Layout != nil && o.Plugins.Layout.Name != config.Facts().Name {
		findings.Add("--plugins", o.Plugins.String(), "is not the layout of the project, "+strings.Join(config.Layout(), ","))
	}
	if o.changesHeader() {
		license := LicenseOptions{License: "apache2", File: deref(o.LicenseFile), Owner: deref(o.Owner)} // apache2 is valid
		if o.License != nil {
			license.License = *o.License
		}
		findings = append(findings, license.check(&p.Config)...)
	}
	if o.Namespaced != nil && *o.Namespaced {
		for _, r := range config.Resources() {
			if r.HasAPI() && !r.API.Namespaced {
				findings = append(findings, diag.Finding{Field: "--namespaced", Value: "true",
					Problem: fmt.Sprintf("kind %s of %s/%s is cluster-scoped, and Roles of one namespace do not reach it", r.Kind, r.QualifiedGroup(), r.Version)})
			}
		}
	}
	if o.NoVerify && o.Multigroup == nil {
		findings.Add("--no-verify", "true", "is only valid with --multigroup")
	}
	return findings
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// applyEdit makes all changes in the tree, including generated files. It returns the changes that are left to the user.
func (p *Project) applyEdit(ctx context.Context, tree *worktree.Tree, config *project.Config, o EditOptions) ([]string, error) {
	if err := p.AddPlugins(tree, config, o.Plugins); err != nil {
		return nil, err
	}
	if o.onlyPlugins() {
		tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
		return nil, nil
	}
	if config.Facts().NoModule != "" {
		return nil, p.editWithoutCode(ctx, tree, config, o)
	}
	header, headerFile, err := p.Header(tree)
	if err != nil {
		return nil, err
	}
	var notes []string
	if o.Namespaced != nil {
		notes, err = p.setScope(ctx, tree, config, header, o)
		if err != nil {
			return nil, err
		}
	}
	if o.Multigroup != nil {
		options := refactor.MultigroupOptions{
			Multi: *o.Multigroup, Init: p.ProjectData(config, header), Types: p.Types(), NoVerify: o.NoVerify,
		}
		if err := refactor.SetMultigroup(ctx, tree, config, options); err != nil {
			return nil, err
		}
		for _, r := range config.Resources() {
			if !r.HasAPI() {
				continue
			}
			if err := scaffold.MoveApply(tree, config.Repo(), strings.TrimPrefix(r.Path, config.Repo()+"/")); err != nil {
				return nil, err
			}
		}
	}
	if o.changesHeader() {
		if headerFile == "" {
			headerFile = project.HeaderFile
		}
		if err := p.replaceHeader(tree, headerFile, o); err != nil {
			return nil, err
		}
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return nil, err
	}
	if changes, err := tree.Changes(); err != nil || len(changes) == 0 {
		return notes, err
	}
	if err := p.Vendor(ctx, tree); err != nil {
		return nil, err
	}
	return notes, p.GenerateIn(ctx, tree, codegen.All)
}

// editWithoutCode applies the options that a project without Go code has to its tree.
func (p *Project) editWithoutCode(ctx context.Context, tree *worktree.Tree, config *project.Config, o EditOptions) error {
	options := refactor.MultigroupOptions{Multi: *o.Multigroup, Init: p.ProjectData(config, ""), NoVerify: true}
	if err := refactor.SetMultigroup(ctx, tree, config, options); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	return nil
}

// replaceHeader replaces the license header in the header file and in Go files.
func (p *Project) replaceHeader(tree *worktree.Tree, file string, o EditOptions) error {
	data, err := tree.ReadOptional(file)
	if err != nil {
		return err
	}
	current := normalizeHeader(data) // with YEAR
	next, err := p.newHeader(current, o)
	if err != nil {
		return err
	}
	return refactor.ReplaceHeader(tree, file, current, next, p.Year)
}

// newHeader returns the header that the options select, with missing values taken from the current header.
func (p *Project) newHeader(current string, o EditOptions) (string, error) {
	if deref(o.LicenseFile) != "" {
		return p.readHeader(*o.LicenseFile)
	}
	notice := refactor.Copyright(current)
	license := deref(o.License)
	if o.License == nil {
		for _, name := range []string{"apache2", "mit", "copyright", "none"} {
			text, err := scaffold.LicenseHeader(name, notice)
			if err != nil {
				return "", err
			}
			if strings.TrimSpace(text) == current {
				license = name
			}
		}
		if license == "none" {
			license = "copyright"
		}
		if license == "" {
			return "", diag.Findings{{Field: "--owner", Value: deref(o.Owner), Problem: "requires --license, as the current header is not one that init writes"}}
		}
	}
	if o.Owner != nil {
		var year string
		if strings.Contains(current, " YEAR") {
			year = "YEAR"
		}
		notice = copyright(*o.Owner, year)
	}
	return scaffold.LicenseHeader(license, notice)
}

// setScope makes the manager watch one namespace or all of them. Places to change by hand are an error, unless Force leaves
// them to the user.
func (p *Project) setScope(
	ctx context.Context, tree *worktree.Tree, config *project.Config, header string, o EditOptions,
) ([]string, error) {
	before, err := gosource.ReadModule(tree)
	if err != nil {
		return nil, err
	}
	edited, err := refactor.SetScope(tree, before, config, *o.Namespaced, p.Recorded(config, header))
	if err != nil {
		return nil, err
	}
	broken, err := refactor.NewErrors(ctx, tree, before, p.Types())
	if err != nil {
		return nil, err
	}
	if len(broken) > 0 && len(edited) == 0 {
		return nil, &diag.Group{Heading: "with the scaffold's changes merged in, code that was edited would not compile, nothing was written:", Err: broken}
	}
	if len(edited) > 0 && !o.Force {
		return nil, diag.List("these places were edited and cannot be changed for you, nothing was written:", edited,
			"change them by hand afterwards: --force does all the rest")
	}
	var notes []string
	for _, f := range slices.Concat(edited, broken) {
		notes = append(notes, f.Error())
	}
	return notes, nil
}
