package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"

	"github.com/spf13/afero"
)

// UnfinishedError reports that the changes of an interrupted command have not been undone yet.
type UnfinishedError struct{ Command string }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%s was interrupted and left the project half changed; run it again, or any command that changes the project, to undo it first", e.Command)
}

// Recovery is the result of Recover. Paths are relative to the root, in the order of the journal.
type Recovery struct {
	// Command is the interrupted command, such as "operon create api".
	Command string
	// Completed reports whether the command had completed its work before the interruption.
	Completed bool
	// Restored files have their old content again. Removed files were new.
	Restored, Removed []string
	// Kept files were changed after the interruption and are not touched.
	Kept []string
}

// Unfinished returns an *UnfinishedError if an interrupted command left the project partly changed. It changes nothing, for
// commands that only read.
func Unfinished(at Location) error {
	d, exists, err := at.find()
	if err != nil || !exists {
		return err
	}
	return d.unfinished()
}

func (d disk) unfinished() error {
	j, err := d.readJournal()
	if err != nil {
		return err
	}
	unfinished, err := d.isUnfinished(j)
	if unfinished {
		err = &UnfinishedError{Command: j.Command}
	}
	return err
}

// Recover undoes the changes of an interrupted Commit in the locked project. It returns nil if there are none. It may be interrupted
// and repeated at any time. If the journal is damaged or does not match the files on disk, the error is a *JournalError and nothing
// is changed.
func Recover(lock *ProjectLock) (*Recovery, error) {
	d, closeRoot, err := openRoot(lock.d)
	if err != nil {
		return nil, err
	}
	defer closeRoot()
	j, err := d.readJournal()
	if err != nil {
		return nil, err
	}
	unfinished, err := d.isUnfinished(j)
	switch {
	case err != nil:
		return nil, err
	case unfinished:
		r, err := d.rollback(j)
		if err != nil {
			return nil, fmt.Errorf("undoing %s, which was interrupted: %w", j.Command, err)
		}
		return r, nil
	case j != nil:
		return nil, d.discard(j)
	}
	r := d.completed()
	return r, errors.Join(d.removeState(journalTemp), d.removeState(doneFile))
}

// completed cleans up after a command that was interrupted after its commit. It returns nil if there is none.
func (d disk) completed() *Recovery {
	data, err := d.readState(doneFile)
	if err != nil || data == nil {
		return nil
	}
	j, err := parseJournal(data)
	if err != nil {
		return nil
	}
	d.prune(j)
	_ = d.sweep(j)
	return &Recovery{Command: j.Command, Completed: true}
}

// String describes the recovery for users.
func (r *Recovery) String() string {
	if r.Completed {
		return fmt.Sprintf("%s was interrupted after it finished", r.Command)
	}
	return fmt.Sprintf("%s was interrupted; its changes were undone", r.Command)
}

// rollback restores the old files. It checks everything before the first change, and each step can be repeated.
func (d disk) rollback(j *journal) (*Recovery, error) {
	r := &Recovery{Command: j.Command}
	undo := make([]func() error, len(j.Operations))
	for i, op := range j.Operations {
		if target, err := d.resolve(op.Path); err != nil {
			return nil, err
		} else if target != op.Path {
			return nil, d.journalError("names %s, which is reached through a symbolic link now", op.Path)
		}
		data, there, err := d.read(op.Path)
		if err != nil {
			return nil, explain("reading", op.Path, err)
		}
		now := ""
		if there {
			now = digest(data)
		}
		switch {
		case now == op.Old:
		case there && now != op.New:
			r.Kept = append(r.Kept, op.Path)
		case op.Old == "":
			undo[i] = func() error { return d.fs.Remove(d.abs(op.Path)) }
			r.Removed = append(r.Removed, op.Path)
		default:
			old, there, err := d.read(j.saved(i))
			if err != nil {
				return nil, explain("reading", j.saved(i), err)
			}
			if !there || digest(old) != op.Old {
				return nil, d.journalError("needs %s, the old content of %s, which is missing or damaged", j.saved(i), op.Path)
			}
			undo[i] = func() error { return d.rename(j.saved(i), op.Path) }
			r.Restored = append(r.Restored, op.Path)
		}
	}
	for i := len(undo) - 1; i >= 0; i-- {
		if undo[i] == nil {
			continue
		}
		if err := undo[i](); err != nil {
			return nil, explain("restoring", j.Operations[i].Path, err)
		}
	}
	for i := len(j.Dirs) - 1; i >= 0; i-- {
		if err := d.removeEmpty(j.Dirs[i]); err != nil {
			return nil, err
		}
	}
	return r, d.discard(j)
}

// discard removes the files of a transaction and its journal. The journal goes last, or the files would stay without one.
func (d disk) discard(j *journal) error {
	if err := d.sweep(j); err != nil {
		return err
	}
	return errors.Join(d.removeState(journalTemp), d.removeState(journalFile))
}

// sweep removes the files of a transaction from .operon.
func (d disk) sweep(j *journal) error {
	for _, dir := range []string{path.Dir(j.staged(0)), path.Dir(j.saved(0))} {
		entries, err := afero.ReadDir(d.fs, d.abs(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return explain("listing", dir, err)
		}
		for _, e := range entries {
			if _, err := strconv.ParseUint(e.Name(), 10, 32); err != nil || e.IsDir() {
				continue
			}
			if err := d.removeFile(dir + "/" + e.Name()); err != nil {
				return err
			}
		}
		if err := d.removeEmpty(dir); err != nil {
			return err
		}
	}
	for _, dir := range []string{j.dir(), txnDir, operonDir} {
		if err := d.removeEmpty(dir); err != nil {
			return err
		}
	}
	return nil
}

func (d disk) removeFile(name string) error {
	if err := d.fs.Remove(d.abs(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain("removing", name, err)
	}
	return nil
}

// removeEmpty removes a directory if it exists and is empty. It checks this first because file systems in memory remove
// directories with files.
func (d disk) removeEmpty(dir string) error {
	info, err := d.lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	var entries []fs.FileInfo
	if err == nil {
		entries, err = afero.ReadDir(d.fs, d.abs(dir))
	}
	if err == nil && len(entries) == 0 {
		err = d.fs.Remove(d.abs(dir))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain("removing the directory", dir, err)
	}
	return nil
}
