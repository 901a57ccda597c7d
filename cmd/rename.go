package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newRename(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "rename",
		Short: "Rename an API, the project or its module",
		Example: fmt.Sprintf(`  %[1]s rename api --group cache --kind Memcached --to-kind Cachet
  %[1]s rename project cachet-operator
  %[1]s rename repo github.com/example/cachet-operator`, a.program),
		Args: noArgs,
		RunE: showHelp,
	}
	c.AddCommand(newRenameAPI(a), newRenameProject(a), newRenameRepo(a))
	return c
}

// renaming is what one of the rename commands does.
type renaming struct {
	// check finds what is wrong with the names, for a project.
	check func(tree *worktree.Tree, config *project.Config) error
	// change gives PROJECT the new names.
	change func(config *project.Config) error
	// bundled tells that bundles hold the names.
	bundled bool
	// notes say what a renaming in files cannot reach.
	notes []string
}

func (a *app) runRename(c *cobra.Command, r renaming) error {
	root, config, done, err := a.begin(c.Context())
	if done || err != nil {
		return err
	}
	if err := r.check(worktree.NewTree(a.FS, root), config); err != nil {
		return err
	}
	var remaining *refactor.Remaining
	err = a.apply(c.Context(), root, func(tree *worktree.Tree) error {
		remaining, err = a.rename(c.Context(), tree, r)
		return err
	})
	if err != nil {
		return err
	}
	if made := worktree.NewTree(a.FS, root); r.bundled && made.Exists("bundle/manifests") {
		r.notes = append(r.notes, fmt.Sprintf("bundle/ is as the old names made it; '%s bundle' makes it anew", a.program))
	}
	a.printRemaining(remaining, r.notes)
	return nil
}

// printRemaining prints where old names remain, and what else is left to the user.
func (a *app) printRemaining(remaining *refactor.Remaining, notes []string) {
	list := func(what string, places []string) {
		const most = 20
		if len(places) == 0 {
			return
		}
		more := ""
		if len(places) > most && !a.verbose {
			more = fmt.Sprintf("\n  and %d more; --verbose lists all", len(places)-most)
			places = places[:most]
		}
		a.notef("%s:\n  %s%s", what, strings.Join(places, "\n  "), more)
	}
	list("these still say an old name, which may be meant; see for yourself", remaining.Places)
	list("note: released bundles and catalogs keep the old names, under which they are installed; new releases have the new ones", remaining.Released)
	for _, note := range notes {
		a.notef("note: %s", note)
	}
	if !a.dryRun {
		a.nextf("review what changed, then 'make test'")
	}
}

// rename carries a renaming out in the tree. It returns where old names remain.
func (a *app) rename(ctx context.Context, tree *worktree.Tree, r renaming) (*refactor.Remaining, error) {
	old, err := loadProject(tree)
	if err != nil {
		return nil, err
	}
	if err := r.check(tree, old); err != nil {
		return nil, err
	}
	header, err := a.boilerplate(tree)
	if err != nil {
		return nil, err
	}
	now, err := old.Copy()
	if err != nil {
		return nil, err
	}
	if err := r.change(now); err != nil {
		return nil, err
	}
	dirs, err := crdDirs(tree)
	if err != nil {
		return nil, err
	}
	plan, err := a.planRename(tree, old, now, header, dirs)
	if err != nil {
		return nil, err
	}
	var definitions [][2]string
	for _, api := range plan.APIs {
		for _, dir := range dirs {
			if was, is := definition(dir, api[0]), definition(dir, api[1]); tree.Exists(was) {
				definitions = append(definitions, [2]string{api[1].Kind, is})
			}
		}
	}
	remaining, err := refactor.Rename(ctx, tree, plan, refactor.Options{Go: a.goTool(), Header: header, Program: a.program})
	if err != nil {
		return nil, err
	}
	tree.WriteFile(project.FileName, now.Bytes(), 0o644)
	if err := a.generate(ctx, tree, codegen.All); err != nil {
		return nil, err
	}
	for _, d := range definitions {
		if !tree.Exists(d[1]) {
			return nil, &scaffold.ContentError{Err: fmt.Errorf(
				"nothing was changed: the markers on type %s do not lead to %s; give it the plural of that by +kubebuilder:resource:path, or name its plural with --to-plural", d[0], d[1])}
		}
	}
	return remaining, nil
}
