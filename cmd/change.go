package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// projectRoot is the folder of the project that a command is called in, from any folder below it.
func (a *app) projectRoot() (string, error) {
	dir, err := a.workDir()
	if err != nil {
		return "", err
	}
	return project.FindRoot(a.FS, dir)
}

// intactProject is projectRoot for commands that only read the project. It fails if an interrupted command left it half changed.
func (a *app) intactProject() (string, error) {
	root, err := a.projectRoot()
	if err != nil {
		return "", err
	}
	return root, worktree.Unfinished(a.FS, root)
}

// loadProject reads PROJECT from a tree, and refuses layouts that a command of today's cannot work on.
func loadProject(tree *worktree.Tree) (*project.Config, error) {
	return loadLayout(tree, (*project.Config).CheckLayout)
}

// loadOlderProject does so for the commands that know the layout before as well.
func loadOlderProject(tree *worktree.Tree) (*project.Config, error) {
	return loadLayout(tree, (*project.Config).CheckOlderLayout)
}

func loadLayout(tree *worktree.Tree, check func(*project.Config) error) (*project.Config, error) {
	data, err := tree.ReadFile(project.FileName)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", project.FileName, reason(err))
	}
	config, err := project.Parse(data)
	if err != nil {
		return nil, err
	}
	if mod, err := tree.ReadFile("go.mod"); err == nil {
		config.FollowModule(modfile.ModulePath(mod))
	}
	return config, check(config)
}

// begin is how a command that changes a project starts: it finds the root, settles what an interrupted
// command left, and reads PROJECT before anything is asked or locked. It reports done as settle does.
func (a *app) begin(ctx context.Context) (root string, config *project.Config, done bool, err error) {
	return a.beginWith(ctx, loadProject)
}

func (a *app) beginWith(
	ctx context.Context, load func(*worktree.Tree) (*project.Config, error),
) (root string, config *project.Config, done bool, err error) {
	if root, err = a.projectRoot(); err != nil {
		return "", nil, false, err
	}
	if done, err = a.settle(ctx, root); done || err != nil {
		return root, nil, done, err
	}
	config, err = load(worktree.NewTree(a.FS, root))
	return root, config, false, err
}

// apply runs change on the project at root as one transaction, and prints the changed files unless -q is given, or with
// --dry-run their diff. It fails if files that change reads hold merge conflicts.
func (a *app) apply(ctx context.Context, root string, change func(*worktree.Tree) error) error {
	return a.applyOverConflicts(ctx, root, withoutConflicts(change))
}

// withoutConflicts makes change fail if files that it reads from disk hold merge conflicts, whatever else follows from these.
func withoutConflicts(change func(*worktree.Tree) error) func(*worktree.Tree) error {
	return func(tree *worktree.Tree) error {
		err := change(tree)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if conflicts := tree.CheckConflicts(); conflicts != nil {
			return conflicts
		}
		return err
	}
}

// applyOverConflicts is apply for a change that handles files with merge conflicts itself.
func (a *app) applyOverConflicts(ctx context.Context, root string, change func(*worktree.Tree) error) error {
	if a.dryRun {
		if err := worktree.Unfinished(a.FS, root); err != nil {
			return err
		}
		tree := worktree.NewTree(a.FS, root)
		if err := change(tree); err != nil {
			return err
		}
		changes, err := tree.Changes()
		if err != nil {
			return err
		}
		return a.printDiff(tree.Paired(changes))
	}
	updated, err := worktree.Update(ctx, a.FS, root, a.lockOptions(), change)
	if updated != nil && updated.Recovered != nil {
		a.progressf("%s", updated.Recovered)
	}
	if err != nil {
		return err
	}
	return a.printChanges(withoutVendored(updated.Changes))
}

// applyGenerated is apply for a change of generated files, which may be up to date.
func (a *app) applyGenerated(ctx context.Context, root string, change func(*worktree.Tree) error) error {
	err := a.apply(ctx, root, change)
	if err == nil && len(a.result.changes) == 0 {
		a.successf("everything is up to date")
	}
	return err
}

// withoutVendored returns the changes with one for all files of the vendor directory.
func withoutVendored(changes []worktree.Change) []worktree.Change {
	isVendored := func(c worktree.Change) bool { return strings.HasPrefix(c.Path, "vendor/") }
	if !slices.ContainsFunc(changes, isVendored) {
		return changes
	}
	return append(slices.DeleteFunc(slices.Clone(changes), isVendored), worktree.Change{Path: "vendor", Old: []byte{}, New: []byte{}})
}

// applyAt is apply for a change whose results are in dir, as seen from root. If dir is outside of the project, change
// still sees the project, by names such as ../out/file, but only the files in dir are written.
func (a *app) applyAt(ctx context.Context, root, dir string, change func(*worktree.Tree) error) error {
	if !isOutside(dir) {
		return a.applyGenerated(ctx, root, change)
	}
	out := filepath.Join(root, filepath.FromSlash(dir))
	if !a.dryRun {
		if err := a.FS.MkdirAll(out, 0o755); err != nil {
			return fmt.Errorf("creating the directory of --output-dir: %w", reason(err))
		}
		defer a.FS.Remove(out) // fails unless it is empty
		if done, err := a.settle(ctx, out); done || err != nil {
			return err
		}
	}
	return a.applyGenerated(ctx, out, func(tree *worktree.Tree) error {
		whole := worktree.NewTree(a.FS, root)
		if err := withoutConflicts(change)(whole); err != nil {
			return err
		}
		changes, err := whole.Changes()
		if err != nil {
			return err
		}
		for _, c := range changes {
			name, ok := strings.CutPrefix(c.Path, dir+"/")
			switch {
			case !ok: // what the project records of files in it
			case c.New == nil:
				tree.Remove(name)
			default:
				tree.WriteFile(name, c.New, c.Mode)
			}
		}
		return nil
	})
}

// isOutside reports whether a path that is relative to the project's root leads out of the project.
func isOutside(rel string) bool { return rel == ".." || strings.HasPrefix(rel, "../") }

// settle undoes what an interrupted command left at root. It reports true when that was this very
// command, called the same way, and all of its work had been done: then there is nothing left to do.
func (a *app) settle(ctx context.Context, root string) (done bool, err error) {
	if a.dryRun {
		return false, nil
	}
	recovery, err := worktree.RecoverIfNeeded(ctx, a.FS, root, a.lockOptions())
	if err != nil || recovery == nil {
		return false, err
	}
	a.progressf("%s", recovery)
	return recovery.Completed && recovery.Command == a.line, nil
}

// lockOptions say how to wait for another command that changes the project.
func (a *app) lockOptions() worktree.LockOptions {
	return worktree.LockOptions{
		Command: a.line,
		Timeout: a.lockTimeout,
		Waiting: func(holder worktree.Holder, waited time.Duration) {
			a.progressf("waiting for %s, which is changing this project (%s)", holder, waited)
		},
		Unlocked: func() {
			a.warnf("this file system has no locks: run no two commands at once in this project")
		},
	}
}

// tell prints what a scaffold left alone.
func (a *app) tell(report *scaffold.Report) {
	if len(report.Kept) > 0 {
		a.notef("kept as they are: %s", strings.Join(report.Kept, ", "))
	}
}

// defaultHeaderFile holds the header of Go files unless the project's calls of controller-gen name another file.
const defaultHeaderFile = "hack/boilerplate.go.txt"

// boilerplate returns the comment that new Go files start with, empty where the project has none.
func (a *app) boilerplate(tree *worktree.Tree) (string, error) {
	header, _, err := a.projectHeader(tree)
	return header, err
}

// projectHeader returns the comment that new Go files start with and the file that it is made of. Both are empty where the project
// has none.
func (a *app) projectHeader(tree *worktree.Tree) (header, file string, err error) {
	found, err := calls.Find(tree)
	if err != nil {
		return "", "", err
	}
	return a.headerOf(tree, found.Calls)
}

// headerOf is projectHeader for a project whose calls of controller-gen are known.
func (a *app) headerOf(tree *worktree.Tree, found []codegen.Call) (header, file string, err error) {
	options := codegen.Options{Root: tree.Root(), Overlay: overlay(tree), Calls: found, Year: a.year(), Env: a.Environ}
	header, file, err = codegen.Header(options)
	if err == nil && file == "" {
		options.Calls = nil
		header, file, err = codegen.Header(options)
	}
	if err != nil {
		return "", "", err
	}
	if header = normalHeader([]byte(header)); !isComment(header) {
		return "", "", fmt.Errorf("%s must hold a Go comment, /* … */ or lines that start with //; correct it, or make it an empty file for no header", file)
	}
	return header, file, nil
}

// normalHeader is a header without what an editor may leave around it.
func normalHeader(data []byte) string {
	text := strings.TrimPrefix(string(data), "\uFEFF")
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

// readGiven reads a header that a flag names, relative to the working directory.
func (a *app) readGiven(name string) (string, error) {
	path := a.absolute(name)
	info, err := a.FS.Stat(path)
	if err != nil {
		return "", reason(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("is not a regular file")
	}
	data, err := afero.ReadFile(a.FS, path)
	if err != nil {
		return "", reason(err)
	}
	return normalHeader(data), nil
}

// reason is an error of the file system without the absolute path in it.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
