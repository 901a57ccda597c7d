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
	// Generate updates the generated files in the tree.
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

// A Layout is a layout that layout.All does not contain.
type Layout struct {
	*layout.Facts
	Kinds
}

// FactsOf returns the facts of layouts.
func FactsOf(layouts []Layout) []*layout.Facts {
	var facts []*layout.Facts
	for _, l := range layouts {
		facts = append(facts, l.Facts)
	}
	return facts
}

// kinds returns what a layout does with kinds.
func (c *Config) kinds(facts *layout.Facts) Kinds {
	if i := slices.IndexFunc(c.More, func(l Layout) bool { return l.Facts == facts }); i >= 0 {
		return c.More[i].Kinds
	}
	switch facts {
	case layout.Helm():
		return chartKinds{}
	case layout.Ansible():
		return ansibleKinds{}
	}
	return goKinds{}
}
