package action

import (
	"context"
	"slices"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Kinds does what depends on the layout with the kinds of a project. Together with layout.Facts it is all that commands know about a
// layout.
type Kinds interface {
	// AddKind validates the options of create api or init, and returns the new kind. It changes nothing.
	AddKind(ctx context.Context, p *Project, config *project.Config, o CreateAPIOptions) (Addition, error)
	// RemoveKind removes a kind from the tree and from PROJECT. What the user has edited is removed only with Force.
	RemoveKind(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config, r project.Resource, o DeleteAPIOptions) error
	// Generate updates the generated files in the tree. For Go, PROJECT can be nil: generate works in directories without one.
	Generate(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config, what codegen.Generators) error
	// Rename makes the changes between two versions of PROJECT, which have the same resources in the same order, including generated
	// files. It returns where old names remain.
	Rename(ctx context.Context, p *Project, tree *worktree.Tree, before, after *project.Config) (*refactor.Remaining, error)
	// Describe describes the kinds for the base of a bundle. dir is the directory of Go types.
	Describe(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config, dir string) ([]base.Kind, []codegen.API, error)
}

// An Addition is a new kind, which is not in the project yet.
type Addition interface {
	// Apply writes the files of the kind into the tree, and generates.
	Apply(ctx context.Context, p *Project, tree *worktree.Tree, config *project.Config) error
	// AddSteps adds the next steps of the user.
	AddSteps(p *Project, result *Result)
}

// A Layout is a layout with its kinds.
type Layout struct {
	*layout.Facts
	Kinds
}

// FactsOf returns the facts of those layouts that layout.All does not contain.
func FactsOf(layouts []Layout) []*layout.Facts {
	var facts []*layout.Facts
	for _, l := range layouts {
		if !slices.Contains(layout.All(), l.Facts) {
			facts = append(facts, l.Facts)
		}
	}
	return facts
}

// KindsOf returns what a layout, which is one of Layouts or an older one of Go, does with kinds.
func (c *Config) KindsOf(facts *layout.Facts) Kinds {
	if facts.Older {
		facts = layout.Go()
	}
	return c.Layouts[slices.IndexFunc(c.Layouts, func(l Layout) bool { return l.Facts == facts })].Kinds
}
