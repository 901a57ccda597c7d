package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/help"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newDocs(a *app) *cobra.Command {
	return a.commandGroup("docs", "Open the documentation, or write it to files", "  %s docs open webhooks",
		newDocsOpen(a), newDocsSite(a),
		&cobra.Command{
			Use:   "man DIR",
			Short: "Write manual pages",
			Long: `Write a manual page for each command and help topic to DIR. Other files in DIR are kept, and it is
an error if a file that this command didn't write has the name of a page. The pages carry the date
from SOURCE_DATE_EPOCH, or no date.`,
			Example: fmt.Sprintf(`  %[1]s docs man ~/.local/share/man/man1
  man %[1]s-create-api`, a.program),
			Args: oneArgument("the directory to write to"),
			RunE: func(c *cobra.Command, args []string) error { return a.writeManPages(c, args[0]) },
		},
	)
}

// manMark is the first line of the manual pages, by which they are recognized later.
func manMark(program string) string { return `.\" Written by '` + program + " docs man'.\n" }

func (a *app) writeManPages(c *cobra.Command, dir string) error {
	at, given, err := a.SourceDate()
	if err != nil {
		return err
	}
	date := ""
	if given {
		date = at.Format(time.DateOnly)
	}
	return a.print.Outcome(a.updateDirectory(c.Context(), a.Absolute(dir), func(tree *worktree.Tree, below string) error {
		var problems []error
		for _, page := range help.Documented(c.Root()) {
			name := path.Join(below, help.ManName(page)+".1")
			old, err := tree.ReadOptional(name)
			if err != nil {
				return err
			}
			if old != nil && !bytes.HasPrefix(old, []byte(manMark(a.program))) {
				problems = append(problems, diag.Finding{
					Position: diag.Position{File: path.Join(filepath.ToSlash(dir), path.Base(name))},
					Problem:  "not written by '" + c.CommandPath() + "'", Fix: "remove it or pass another directory",
				})
				continue
			}
			tree.WriteFile(name, []byte(manMark(a.program)+help.ManPage(page, buildVersion().Version, date)), 0o644)
		}
		return errors.Join(problems...)
	}))
}

// updateDirectory lets change edit the files of a directory, an absolute path, which is below the root of the tree.
func (a *app) updateDirectory(ctx context.Context, dir string, change func(tree *worktree.Tree, below string) error) (result *action.Result, err error) {
	dir = filepath.Clean(dir)
	root := bundles.NearestDirectory(a.FS, dir)
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	err = a.runAt(ctx, a.actions(), root, func(p *action.Project) (err error) {
		result, err = p.Update(ctx, func(tree *worktree.Tree) error { return change(tree, filepath.ToSlash(below)) })
		return err
	})
	return result, err
}
