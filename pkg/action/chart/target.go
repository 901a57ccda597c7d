package chart

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/operatorchart"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A target is one of the charts.
type target struct {
	*Generator
	dir string
	// recorded reports whether PROJECT has the directory now.
	recorded bool
	merged   *merge.FilesResult
	// takeover is how a chart without a record continues, or nil.
	takeover *operatorchart.Takeover
}

// apply merges a generated chart with the user's. It reports whether there was none.
func (t *target) apply(tree *worktree.Tree, made *operatorchart.Chart) (isNew bool, err error) {
	current, err := action.ReadFiles(tree, t.dir)
	if err != nil {
		return false, err
	}
	if err := conflicts(t.dir, current); err != nil {
		return false, err
	}
	base, err := t.readBase(tree)
	if err != nil {
		return false, err
	}
	isNew = base == nil
	ours, base, err := t.takeOver(made, maps.Clone(current), base)
	if err != nil {
		return false, err
	}
	if err := t.merge(made, base, ours); err != nil {
		return false, err
	}
	if len(t.merged.Conflicts()) == 0 {
		if err := made.Check(t.dir, t.merged.Files).Err(); err != nil {
			return false, err
		}
	}
	if err := action.ReplaceFiles(tree, t.dir, current, t.merged.Files); err != nil {
		return false, err
	}
	if problem := sizeProblem(t.merged.Files); problem != "" {
		t.warnSize(problem)
	}
	t.writeBase(tree, made.Files)
	return isNew, nil
}

// sizeProblem says that Helm can't store a release of a chart, or returns "".
func sizeProblem(files operatorchart.Files) string {
	size := operatorchart.RecordSize(files)
	if size <= helmchart.MaxRecord {
		return ""
	}
	return fmt.Sprintf("a release of the chart has about %d KiB, and Helm can't store more than 1 MiB", size>>10)
}

// warnSize warns about the size of a chart, with what to do.
func (t *target) warnSize(problem string) {
	advice := fmt.Sprintf("'%s generate chart --separate-crds' puts the CRDs into a chart of their own", t.Program)
	if t == t.crds {
		advice = fmt.Sprintf("delete the largest CRDs from %s/templates/crd, they stay deleted, and install them with "+
			"'kubectl apply --server-side -k config/crd' before the charts", t.dir)
	}
	t.Reportf(diag.Warning, "%s: %s; %s", t.dir, problem, advice)
}

// remove removes what was generated for a chart. What the user has changed or added stays.
func (t *target) remove(tree *worktree.Tree) error {
	current, err := action.ReadFiles(tree, t.dir)
	if err != nil {
		return err
	}
	base, err := t.readBase(tree)
	if err != nil {
		return err
	}
	kept := operatorchart.Files{}
	for name, content := range current {
		if !bytes.Equal(content, base[name]) {
			kept[name] = content
		}
	}
	if len(kept) > 0 {
		t.Reportf(diag.Warning, "%s: these files were edited or added, and stay: %s; delete them if you don't need them",
			t.dir, strings.Join(slices.Sorted(maps.Keys(kept)), ", "))
	}
	tree.Remove(t.baseFile())
	return action.ReplaceFiles(tree, t.dir, current, kept)
}

// takeOver returns the sides of the merge for a chart that has no base.
func (t *target) takeOver(made *operatorchart.Chart, ours, base operatorchart.Files) (newOurs, newBase operatorchart.Files, err error) {
	switch {
	case base != nil || len(ours) == 0:
		return ours, base, nil
	case t == t.operator && operatorchart.HasForm(ours) && (t.recorded || operatorchart.IsNamed(ours, t.name)):
		if t.takeover, err = made.Continue(ours); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path.Join(t.dir, "values.yaml"), err)
		}
		return t.takeover.Ours, t.takeover.Base, nil
	case t.options.Force:
		return ours, nil, nil
	}
	return nil, nil, diag.Finding{Position: diag.Position{File: t.dir}, Err: errForeign,
		Problem: fmt.Sprintf("has files that aren't a chart of %s by %s or by kubebuilder's helm/v2-alpha plugin", t.name, t.Program),
		Fix:     "choose another directory with --output-dir, or replace the chart with --force: files with other names stay"}
}

// errForeign means that a directory contains another chart.
var errForeign = errors.New("not a chart of the operator")

// merge merges the generated chart with the user's.
func (t *target) merge(made *operatorchart.Chart, base, ours operatorchart.Files) error {
	o := merge.FilesOptions{
		Options:    merge.Options{Side: t.side, OursLabel: "yours", TheirsLabel: "generated"},
		IsTemplate: func(name string) bool { return strings.HasPrefix(name, "templates/") },
	}
	if t.options.Force {
		isMade := func(name string, _ []byte) bool { return made.Files[name] != nil }
		maps.DeleteFunc(ours, isMade)
		maps.DeleteFunc(base, isMade) // what was generated before and is no longer goes
	}
	// The schema and the README document the values that the chart has afterwards.
	const values = "values.yaml"
	only := func(files operatorchart.Files) operatorchart.Files {
		if files[values] == nil {
			return nil
		}
		return operatorchart.Files{values: files[values]}
	}
	first := merge.Files(only(base), only(ours), only(made.Files), o)
	if merged := first.Files[values]; merged != nil && len(first.Conflicts()) == 0 {
		if err := made.Document(merged); err != nil {
			return fmt.Errorf("%s/%w", t.dir, err)
		}
		if t.takeover != nil && ours["README.md"] != nil {
			base["README.md"] = made.Files["README.md"] // the user's stays
		}
	}
	t.merged = merge.Files(base, ours, made.Files, o)
	return nil
}

// describe adds to the result what the user must know about a chart. It returns the files with conflicts.
func (t *target) describe(result *action.Result) (conflicts []string) {
	for _, f := range t.merged.Merged {
		if f.Reason != merge.Conflicting {
			result.Notes = append(result.Notes, t.dir+"/"+f.String())
		}
	}
	if t.takeover != nil && len(t.takeover.Replaced) > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("replaced in %s, since it isn't recorded which lines you edited: %s; compare them with version control",
			t.dir, strings.Join(t.takeover.Replaced, ", ")))
	}
	if t.takeover != nil && len(t.takeover.Missing) > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%s/values.yaml lacks values that the templates need, add them by hand: %s; "+
			"'%s generate chart --output-dir DIR' writes them into another chart", t.dir, strings.Join(t.takeover.Missing, ", "), t.Program))
	}
	for _, name := range t.merged.Conflicts() {
		conflicts = append(conflicts, path.Join(t.dir, name))
	}
	return conflicts
}
