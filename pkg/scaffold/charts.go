package scaffold

import (
	"maps"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// chartsEvent contains what kinds with charts share: watches.yaml, and in Go projects the code that reconciles the kinds in it and a
// role for the permissions of the charts.
const chartsEvent = "charts"

// OperonModule is the module of the package pkg/helmoperator, which reconciles kinds with charts.
const OperonModule = "github.com/operon-sdk/operon"

// CreateHelmAPI writes the roles for users of a kind whose objects are releases of a chart, and lists its CRD and its sample,
// which depend on the chart. In a Go project, it also writes the code that reconciles such kinds, and adds the charts to the image.
func CreateHelmAPI(tree *worktree.Tree, data Data) (*Report, error) {
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
	if tree.Exists(project.ChartsFile) { // the call of an earlier kind may have been edited
		delete(inserts, data.Project.MainFile())
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool {
		return tree.Exists(name) && isCommon(name) || !tree.Exists(name) && isUnreferenced(tree, name)
	})
	report, err := writeFiles(tree, files, false, "move away what is listed")
	if err != nil {
		return nil, err
	}
	enableCRDs(tree)
	if !data.Project.Helm {
		if note := AddChartsToImage(tree); note != "" {
			report.Notes = append(report.Notes, note)
		}
	}
	return report, insertAll(tree, inserts)
}

// isCommon reports whether a file belongs to all kinds with charts.
func isCommon(name string) bool {
	switch name {
	case watches.FileName, project.ChartsFile, project.ChartsRoleFile, project.ChartsRoleBindingFile:
		return true
	}
	return false
}

// checkCharts returns an error if a Go project cannot have kinds with charts: its go.mod must not require older libraries than
// pkg/helmoperator.
func checkCharts(tree *worktree.Tree, data Data) error {
	if data.Project.Helm {
		return nil
	}
	if err := CheckModule(tree, data.Project.Repo); err != nil {
		return err
	}
	runtime, err := findRuntime(tree)
	if err != nil {
		return err
	}
	if err := checkVersion(runtime, Pinned().ControllerRuntime, "kinds with charts"); err != nil {
		return err
	}
	return checkReplacements(tree)
}

// checkReplacements returns an error if a replace directive of go.mod selects a library that is too old for pkg/helmoperator, whose own
// requirement has no effect on it.
func checkReplacements(tree *worktree.Tree) error {
	_, file, err := ReadGoMod(tree)
	if err != nil {
		return err
	}
	_, minor, _ := strings.Cut(Pinned().Kubernetes, ".")
	oldest := map[string]string{runtimeModule: Pinned().ControllerRuntime}
	for _, name := range []string{"api", "apiextensions-apiserver", "apimachinery", "cli-runtime", "client-go"} {
		oldest["k8s.io/"+name] = "v0." + minor + ".0"
	}
	for _, r := range file.Replace {
		if wanted := oldest[r.Old.Path]; wanted != "" && r.New.Version != "" && semver.Compare(r.New.Version, wanted) < 0 {
			return goModFinding(r.Syntax, "%s is replaced with version %s, which is too old for kinds with charts, which need %s or later; "+
				"remove the replace directive, or raise its version", r.Old.Path, r.New.Version, wanted)
		}
	}
	return nil
}
