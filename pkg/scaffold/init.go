package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ConflictError lists existing files that a command would have to overwrite.
type ConflictError struct {
	// Places are relative to the project's root, sorted. See InTheWay.
	Places diag.Findings
	// Hint is a possible fix.
	Hint string
}

func (e *ConflictError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the places with a heading and the fix.
func (e *ConflictError) Unwrap() error {
	what := "this file is"
	if len(e.Places) > 1 {
		what = fmt.Sprintf("these %d files are", len(e.Places))
	}
	return diag.List(what+" in the way, nothing was written:", e.Places, e.Hint)
}

// InTheWay returns files as the places of a ConflictError.
func InTheWay(names ...string) (places diag.Findings) {
	for _, name := range names {
		places = append(places, diag.Place(diag.Position{File: name}, "", "is in the way"))
	}
	return places
}

// Report describes a scaffold beyond the changes of the tree.
type Report struct {
	// Kept are existing files that were not changed, sorted.
	Kept []string
	// Notes are what the user must do.
	Notes []string
	// ToEdit are new files that the user is to complete.
	ToEdit []string
}

// Init writes a new project into the tree. Existing files that are not part of the scaffold are kept, go.mod and go.sum
// of the same module are merged, and other existing files are a *ConflictError.
func Init(tree *worktree.Tree, data Data) (*Report, error) {
	files, err := renderFiles(data, append([]string{"init", sharedEvent, actionEvent}, data.Project.facts().InitEvents...)...)
	if err != nil {
		return nil, err
	}
	return writeFiles(tree, files, false, "move away what is listed, or create the project in an empty directory")
}

// AddPlugin writes the files of an optional plugin, the event, into the tree of a project. Existing files are kept.
func AddPlugin(tree *worktree.Tree, event string, data Data) (*Report, error) {
	files, err := renderFiles(data, event)
	if err != nil {
		return nil, err
	}
	return writeFiles(tree, files, false, "move away what is listed")
}

// IDEs are the IDEs that AddIDE has configurations for.
func IDEs() []string { return []string{"vscode", "goland"} }

// AddIDE writes the configurations that debug the operator in an IDE, one of IDEs. With force, it overwrites existing files; otherwise,
// they are a *ConflictError.
func AddIDE(tree *worktree.Tree, ide string, data Data, force bool) error {
	files, err := renderFiles(data, "ide-"+ide)
	if err != nil {
		return err
	}
	_, err = writeFiles(tree, files, force, "pass --force to overwrite, or move away what is listed")
	return err
}

// chartEvent contains what a project with a Helm chart that installs the operator has besides the chart.
const chartEvent = "operator-chart"

// actionEvent contains the action with which all workflows install Operon.
const actionEvent = "action"

// AddChart writes the workflow that tests the Helm chart of the operator, and appends the targets for the chart to the Makefile, unless the tree
// has them.
func AddChart(tree *worktree.Tree, data Data) error {
	rendered, err := Render(chartEvent, data)
	if err != nil {
		return err
	}
	action, err := Render(actionEvent, data)
	if err != nil {
		return err
	}
	maps.Copy(rendered.Files, action.Files)
	for name, content := range rendered.Files {
		if !tree.Exists(name) {
			tree.WriteFile(name, content, worktree.FileMode)
		}
	}
	text, err := tree.ReadOptional(project.Makefile)
	if err != nil || text == nil || chartTarget.Match(text) {
		return err
	}
	lf, crlf := textdiff.ToLF(text)
	lf = append(bytes.TrimRight(lf, "\n"), "\n\n"+rendered.Inserts[project.Makefile]["helm"]...)
	tree.WriteFile(project.Makefile, textdiff.FromLF(lf, crlf), worktree.FileMode)
	return nil
}

// chartTarget is the first line of the target that installs the chart.
var chartTarget = lazyregexp.New(`(?m)^helm-deploy\s*:`)

// sharedEvent contains the files of init that create api restores if they are missing, as in projects of tools that write
// them with the first API.
const sharedEvent = "shared"

// renderFiles renders the whole files of events. If two events contain a file, the later one counts.
func renderFiles(data Data, events ...string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, event := range events {
		rendered, err := Render(event, data)
		if err != nil {
			return nil, err
		}
		maps.Copy(files, rendered.Files)
	}
	return files, nil
}

// writeFiles writes rendered files into the tree according to their rules.
func writeFiles(tree *worktree.Tree, files map[string][]byte, force bool, hint string) (*Report, error) {
	report := &Report{}
	var conflicts diag.Findings
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		want := files[name]
		if err := tree.Blocked(name); err != nil {
			problems = append(problems, err)
			continue
		}
		current, err := tree.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			tree.WriteFile(name, want, worktree.FileMode)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
		if lf, _ := textdiff.ToLF(current); bytes.Equal(lf, want) {
			continue
		}
		rule, _ := project.FileRuleOf(name)
		switch rule.Existing {
		case project.Keep:
			report.Kept = append(report.Kept, name)
		case project.Share:
		case project.Combine:
			if name == goSumFile {
				tree.WriteFile(name, mergeSums(current, want), worktree.FileMode)
				continue
			}
			merged, err := mergeRequirements(current, want)
			if err != nil {
				var other *otherModuleError
				if !errors.As(err, &other) {
					return nil, err
				}
				conflicts = append(conflicts, diag.Place(diag.Position{File: name}, "it "+other.Error(), other.Error()))
				continue
			}
			tree.WriteFile(name, merged, worktree.FileMode)
		default:
			if !force {
				conflicts = append(conflicts, InTheWay(name)...)
				continue
			}
			tree.WriteFile(name, want, worktree.FileMode)
		}
	}
	problems = worktree.OnePerCause(problems)
	problems = slices.DeleteFunc(problems, func(err error) bool {
		blocked, ok := errors.AsType[*worktree.BlockedError](err)
		if ok {
			conflicts = append(conflicts, diag.Place(diag.Position{File: blocked.At}, "it "+blocked.Problem, blocked.Problem))
		}
		return ok
	})
	if len(conflicts) > 0 {
		problems = append(problems, &ConflictError{Places: SortPlaces(conflicts), Hint: hint})
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return report, nil
}
