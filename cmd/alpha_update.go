package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/upgrade"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/vcs"
)

func newAlphaUpdate(a *app) *cobra.Command {
	var o upgrade.BranchOptions
	c := &cobra.Command{
		Use:   "update",
		Short: "Upgrade the project on a new git branch",
		Long: fmt.Sprintf(`Create a git branch, run '%[1]s upgrade' on it, and commit the result. The flags are kubebuilder's,
but files are merged as by upgrade: by field, statement and rule instead of by line, without
intermediate branches. To upgrade a project without git, or to commit yourself, use upgrade.

The working tree must be clean. Conflicts stay staged on the branch for you to resolve; --force
commits them with their markers. If there is nothing to upgrade, the branch is removed.

git doesn't run hooks, and the command stops if the clone's configuration could make git run other
programs. --open-gh-issue runs gh, GitHub's command-line tool.`, a.program),
		Example: fmt.Sprintf(`  # Upgrade what is checked out, on the branch operon-upgrade-VERSION:
  %[1]s alpha update

  # In a job: upgrade main without workflows, push the branch, open an issue:
  %[1]s alpha update --from-branch main --force --restore-path .github/workflows --push --open-gh-issue

  # Another name of the branch:
  %[1]s alpha update --output-branch upgrade`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.runAlphaUpdate(c.Context(), o)
		},
	}
	f := c.Flags()
	a.addOffline(f)
	a.addAllowRemote(f)
	a.addOutput(c, output.Text, output.JSON)
	f.StringVar(&o.From, "from-version", "", "`release` that scaffolded the project, such as v4.6.0 (default: detected)")
	f.StringVar(&o.To, "to-version", "", "target `version` of Operon; must be this binary's version")
	f.StringVar(&o.FromBranch, "from-branch", "", "`branch` to upgrade (default: what is checked out)")
	f.StringVar(&o.OutputBranch, "output-branch", "", "new `branch` with the result (default: operon-upgrade-VERSION)")
	f.BoolVar(&o.CommitConflicts, "force", false, "commit conflicts, with their markers")
	f.StringVar(&o.Message, "merge-message", "", "`message` of the commit (default: names the version)")
	f.StringVar(&o.ConflictMessage, "conflict-message", "", "`message` of a commit with conflicts (default: names the version)")
	f.StringArrayVar(&o.RestorePaths, "restore-path", nil, "`path` that the upgrade does not change, such as .github/workflows; repeatable")
	f.BoolVar(&o.Push, "push", false, "push the branch to origin")
	f.BoolVar(&o.OpenIssue, "open-gh-issue", false, "create an issue with a link to the changes; requires gh, and --push")
	refuseRetired(c, old.OfUpdate())
	completeValues(c, "from-version", "kubebuilder-4.15", "kubebuilder-3.15", "operator-sdk-1.42")
	completeValues(c, "to-version", buildVersion().Version)
	return c
}

// runAlphaUpdate upgrades the project on a branch, or with --dry-run prints what the upgrade of the checked-out files would change.
func (a *app) runAlphaUpdate(ctx context.Context, o upgrade.BranchOptions) error {
	return a.runInProject(ctx, func(p *action.Project) (*action.Result, error) { return a.updateOnBranch(ctx, p, o) })
}

func (a *app) updateOnBranch(ctx context.Context, p *action.Project, o upgrade.BranchOptions) (*action.Result, error) {
	if a.dryRun {
		if o.FromBranch != "" {
			return nil, diag.Findings{{Field: "--from-branch", Value: o.FromBranch, Problem: "is not supported with --dry-run, which checks out nothing; check the branch out, and leave the flag out"}}
		}
		return nameFlags(upgrade.Run(ctx, p, o.Options))
	}
	o.Git = &vcs.Git{Getenv: a.Getenv, Run: func(ctx context.Context, variables []string, name string, args ...string) (string, error) {
		return a.Output(ctx, Command{Dir: p.Root, Environ: slices.Concat(a.Environ, variables), Name: name, Args: args})
	}}
	return nameFlags(upgrade.Branch(ctx, p, o))
}

// nameFlags names the flags of upgrade in findings as alpha update does.
func nameFlags(result *action.Result, err error) (*action.Result, error) {
	if findings, ok := errors.AsType[diag.Findings](err); ok {
		for i, f := range findings {
			if f.Field == "--from" || f.Field == "--to" {
				findings[i].Field += "-version"
			}
		}
	}
	return result, err
}
