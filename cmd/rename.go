package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/reshape"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

func newRename(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "rename",
		Short: "Give an API, the project or its module another name",
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
	check func(tree *scaffold.Tree, config *project.Config) error
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
	if err := r.check(scaffold.NewTree(a.FS, root), config); err != nil {
		return err
	}
	var left []string
	err = a.apply(c.Context(), root, func(tree *scaffold.Tree) error {
		left, err = a.rename(c.Context(), tree, r)
		return err
	})
	if err != nil {
		return err
	}
	if made := scaffold.NewTree(a.FS, root); r.bundled && made.Exists("bundle/manifests") {
		r.notes = append(r.notes, fmt.Sprintf("bundle/ is as the old names made it; '%s bundle' makes it anew", a.program))
	}
	a.tellRenamed(left, r.notes)
	return nil
}

// tellRenamed says what is left to a person.
func (a *app) tellRenamed(left, notes []string) {
	const most = 20
	if len(left) > 0 {
		more := ""
		if len(left) > most && !a.verbose {
			more = fmt.Sprintf("\n  and %d more; --verbose lists all", len(left)-most)
			left = left[:most]
		}
		a.progressf("these still say an old name, which may be meant; see for yourself:\n  %s%s", strings.Join(left, "\n  "), more)
	}
	for _, note := range notes {
		a.progressf("note: %s", note)
	}
	if !a.dryRun {
		a.progressf("next: review what changed, then 'make test'")
	}
}

// rename carries a renaming out in the tree. It returns the places that still say an old name.
func (a *app) rename(ctx context.Context, tree *scaffold.Tree, r renaming) ([]string, error) {
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
	left, err := reshape.Rename(ctx, tree, plan, reshape.Options{Go: a.goTool(), Header: header, Program: a.program})
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
	return left, nil
}
