package action

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CheckPaths reports the resources that concern a command and whose path in PROJECT does not contain their types, although the
// package of the layout does. Other differences from the layout are the author's.
func CheckPaths(tree *worktree.Tree, config *project.Config, concerns func(project.Resource) bool) error {
	var findings diag.Findings
	for _, r := range config.Resources() {
		want := config.APIPath(r.Group, r.Version)
		if !r.HasAPI() || r.Core || r.External || r.Path == "" || r.Path == want || !concerns(r) {
			continue
		}
		inLayout, err := declaresType(tree, config, want, r.Kind)
		if err != nil {
			return err
		}
		inPath, err := declaresType(tree, config, r.Path, r.Kind)
		if err != nil {
			return err
		}
		isOther := slices.ContainsFunc(config.Resources(), func(other project.Resource) bool {
			return other.HasAPI() && other.Version != r.Version && config.APIPath(other.Group, other.Version) == r.Path
		})
		if inLayout && (!inPath || isOther) {
			findings = append(findings, diag.Finding{
				Position: config.PathPosition(r.GVK),
				Problem:  fmt.Sprintf("path %q is not the package of kind %s, whose types are in %s", r.Path, r.Kind, want), Fix: "write that path",
			})
		}
	}
	return findings.Err()
}

// declaresType reports whether a package of the project declares a type.
func declaresType(tree *worktree.Tree, config *project.Config, importPath, name string) (bool, error) {
	dir, own := strings.CutPrefix(importPath, config.Repo()+"/")
	if !own {
		return false, nil
	}
	files, err := tree.Walk(dir, func(string) bool { return true })
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", dir, diag.Cause(err))
	}
	declaration := regexp.MustCompile(`(?m)^(type[ \t]+|\t)` + regexp.QuoteMeta(name) + `[ \t]+(struct\b|=)`)
	for _, file := range files {
		if path.Ext(file) != ".go" || path.Dir(file) != dir || strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := tree.ReadFile(file)
		if err != nil {
			return false, err
		}
		if declaration.Match(data) {
			return true, nil
		}
	}
	return false, nil
}
