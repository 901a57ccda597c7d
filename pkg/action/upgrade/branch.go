package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/vcs"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// BranchOptions are the options of Branch.
type BranchOptions struct {
	Options
	// Git runs git in the root of the project.
	Git *vcs.Git
	// FromBranch is the branch to upgrade; empty means what is checked out.
	FromBranch string
	// OutputBranch is the new branch; empty means one named after the target version.
	OutputBranch string
	// CommitConflicts commits files with conflict markers, and upgrades that leave other problems.
	CommitConflicts bool
	// Message and ConflictMessage are the commit's messages without and with conflicts; empty means the default.
	Message, ConflictMessage string
	// RestorePaths are files and directories that the upgrade does not change.
	RestorePaths []string
	// Push pushes the branch to origin. OpenIssue creates an issue on GitHub that links to it.
	Push, OpenIssue bool
}

// A branchUpgrade is a run of Branch.
type branchUpgrade struct {
	*action.Project
	BranchOptions
	// current is the branch that is checked out, or empty, and start the commit to return to.
	current, start string
}

// Branch makes a branch, upgrades the project on it, and commits the result. The work tree must be clean. If the upgrade changes
// nothing or fails, the branch is removed again.
func Branch(ctx context.Context, p *action.Project, o BranchOptions) (*action.Result, error) {
	u := &branchUpgrade{Project: p, BranchOptions: o}
	u.OutputBranch = cmp.Or(o.OutputBranch, "operon-upgrade-"+p.Version)
	if err := u.prepare(ctx); err != nil {
		return nil, err
	}
	from := cmp.Or(u.current, u.start)
	if o.FromBranch != "" {
		from = "refs/heads/" + o.FromBranch
	}
	if _, err := u.Git.Output(ctx, "switch", "--quiet", "--no-track", "--create", u.OutputBranch, from); err != nil {
		return nil, err
	}
	p.Reread()
	result, failed := Run(ctx, p, o.Options)
	if result == nil {
		return nil, errors.Join(failed, u.leave(ctx))
	}
	staged, err := u.stage(ctx, result)
	switch {
	case err != nil:
		return result, errors.Join(failed, err)
	case !staged && failed == nil:
		result.Unchanged, result.NextSteps = "the project is up to date, nothing was committed", nil
		return result, u.leave(ctx)
	case failed != nil && !o.CommitConflicts:
		return result, diag.Advise(failed, fmt.Sprintf("the changes are staged on the branch %s; when they are complete, 'git commit' them there", u.OutputBranch))
	}
	return result, u.publish(ctx, result, failed)
}

// prepare validates the options and the repository, before anything changes.
func (u *branchUpgrade) prepare(ctx context.Context) error {
	if _, err := checkUpgrade(u.Project, u.Options); err != nil {
		return err
	}
	if err := u.Git.CheckSettings(ctx); err != nil {
		return err
	}
	var findings diag.Findings
	for _, b := range []struct{ flag, name string }{{"--from-branch", u.FromBranch}, {"--output-branch", u.OutputBranch}} {
		exists := u.Git.Succeeds(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+b.name)
		switch {
		case b.name == "":
		case strings.HasPrefix(b.name, "-") || !u.Git.Succeeds(ctx, "check-ref-format", "refs/heads/"+b.name):
			findings.Add(b.flag, b.name, "is not a valid name of a branch")
		case b.flag == "--from-branch" && !exists:
			findings.Add(b.flag, b.name, "there is no such branch")
		case b.flag == "--output-branch" && exists:
			findings.Add(b.flag, b.name, "the branch exists already; delete it with 'git branch -D', or pass another name")
		}
	}
	for i, name := range u.RestorePaths {
		if u.RestorePaths[i] = path.Clean(strings.ReplaceAll(name, `\`, "/")); path.IsAbs(u.RestorePaths[i]) || strings.HasPrefix(u.RestorePaths[i]+"/", "../") {
			findings.Add("--restore-path", name, "must be relative to the project, and in it")
		}
	}
	if u.OpenIssue && !u.Push {
		findings.Add("--open-gh-issue", "true", "requires --push, as the issue links to the branch")
	}
	if err := findings.Err(); err != nil {
		return err
	}
	if u.OpenIssue {
		if _, err := u.Git.GitHub(ctx, "auth", "status"); err != nil {
			return fmt.Errorf("--open-gh-issue: %w", err)
		}
	}
	return u.checkClean(ctx)
}

// checkClean fails if there are changes that are not committed, and reads what is checked out.
func (u *branchUpgrade) checkClean(ctx context.Context) error {
	status, err := u.Git.Output(ctx, "status", "--porcelain", "--ignore-submodules=all")
	if err != nil {
		return err
	}
	if status != "" {
		return u.uncommitted(ctx, strings.Split(status, "\n"))
	}
	if u.start, err = u.Git.Output(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return err
	}
	u.current, err = u.Git.Output(ctx, "branch", "--show-current")
	return err
}

// uncommitted returns the error for lines of git status. Their paths are relative to the work tree, and quoted if they have special characters.
func (u *branchUpgrade) uncommitted(ctx context.Context, lines []string) error {
	prefix, err := u.Git.Output(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	first, rest := diag.Shorten(lines, "file")
	var files diag.Findings
	for _, line := range first {
		name := line[len("XY "):]
		if _, to, renamed := strings.Cut(name, " -> "); renamed {
			name = to
		}
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		if rel, err := filepath.Rel(filepath.FromSlash("/"+prefix), filepath.FromSlash("/"+name)); err == nil {
			name = filepath.ToSlash(rel)
		}
		files = append(files, diag.Finding{Position: diag.Position{File: name}, Problem: "is not committed", Listed: line})
	}
	for _, line := range rest {
		files = append(files, diag.Finding{Problem: line})
	}
	return diag.List("there are changes that are not committed:", files, "commit or stash them, or use 'operon upgrade', which needs no clean work tree")
}

// leave checks out what was checked out before, and deletes the branch.
func (u *branchUpgrade) leave(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	back := []string{"switch", "--quiet", "--detach", u.start}
	if u.current != "" {
		back = []string{"switch", "--quiet", u.current}
	}
	if _, err := u.Git.Output(ctx, back...); err != nil {
		return err
	}
	_, err := u.Git.Output(ctx, "branch", "--quiet", "-D", u.OutputBranch)
	return err
}

// stage adds the changes to the index, except in RestorePaths, where it undoes them. It reports whether there are any.
func (u *branchUpgrade) stage(ctx context.Context, result *action.Result) (bool, error) {
	var kept []string
	for _, c := range result.Changes {
		kept = append(kept, c.Path)
	}
	if len(kept) == 0 {
		return false, nil
	}
	// Files that git ignores are not added.
	list, err := u.Git.Output(ctx, append([]string{"ls-files", "-z", "--modified", "--others", "--exclude-standard", "--"}, kept...)...)
	if err != nil || list == "" {
		return false, err
	}
	changed := strings.Split(strings.TrimSuffix(list, "\x00"), "\x00")
	if _, err := u.Git.Output(ctx, append([]string{"add", "--all", "--"}, changed...)...); err != nil {
		return false, err
	}
	restored := slices.DeleteFunc(changed, func(name string) bool {
		return !slices.ContainsFunc(u.RestorePaths, func(dir string) bool { return dir == "." || name == dir || strings.HasPrefix(name, dir+"/") })
	})
	if len(restored) > 0 {
		if _, err := u.Git.Output(ctx, append([]string{"restore", "--quiet", "--source=HEAD", "--staged", "--worktree", "--"}, restored...)...); err != nil {
			return false, err
		}
		result.Changes = slices.DeleteFunc(result.Changes, func(c worktree.Change) bool { return slices.Contains(restored, c.Path) })
		result.Notes = append(result.Notes, "restored (--restore-path): "+strings.Join(restored, ", "))
	}
	return !u.Git.Succeeds(ctx, "diff-index", "--cached", "--quiet", "HEAD", "--"), nil
}

// publish commits the changes, and pushes the branch and creates the issue if that is wanted. failed are the conflicts or problems that
// are committed.
func (u *branchUpgrade) publish(ctx context.Context, result *action.Result, failed error) error {
	title := "Upgrade the scaffold to Operon " + u.Version
	message := cmp.Or(u.Message, title)
	if failed != nil {
		message = cmp.Or(u.ConflictMessage, title+", with conflicts")
		result.Notes = append(result.Notes, failed.Error())
	}
	if _, err := u.Git.Output(ctx, "commit", "--quiet", "--no-verify", "--message", message); err != nil {
		return diag.Advise(err, fmt.Sprintf("the changes are staged on the branch %s; commit them there", u.OutputBranch))
	}
	result.NextSteps = nil
	result.Notes = append(result.Notes, "committed on the branch "+u.OutputBranch)
	if !u.Push {
		result.AddStepf("review the branch %s, and push it", u.OutputBranch)
		return nil
	}
	if _, err := u.Git.Output(ctx, "push", "--quiet", "--set-upstream", "origin", "refs/heads/"+u.OutputBranch+":refs/heads/"+u.OutputBranch); err != nil {
		return fmt.Errorf("the branch %s was committed, but not pushed: %w", u.OutputBranch, err)
	}
	result.Notes = append(result.Notes, "pushed to origin")
	if !u.OpenIssue {
		result.AddStepf("open a pull request for the branch %s", u.OutputBranch)
		return nil
	}
	issue, err := u.openIssue(ctx, title, failed)
	if err != nil {
		return fmt.Errorf("the branch %s was pushed, but there is no issue: %w", u.OutputBranch, err)
	}
	result.AddStepf("review %s", issue)
	return nil
}

// openIssue creates an issue with a link to the changes, and returns its URL.
func (u *branchUpgrade) openIssue(ctx context.Context, title string, failed error) (string, error) {
	url, err := u.Git.GitHub(ctx, "repo", "view", "--json", "url", "--jq", ".url")
	if err != nil {
		return "", err
	}
	base := cmp.Or(u.FromBranch, u.current, u.start)
	text := fmt.Sprintf("The branch `%s` upgrades this project: [compare it with `%s`, and open a pull request](%s/compare/%s...%s?expand=1).\n",
		u.OutputBranch, base, url, base, u.OutputBranch)
	if failed != nil {
		text += "\nComplete it before you merge it:\n\n    " + strings.ReplaceAll(failed.Error(), "\n", "\n    ") + "\n"
	}
	return u.Git.GitHub(ctx, "issue", "create", "--title", title, "--body", text)
}
