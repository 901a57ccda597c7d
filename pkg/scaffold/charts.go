package scaffold

import (
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
	if !data.hasMixedKind() {
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
