package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// RequireModules adds the module of an external API to go.mod and marks direct requirements. It returns the step that is left
// to the user, if any, also with an error. If fetch is false, a version of the module is added only if it is given.
func (p *Project) RequireModules(ctx context.Context, tree *worktree.Tree, r project.Resource, module string, fetch bool) (next string, err error) {
	path, version, exact := strings.Cut(module, "@")
	if exact {
		if err := scaffold.AddRequirement(tree, path, version); err != nil {
			return "", err
		}
	}
	unresolved, err := scaffold.UpdateRequirements(tree)
	if err != nil {
		return "", err
	}
	if module != "" || len(unresolved) > 0 {
		next = fmt.Sprintf("'go get %s'", strings.TrimSpace(strings.Join(append(slices.Clone(unresolved), module), " ")))
	}
	missing := r.External && slices.Contains(unresolved, r.Path)
	if !fetch || module == "" && !missing {
		return next, nil
	}
	if missing {
		if err := p.Go.Get(ctx, tree, cmp.Or(module, r.Path)); err != nil {
			return next, err
		}
	}
	if err := p.Go.Tidy(ctx, tree); err != nil {
		return next, err
	}
	return "", nil
}

// Vendor updates the vendor directory of a project that has one to go.mod and the imports.
func (p *Project) Vendor(ctx context.Context, tree *worktree.Tree) error {
	stale, err := scaffold.VendorStale(tree)
	if err != nil || !stale {
		return err
	}
	p.Reportf(diag.Progress, "updating the vendor directory")
	return p.Go.Vendor(ctx, tree)
}
