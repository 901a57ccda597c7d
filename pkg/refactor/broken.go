package refactor

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/typecheck"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Check type-checks the code of a tree. Errors in generated files are left out.
func Check(ctx context.Context, tree *worktree.Tree, checker typecheck.Checker) (diag.Findings, error) {
	checker.Bodies = true // the requirements may have changed
	findings, err := checker.Check(ctx, tree)
	return slices.DeleteFunc(findings, isGenerated), err
}

// BrokenPackages returns the directories of the packages of a tree that do not compile. It is an error if packages cannot be
// imported, for example if modules are missing from the module cache, because further errors may follow from that.
func BrokenPackages(ctx context.Context, tree *worktree.Tree, checker typecheck.Checker) (map[string]bool, error) {
	findings, err := Check(ctx, tree, checker)
	if err != nil {
		return nil, err
	}
	failing := map[string]bool{}
	for _, f := range findings {
		if strings.HasPrefix(f.Problem, importProblem) {
			return nil, diag.Findings{f}
		}
		failing[path.Dir(f.File)] = true
	}
	return failing, nil
}

// importProblem is the start of the messages of go/types about failed imports.
const importProblem = "could not import "

func isGenerated(f diag.Finding) bool {
	return strings.HasPrefix(path.Base(f.File), "zz_generated.")
}

// quotedPath matches an import path before the name of a declaration.
var quotedPath = lazyregexp.New(`"(?:[^"]*/)?([^"/]+)"\.`)

// relatedLine matches the line and column of a second place in a message.
var relatedLine = lazyregexp.New(`(; [^:; ]+):\d+:\d+:`)

// NewErrors returns the errors in the code of a tree that the earlier code did not have. Errors in generated files are
// left out, because these files are generated again.
func NewErrors(ctx context.Context, tree *worktree.Tree, before *gosource.Module, checker typecheck.Checker) (diag.Findings, error) {
	after, err := gosource.ReadModule(tree)
	if err != nil {
		return nil, err
	}
	libs, err := checker.Load(ctx, tree, before, after)
	if err != nil {
		return nil, err
	}
	findings, err := libs.Check(ctx, after, nil)
	if findings = slices.DeleteFunc(findings, isGenerated); err != nil || len(findings) == 0 {
		return nil, err
	}
	old, err := libs.Check(ctx, before, nil)
	if err != nil {
		return nil, err
	}
	// Line numbers may have changed. Messages name a package by its path if another one of its name is loaded, which
	// depends on the packages checked before.
	type problem struct{ file, message string }
	about := func(f diag.Finding) problem {
		return problem{f.File, relatedLine.ReplaceAllString(quotedPath.ReplaceAllString(f.Problem, "$1."), "$1:")}
	}
	known := map[problem]int{}
	for _, f := range old {
		known[about(f)]++
	}
	return slices.DeleteFunc(findings, func(f diag.Finding) bool {
		known[about(f)]--
		return known[about(f)] >= 0
	}), nil
}
