package worktree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"sort"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Modes of written files and directories; the umask does not apply.
const (
	FileMode fs.FileMode = 0o644
	dirMode  fs.FileMode = 0o755
)

// projectFile is written last, so that a reader of the new PROJECT finds everything that belongs to it.
const projectFile = "PROJECT"

// Commit writes the changes of a tree to disk: all of them, or none with an error. It returns the changes sorted by
// path. The lock of the tree's root must be held, and Recover must have run since; Begin does both.
//
// New content is staged and old content is saved in a new directory in .operon/txn first, which the journal names from the beginning.
// Then the journal is completed, the staged files are renamed to their targets, and renaming the journal completes the
// transaction. After an interruption at any time, including kill -9, either the tree is unchanged, or Recover undoes the
// transaction. A power failure can lose the journal or the files that it refers to: nothing is synced to disk.
func Commit(tree *Tree, lock *ProjectLock) ([]Change, error) {
	if !lock.holds(tree.root) {
		return nil, errors.New("committing without holding the project's lock")
	}
	d, closeRoot, err := openRoot(lock.d)
	if err != nil {
		return nil, err
	}
	defer closeRoot()
	p, err := tree.plan(d)
	if err != nil || len(p.changes) == 0 {
		return nil, err
	}
	if err := d.unfinished(); err != nil {
		return nil, err
	}
	p.journal.Command, p.journal.ID = lock.o.Command, newID()
	if err := d.execute(p); err != nil {
		_, undoErr := d.rollback(&p.journal)
		if undoErr != nil {
			return nil, diag.Explain(errors.Join(err, fmt.Errorf("undoing what was done failed too: %w", undoErr)),
				"the next command that changes this project will finish it")
		}
		if changed, ok := errors.AsType[*ChangedError](err); ok {
			return nil, changed // which already reports that nothing was written
		}
		return nil, fmt.Errorf("%w (nothing was changed)", err)
	}
	// The transaction is complete. After an interruption from here on, the next command cleans up.
	d.prune(&p.journal)
	_ = d.sweep(&p.journal)
	return p.changes, nil
}

// A plan is a prepared commit: changes[i] is for users, steps[i] belongs to operation i of the journal.
type plan struct {
	changes []Change
	journal journal
	steps   []step
}

// A step is the data of an operation that the journal does not contain.
type step struct {
	old, new []byte
	mode     fs.FileMode // of the new file
	oldMode  fs.FileMode
	info     fs.FileInfo // of the old file, from before its content was read
}

// plan checks everything that can be checked before the first write, and reports all problems.
func (t *Tree) plan(d disk) (*plan, error) {
	names := slices.Sorted(maps.Keys(t.over))
	targets := make(map[string]string, len(names))
	owners := map[string]string{}
	var problems []error
	for _, name := range names {
		target, err := d.resolve(name)
		switch {
		case err != nil:
			problems = append(problems, err)
		case owners[target] != "":
			problems = append(problems, fmt.Errorf("%s and %s are the same file through a symbolic link; remove the link", owners[target], name))
		case t.over[name].deleted && target != name:
			problems = append(problems, fmt.Errorf("%s is to be deleted, but it is reached through a symbolic link; remove it yourself", name))
		}
		targets[name], owners[target] = target, name
	}
	if len(problems) > 0 {
		return nil, errors.Join(OnePerCause(problems)...)
	}
	// What changes after this is found before the rename, what changed before it in the content.
	infos := map[string]fs.FileInfo{}
	for _, target := range targets {
		info, err := d.lstat(target)
		if err == nil {
			infos[target] = info
		} else if !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, explain("looking at", target, err))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	changes, err := t.Changes()
	if err != nil {
		return nil, err
	}
	if changed := t.changedMeanwhile(changes); len(changed) > 0 {
		return nil, &ChangedError{Paths: changed}
	}
	p := &plan{changes: changes, journal: journal{Version: journalVersion}}
	if len(changes) == 0 {
		return p, nil
	}
	order := append([]Change(nil), changes...)
	sort.SliceStable(order, func(i, j int) bool { return rank(order[i]) < rank(order[j]) })
	dirs := map[string]bool{}
	for _, c := range order {
		op := operation{Path: targets[c.Path]}
		s := step{old: c.Old, new: c.New, mode: c.Mode, info: infos[op.Path]}
		if s.mode == 0 {
			s.mode = FileMode
		}
		if c.Old != nil {
			op.Old = digest(c.Old)
			if s.info == nil {
				return nil, &ChangedError{Paths: []string{c.Path}}
			}
			s.oldMode, s.mode = s.info.Mode().Perm(), s.info.Mode().Perm()
		}
		if c.New != nil {
			op.New = digest(c.New)
		}
		problems = append(problems, d.addMissing(path.Dir(op.Path), dirs)...)
		p.journal.Operations = append(p.journal.Operations, op)
		p.steps = append(p.steps, s)
	}
	p.journal.Dirs = missingDirs(dirs)
	return p, errors.Join(problems...)
}

// rank returns the order of a change: writes, then deletions, then PROJECT.
func rank(c Change) int {
	switch {
	case c.Path == projectFile:
		return 2
	case c.New == nil:
		return 1
	}
	return 0
}

// addMissing adds dir and its parents to dirs, with true for those that do not exist. The closest existing one must be
// writable.
func (d disk) addMissing(dir string, dirs map[string]bool) []error {
	for ; ; dir = path.Dir(dir) {
		if _, checked := dirs[dir]; checked {
			return nil
		}
		_, err := d.fs.Stat(d.abs(dir))
		dirs[dir] = errors.Is(err, fs.ErrNotExist)
		if err != nil && !dirs[dir] {
			return []error{explain("looking at", dir, err)}
		}
		if err == nil {
			if d.isReal() {
				if err := checkWritable(d.abs(dir)); err != nil {
					return []error{explain("writing to the directory", dir, err)}
				}
			}
			return nil
		}
	}
}

// missingDirs lists the directories to create, parents first.
func missingDirs(dirs map[string]bool) []string {
	maps.DeleteFunc(dirs, func(_ string, missing bool) bool { return !missing })
	return slices.Sorted(maps.Keys(dirs))
}

func (t *Tree) changedMeanwhile(changes []Change) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var paths []string
	for _, c := range changes {
		was, ok := t.seen[c.Path]
		if ok && ((was.err == nil) != (c.Old != nil) || !bytes.Equal(was.data, c.Old)) {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// execute stages the files, writes the journal, applies the operations, and renames the journal.
func (d disk) execute(p *plan) error {
	j := &p.journal
	if err := d.writeJournal(&journal{Version: j.Version, Command: j.Command, ID: j.ID}); err != nil {
		return err
	}
	for _, dir := range []string{operonDir, txnDir, j.dir(), path.Dir(j.staged(0)), path.Dir(j.saved(0))} {
		if err := d.mkdir(dir); err != nil {
			return err
		}
		// A link that came with a clone can point to another directory of the project.
		if info, err := d.lstat(dir); err != nil || !info.IsDir() {
			return &BlockedError{At: dir, Problem: "must be a directory"}
		}
	}
	for i, s := range p.steps {
		name := j.Operations[i].Path
		if s.new != nil {
			if err := create(d.fs, d.abs(j.staged(i)), s.new, s.mode); err != nil {
				return explain("writing", name, err)
			}
		}
		if s.old != nil {
			if err := create(d.fs, d.abs(j.saved(i)), s.old, s.oldMode); err != nil {
				return explain("saving", name, err)
			}
		}
	}
	if err := d.writeJournal(j); err != nil {
		return err
	}
	for _, dir := range j.Dirs {
		if err := d.mkdir(dir); err != nil {
			return err
		}
	}
	for i, op := range j.Operations {
		if err := d.checkUnchanged(op.Path, p.steps[i].info); err != nil {
			return err
		}
		if op.New == "" {
			if err := d.fs.Remove(d.abs(op.Path)); err != nil {
				return explain("deleting", op.Path, err)
			}
			continue
		}
		if err := d.rename(j.staged(i), op.Path); err != nil {
			return explain("writing", op.Path, err)
		}
	}
	if err := d.stateFS.Rename(d.inState(journalFile), d.inState(doneFile)); err != nil {
		return explain("putting aside", d.inState(journalFile), err)
	}
	return nil
}

func (d disk) writeJournal(j *journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("writing %s: %w", journalFile, err)
	}
	return d.writeState(journalFile, journalTemp, data)
}

// checkUnchanged returns a *ChangedError if a file is not the one that the plan is for, whose description is nil if it did not exist:
// an editor may have saved it since.
func (d disk) checkUnchanged(name string, planned fs.FileInfo) error {
	info, err := d.lstat(name)
	switch {
	case planned == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return explain("looking at", name, err)
	case err != nil || planned == nil || !isUnwritten(planned, info) || d.isReal() && !os.SameFile(info, planned):
		return &ChangedError{Paths: []string{name}}
	}
	return nil
}

// mkdir creates a directory with dirMode, unless it exists.
func (d disk) mkdir(name string) error {
	err := d.fs.Mkdir(d.abs(name), dirMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = d.fs.Chmod(d.abs(name), dirMode)
	}
	if err != nil {
		return explain("creating the directory", name, err)
	}
	return nil
}

// create writes a file that must not exist.
func create(fsys afero.Fs, name string, data []byte, mode fs.FileMode) error {
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = fsys.Chmod(name, mode)
	}
	return err
}

// rename moves a file over another one. Windows refuses this for a read-only target.
func (d disk) rename(from, to string) error {
	err := d.fs.Rename(d.abs(from), d.abs(to))
	if err != nil && runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission) {
		if info, statErr := d.fs.Stat(d.abs(to)); statErr == nil && info.Mode()&0o200 == 0 {
			if d.fs.Chmod(d.abs(to), 0o600) == nil {
				err = d.fs.Rename(d.abs(from), d.abs(to))
			}
		}
	}
	return err
}

// read returns the content of a file, and whether it exists.
func (d disk) read(name string) ([]byte, bool, error) {
	data, err := afero.ReadFile(d.fs, d.abs(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}
