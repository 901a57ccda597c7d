package refactor

import (
	"errors"
	"go/types"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ReadCode reads the Go code of a tree. If files are not valid Go, the error is diag.Findings.
func ReadCode(tree *worktree.Tree) (*gosource.Module, error) {
	m, err := gosource.ReadModule(tree)
	if e, ok := errors.AsType[*gosource.ModuleFileError](err); ok {
		return nil, &scaffold.ContentError{Err: e}
	}
	return m, syntaxFindings(err)
}

// withChanges returns a module with changed files. If files are not valid Go, the error is diag.Findings.
func withChanges(m *gosource.Module, changes map[string][]byte) (*gosource.Module, error) {
	after, err := m.With(changes)
	return after, syntaxFindings(err)
}

// syntaxFindings converts gosource.SyntaxErrors to diag.Findings, and returns other errors unchanged.
func syntaxFindings(err error) error {
	failed, ok := errors.AsType[gosource.SyntaxErrors](err)
	if !ok {
		return err
	}
	var findings diag.Findings
	for _, f := range failed {
		findings = append(findings, codegen.SyntaxFindings(f.Name, f.Text, f.Err)...)
	}
	return findings
}

// check type-checks a module with its tests. If info is not nil, its maps are filled.
func check(m *gosource.Module, libs *libraries, info *types.Info) diag.Findings {
	var findings diag.Findings
	for _, e := range m.Check(libs, info) {
		findings = append(findings, diag.Finding{Position: diag.Position{File: e.Pos.Filename, Line: e.Pos.Line, Column: e.Pos.Column}, Problem: e.Msg})
	}
	return findings
}
