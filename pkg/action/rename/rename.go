package rename

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A renaming describes what a rename command changes.
type renaming struct {
	// check validates the new names for a project.
	check func(tree *worktree.Tree, config *project.Config) error
	// change sets the new names in PROJECT.
	change func(config *project.Config) error
	// inBundle reports whether bundles contain the names.
	inBundle bool
	// note describes what the command cannot change.
	note string
}

// API renames a kind, a group, a version or the domain.
func API(ctx context.Context, p *action.Project, o APIOptions) (*action.Result, error) {
	note := "objects in clusters do not change: save the ones with the old name, and create them again with the new name"
	if o.To.Group+o.To.Kind+o.To.Domain+o.Plural == "" {
		note = "a cluster whose CRD has the old version keeps objects in it; it takes the new CRD once they are stored in another version of both, or the old CRD is deleted with them"
	}
	return run(ctx, p, renaming{
		check: func(tree *worktree.Tree, config *project.Config) error {
			if err := action.CheckPaths(tree, config, func(r project.Resource) bool {
				return slices.Contains([]string{"", r.Group}, o.From.Group) && slices.Contains([]string{"", r.Version}, o.From.Version) &&
					slices.Contains([]string{"", r.Kind}, o.From.Kind)
			}); err != nil {
				return err
			}
			_, err := o.resolve(config)
			return err
		},
		change: func(config *project.Config) error {
			renamed, err := o.resolve(config)
			if err != nil {
				return err
			}
			return renamed.record(config)
		},
		inBundle: true,
		note:     note,
	})
}

// Project renames the project. Findings are about NAME.
func Project(ctx context.Context, p *action.Project, name string) (*action.Result, error) {
	return run(ctx, p, renaming{
		check: func(_ *worktree.Tree, config *project.Config) error {
			findings := project.CheckProjectName(name)
			for i := range findings {
				findings[i].Field = "NAME"
			}
			if name == config.ProjectName() {
				findings.Add("NAME", name, "is already the project's name")
			}
			return findings.Err()
		},
		change:   func(config *project.Config) error { return config.SetProjectName(name) },
		inBundle: true,
		note:     "deployed objects keep the old name and namespace; undeploy it with the old code before you deploy again",
	})
}

// Module changes the module path. Findings are about MODULE.
func Module(ctx context.Context, p *action.Project, path string) (*action.Result, error) {
	if err := p.Refuse(func(f *layout.Facts) string { return f.NoModule }); err != nil {
		return nil, err
	}
	return run(ctx, p, renaming{
		check:  func(tree *worktree.Tree, config *project.Config) error { return checkModule(tree, config, path) },
		change: func(config *project.Config) error { return config.SetRepo(path) },
		note:   "managers of before and after the change do not see each other's leader election; stop the old one before the new one starts",
	})
}

// checkModule validates a new module path for a project.
func checkModule(tree *worktree.Tree, config *project.Config, path string) error {
	findings := project.CheckRepo(path)
	for i := range findings {
		findings[i].Field = "MODULE"
	}
	_, mod, err := scaffold.ReadGoMod(tree)
	if err != nil {
		return err
	}
	add := func(problem string) {
		findings.Add("MODULE", path, problem)
	}
	if path == config.Repo() {
		add("is already the module path")
	}
	for _, r := range mod.Require {
		if r.Mod.Path == path {
			add("is a module that go.mod requires")
		}
	}
	return findings.Err()
}

// run runs a rename command.
func run(ctx context.Context, p *action.Project, r renaming) (*action.Result, error) {
	var config *project.Config
	var remaining *refactor.Remaining
	result, err := p.Update(ctx, func(tree *worktree.Tree) (err error) {
		if config, err = p.Load(action.EditableLayouts); err != nil {
			return err
		}
		if err := r.check(tree, config); err != nil {
			return err
		}
		remaining, err = applyRenaming(ctx, p, tree, config, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	result.Remaining = remaining
	result.Notes = append(result.Notes, "note: "+r.note)
	if r.inBundle && p.Files.Exists("bundle/manifests") {
		result.Notes = append(result.Notes, fmt.Sprintf("note: bundle/ still has the old names; '%s bundle' updates it", p.Program))
	}
	if chart, ok := config.OperatorChart(); ok && p.Files.Exists(chart.Dir()) {
		result.Notes = append(result.Notes, fmt.Sprintf("note: %s still has the old names; '%s generate chart' updates it", chart.Dir(), p.Program))
	}
	result.AddStepf("review what changed, then '%s'", strings.ReplaceAll(config.Facts().AfterRename, "%s", p.Program))
	return result, nil
}

// applyRenaming makes all changes in the tree, including generated files. It returns where old names remain.
func applyRenaming(ctx context.Context, p *action.Project, tree *worktree.Tree, before *project.Config, r renaming) (*refactor.Remaining, error) {
	after, err := before.Copy()
	if err != nil {
		return nil, err
	}
	if err := r.change(after); err != nil {
		return nil, err
	}
	return p.KindsOf(before.Facts()).Rename(ctx, p, tree, before, after)
}
