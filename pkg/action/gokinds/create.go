package gokinds

import (
	"context"
	"errors"
	"fmt"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A creation describes what a create command adds.
type creation struct {
	layouts action.Layouts
	// resolve validates the options and returns the resource that they describe.
	resolve func(*project.Config) (project.Resource, error)
	// write scaffolds for the resource and records data that PROJECT has outside of its resources.
	write func(tree *worktree.Tree, config *project.Config, r project.Resource, header string) (written, error)
	// domain is the new domain of a project without APIs, or empty.
	domain string
	// types reports whether write adds types of Go.
	types bool
	// module is the module of the types of an external API, or empty.
	module string
	// generate are the generators that run afterwards.
	generate codegen.Generators
}

// written describes what a create command wrote.
type written struct {
	// next is what the user does next, before generating code and manifests again; empty for nothing.
	next string
	// report reports notes and warnings. It is called after all checks.
	report func()
}

// create runs a create command.
func create(ctx context.Context, p *action.Project, c creation) (*action.Result, error) {
	var next string
	result, err := p.Update(ctx, func(tree *worktree.Tree) error {
		config, err := p.Load(c.layouts)
		if err != nil {
			return err
		}
		resource, err := c.resource(tree, config)
		if err != nil {
			return err
		}
		next, _, err = applyCreation(ctx, p, tree, config, resource, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	if next != "" {
		result.AddStepf("%s", next)
	}
	return result, nil
}

// resource validates what a create command adds to a project, and returns its resource.
func (c creation) resource(tree *worktree.Tree, config *project.Config) (project.Resource, error) {
	if c.domain != "" {
		other, err := config.Copy()
		if err == nil {
			err = other.SetDomain(c.domain)
		}
		if err != nil {
			return project.Resource{}, err
		}
		config = other
	}
	resource, err := c.resolve(config)
	if err != nil {
		return resource, err
	}
	return resource, action.CheckPaths(tree, config, func(r project.Resource) bool {
		return r.QualifiedGroup() == resource.QualifiedGroup() && r.Version == resource.Version
	})
}

// applyCreation scaffolds for a resource, records it in PROJECT and updates go.mod and generated files. It returns the next
// step of the user, or "", and whether code and manifests are generated.
func applyCreation(
	ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, resource project.Resource, c creation,
) (next string, generated bool, err error) {
	if c.domain != "" {
		if config, err = p.SetDomain(tree, config, c.domain); err != nil {
			return "", false, err
		}
	}
	header, _, err := p.Header(tree)
	if err != nil {
		return "", false, err
	}
	result, err := c.write(tree, config, resource, header)
	if err != nil {
		return "", false, err
	}
	if err := config.UpdateResource(resource); err != nil {
		return "", false, err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	vendored := tree.Exists(scaffold.VendorList)
	next, err = p.RequireModules(ctx, tree, resource, c.module, c.generate != 0 || vendored)
	if err == nil {
		err = p.Vendor(ctx, tree)
	}
	if err == nil && c.generate != 0 {
		if err = p.GenerateIn(ctx, tree, c.generate); err == nil && c.types && c.generate&codegen.Object != 0 {
			err = checkRuntimeObject(tree, config, resource)
		}
	}
	missing, ok := errors.AsType[*gotool.MissingError](err)
	// Without modules, the vendor directory would not match go.mod.
	forbidden := ok && missing.Forbidden != "" && !vendored
	if err != nil && !forbidden {
		return "", false, err
	}
	p.ReportFindings(diag.Warning, config.CheckModule()...)
	result.report()
	generated = c.generate != 0 && !forbidden
	generate := fmt.Sprintf("'%s generate'", p.Program)
	switch {
	case forbidden:
		p.Reportf(diag.Warning, "code and manifests are not generated: %s, and %s forbids downloading them", missing.Problem(), missing.Forbidden)
		generate += " without " + missing.Forbidden
	case c.generate == 0 && next == "":
		generate += " for the code and manifests that --make=false left out"
	case next == "":
		if next = result.next; next == "" {
			return "", true, nil
		}
	}
	if next == "" {
		return generate, generated, nil
	}
	return next + ", then " + generate, generated, nil
}
