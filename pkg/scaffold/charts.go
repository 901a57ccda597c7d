package scaffold

import (
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// HelmOperatorPackage is the package that reconciles kinds with charts.
const HelmOperatorPackage = OperonModule + "/pkg/helmoperator"

// OperonModule is the module of HelmOperatorPackage.
const OperonModule = "github.com/operon-sdk/operon"

// AddCharts prepares a Go project for kinds with charts: it writes watches.yaml, the code that reconciles the kinds in it, and a role
// for the permissions of the charts, and lists or calls them. A project that has the code already is not changed. A go.mod that
// requires older libraries than HelmOperatorPackage is an error.
func AddCharts(tree *worktree.Tree, data Data) (added bool, err error) {
	if tree.Exists(project.ChartsFile) {
		return false, nil
	}
	if err := CheckModule(tree, data.Project.Repo); err != nil {
		return false, err
	}
	runtime, err := findRuntime(tree)
	if err != nil {
		return false, err
	}
	if err := checkVersion(runtime, Pinned().ControllerRuntime, HelmOperatorPackage); err != nil {
		return false, err
	}
	if err := data.Project.FindPaths(tree); err != nil {
		return false, err
	}
	rendered, err := Render("charts", data)
	if err != nil {
		return false, err
	}
	helm := data
	helm.Project.Helm = true
	if !tree.Exists(watches.FileName) {
		if rendered.Files[watches.FileName], err = RenderFile("init", watches.FileName, helm); err != nil {
			return false, err
		}
	}
	if _, err := writeFiles(tree, rendered.Files, false, "move away what is listed"); err != nil {
		return false, err
	}
	return true, insertAll(tree, rendered.Inserts)
}
