package cmd

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// recordPath is where a project whose base was changed by hand keeps what the code gave for it the last time,
// for everybody who works on it. A base that is as the code gives it needs no such file.
func (o kustomizeOptions) recordPath() string { return ".operon/bases/" + o.packageName + ".yaml" }

// readBaseRecord gives what the code gave for a base the last time: as the project tells, or else as this machine
// remembers; nil where nobody knows.
func (a *app) readBaseRecord(tree *worktree.Tree, o kustomizeOptions) ([]byte, error) {
	data, err := readOptional(tree, o.recordPath())
	if err != nil {
		return nil, err
	}
	if data != nil {
		if err := base.CheckRecord(data); err != nil {
			return nil, fmt.Errorf("%s: %w; restore it from version control, or remove it to discard the record of manual changes", o.recordPath(), err)
		}
		return data, nil
	}
	data = a.recall(tree.Root(), baseRecord, o.basePath(o.outputDir))
	if base.CheckRecord(data) != nil {
		return nil, nil // what cannot be read is not remembered
	}
	return data, nil
}

// writeBaseRecord adds a project's record, or takes away one that is not needed any more.
func writeBaseRecord(tree *worktree.Tree, o kustomizeOptions, result *base.Result) {
	switch {
	case result.Edited:
		tree.WriteFile(o.recordPath(), result.Record, 0o644)
	case result.Record != nil && tree.Exists(o.recordPath()):
		tree.Remove(o.recordPath())
	}
}

// rememberBase keeps what the code gave for a base, so that changes by hand are told from changes of the code the
// next time.
func (a *app) rememberBase(root string, o kustomizeOptions, record []byte) {
	if record != nil {
		a.remember(root, baseRecord, o.basePath(o.outputDir), record)
	}
}
