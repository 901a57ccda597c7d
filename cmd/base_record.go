package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// recordPath is where a project whose base was changed by hand keeps what the code gave for it the last time,
// for everybody who works on it. A base that is as the code gives it needs no such file.
func (o kustomizeOptions) recordPath() string { return ".operon/bases/" + o.packageName + ".yaml" }

// readBaseRecord gives what the code gave for a base the last time: as the project tells, or else as this machine
// remembers; nil where nobody knows.
func (a *app) readBaseRecord(tree *scaffold.Tree, o kustomizeOptions) ([]byte, error) {
	data, err := readOptional(tree, o.recordPath())
	if err != nil {
		return nil, err
	}
	if data != nil {
		if err := base.CheckRecord(data); err != nil {
			return nil, &usageError{err: fmt.Errorf("%s: %w; restore it from version control, or remove it to forget what was changed by hand", o.recordPath(), err)}
		}
		return data, nil
	}
	if name := a.recordCache(tree.Root(), o); name != "" {
		// What cannot be read is not remembered.
		if data, err := afero.ReadFile(a.FS, name); err == nil && base.CheckRecord(data) == nil {
			return data, nil
		}
	}
	return nil, nil
}

// writeBaseRecord adds a project's record, or takes away one that is not needed any more.
func writeBaseRecord(tree *scaffold.Tree, o kustomizeOptions, result *base.Result) {
	switch {
	case result.Edited:
		tree.WriteFile(o.recordPath(), result.Record, 0o644)
	case result.Record != nil && tree.Exists(o.recordPath()):
		tree.Remove(o.recordPath())
	}
}

// recordCache is where this machine remembers what the code gave for a base, empty where it cannot.
func (a *app) recordCache(root string, o kustomizeOptions) string {
	dir := a.cache("bases")
	if dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(root + "\x00" + o.basePath(o.outputDir)))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+".yaml")
}

// cacheRecord remembers what the code gave for a base, so that changes by hand are told from changes of the code
// the next time.
func (a *app) cacheRecord(root string, o kustomizeOptions, record []byte) {
	name := a.recordCache(root, o)
	if name == "" || record == nil {
		return
	}
	// A cache that cannot be written remembers nothing.
	if err := a.FS.MkdirAll(filepath.Dir(name), 0o755); err == nil {
		_ = afero.WriteFile(a.FS, name, record, 0o644)
	}
}
