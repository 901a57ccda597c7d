package scaffold

import (
	"maps"
	"path"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CreateKind writes the roles for users, the sample and the test of a kind without Go types, as far as the layout has templates for them,
// and lists its CRD and its sample. For a kind with a chart in a Go project, it also writes the code that reconciles such kinds, and adds
// the charts to the image. With force, existing files are overwritten.
func CreateKind(tree *worktree.Tree, data Data, force bool) (*Report, error) {
	if err := checkCharts(tree, data); err != nil {
		return nil, err
	}
	if err := data.Project.FindPaths(tree); err != nil {
		return nil, err
	}
	files, inserts, err := renderAPI(tree, data)
	if err != nil {
		return nil, err
	}
	if data.hasMixedKind() && tree.Exists(project.ChartsFile) { // the call of an earlier kind may have been edited
		delete(inserts, data.Project.MainFile())
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool {
		return tree.Exists(name) && isCommon(name) || !tree.Exists(name) && isUnreferenced(tree, name)
	})
	var kept []string
	if test := TestFile(data.Resource.Kind); files[test] != nil && tree.Exists(test) && !force { // all versions of a kind share its test
		delete(files, test)
		kept = append(kept, test)
	}
	hint := "pass --force to overwrite what is listed with a new scaffold, or move it away"
	if data.Resource.Chart { // --force is for its chart
		hint = "move away what is listed"
	}
	report, err := writeFiles(tree, files, force, hint)
	if err != nil {
		return nil, err
	}
	report.Kept = append(report.Kept, kept...)
	enableCRDs(tree)
	if data.hasMixedKind() {
		if note := AddChartsToImage(tree); note != "" {
			report.Notes = append(report.Notes, note)
		}
	}
	return report, insertAll(tree, inserts)
}

// SampleFile returns the path of the sample of a kind.
func SampleFile(r project.Resource) string {
	name := r.Version + "_" + r.FileStem() + ".yaml"
	if r.Group != "" {
		name = r.Group + "_" + name
	}
	return path.Join(project.SamplesDir, name)
}
