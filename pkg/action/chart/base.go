package chart

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/operatorchart"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// baseFile returns the file that records what was generated for the chart, in the txtar format.
func (t *target) baseFile() string { return project.ChartRecord(t.dir) }

// readBase returns what was generated for the chart the last time, or nil if it isn't recorded.
func (t *target) readBase(tree *worktree.Tree) (operatorchart.Files, error) {
	text, err := tree.ReadOptional(t.baseFile())
	if err != nil || text == nil {
		return nil, err
	}
	archive := txtar.Parse([]byte(strings.ReplaceAll(string(text), "\r\n", "\n")))
	files := operatorchart.Files{}
	for _, f := range archive.Files {
		if !fs.ValidPath(f.Name) || files[f.Name] != nil {
			archive.Files = nil
			break
		}
		files[f.Name] = f.Data
	}
	if len(archive.Files) == 0 {
		return nil, diag.Finding{Position: diag.Position{File: t.baseFile()}, Problem: "doesn't record a generated chart",
			Fix: "restore it from version control"}
	}
	return files, nil
}

// writeBase records what is generated for the chart.
func (t *target) writeBase(tree *worktree.Tree, files operatorchart.Files) {
	archive := txtar.Archive{Comment: []byte("What was generated for " + t.dir + ", the base on which your edits are kept. Commit it with the chart.\n")}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: files[name]})
	}
	tree.WriteFile(t.baseFile(), txtar.Format(&archive), worktree.FileMode)
}

// conflicts returns an error for files of a chart with conflict markers of an earlier merge.
func conflicts(dir string, files operatorchart.Files) error {
	var findings diag.Findings
	for _, name := range slices.Sorted(maps.Keys(files)) {
		findings = append(findings, textdiff.ConflictFindings(path.Join(dir, name), files[name])...)
	}
	return findings.Err()
}
