package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/afero"
)

// UnfinishedError tells that an interrupted command's changes have not been undone yet.
type UnfinishedError struct{ Command string }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%s was interrupted and left the project half changed; run it again, or any command that changes the project, to undo it first", e.Command)
}

// Recovery tells what Recover did. Paths are relative to the root, in the order of the journal.
type Recovery struct {
	// Command is who had been interrupted, such as "operon create api".
	Command string
	// Completed tells that the command had done all of its work before it was interrupted.
	Completed bool
	// Restored files have their old content again, Removed ones had been new.
	Restored, Removed []string
	// Kept files were changed by someone else after the interruption and are left as they are.
	Kept []string
}

// Unfinished returns an *UnfinishedError when an interrupted command left the project half changed,
// and nil when all is well. It changes nothing: it is for commands that only read.
func Unfinished(fsys afero.Fs, root string) error {
	j, err := disk{fs: fsys, root: root}.readJournal()
	if err == nil && j != nil {
		err = &UnfinishedError{Command: j.Command}
	}
	return err
}

// Recover undoes what an interrupted Commit left, so that the project is as before it, and returns nil
// where there was nothing to undo. It may be interrupted and run again at any time. The lock must be
// held. A journal that is broken or does not fit what is on disk is a *JournalError, and
// nothing is touched.
func Recover(fsys afero.Fs, root string) (*Recovery, error) {
	d, closeRoot, err := openRoot(fsys, root)
	if err != nil {
		return nil, err
	}
	defer closeRoot()
	j, err := d.readJournal()
	if err != nil {
		return nil, err
	}
	if j == nil {
		r := d.completed()
		return r, errors.Join(d.sweep(), d.removeFile(doneFile))
	}
	r, err := d.rollback(j)
	if err != nil {
		return nil, fmt.Errorf("undoing %s, which was interrupted: %w", j.Command, err)
	}
	return r, nil
}

// completed finishes the work of a command that was interrupted after its commit. It returns nil if there is none.
func (d disk) completed() *Recovery {
	data, there, err := d.read(doneFile)
	var j journal
	if err != nil || !there || json.Unmarshal(data, &j) != nil {
		return nil
	}
	d.prune(&j)
	return &Recovery{Command: j.Command, Completed: true}
}

// Settle does what Recover does for a command that looks at the project before it changes it. It takes
// the lock for that, but only where an interrupted command left something.
func Settle(ctx context.Context, fsys afero.Fs, root string, o LockOptions) (recovery *Recovery, err error) {
	if _, err := fsys.Stat(disk{fs: fsys, root: root}.abs(operonDir)); err != nil {
		return nil, nil // as nearly always
	}
	lock, err := Lock(ctx, fsys, root, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	return Recover(fsys, root)
}

// String tells a person what became of the interrupted command.
func (r *Recovery) String() string {
	if r.Completed {
		return fmt.Sprintf("%s had been interrupted when its work was done", r.Command)
	}
	return fmt.Sprintf("%s had been interrupted; what it changed was undone", r.Command)
}

// rollback brings back the old tree. It looks at everything before it touches anything, and each of
// its steps is one that a second run finds done.
func (d disk) rollback(j *journal) (*Recovery, error) {
	r := &Recovery{Command: j.Command}
	undo := make([]func() error, len(j.Operations))
	for i, op := range j.Operations {
		if target, err := d.resolve(op.Path); err != nil {
			return nil, err
		} else if target != op.Path {
			return nil, &JournalError{Problem: fmt.Sprintf("names %s, which is reached through a symbolic link now", op.Path)}
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
			old, there, err := d.read(saved(i))
			if err != nil {
				return nil, explain("reading", saved(i), err)
			}
			if !there || digest(old) != op.Old {
				return nil, &JournalError{Problem: fmt.Sprintf("needs %s, the old content of %s, which is missing or damaged", saved(i), op.Path)}
			}
			undo[i] = func() error { return d.rename(saved(i), op.Path) }
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
	for i := len(j.Folders) - 1; i >= 0; i-- {
		if err := d.removeEmpty(j.Folders[i]); err != nil {
			return nil, err
		}
	}
	if err := d.removeFile(journalFile); err != nil {
		return nil, err
	}
	return r, d.sweep()
}

// sweep takes away what transactions leave in .operon once there is no journal. Files that are not
// theirs stay, and so do the folders that hold them.
func (d disk) sweep() error {
	for _, dir := range []string{stagedDir, savedDir} {
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
	if err := d.removeFile(journalTemp); err != nil {
		return err
	}
	for _, dir := range []string{txnDir, operonDir} {
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

// removeEmpty removes a folder if there is one and nothing is in it. It looks first because file
// systems in memory remove full ones.
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
		return explain("removing the folder", dir, err)
	}
	return nil
}

func joinLines(lines []string) string { return strings.Join(lines, "\n  ") }
