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
func Unfinished(fsys afero.Fs, root string) error {
	j, err := disk{fs: fsys, root: root}.readJournal()
	if err == nil && j != nil {
		err = &UnfinishedError{Command: j.Command}
	}
	return err
}

// Recover undoes the changes of an interrupted Commit. It returns nil if there are none. It may be interrupted and
// repeated at any time. The lock must be held. If the journal is damaged or does not match the files on disk, the error
// is a *JournalError and nothing is changed.
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

// completed cleans up after a command that was interrupted after its commit. It returns nil if there is none.
func (d disk) completed() *Recovery {
	data, there, err := d.read(doneFile)
	var j journal
	if err != nil || !there || json.Unmarshal(data, &j) != nil {
		return nil
	}
	d.prune(&j)
	return &Recovery{Command: j.Command, Completed: true}
}

// RecoverIfNeeded runs Recover for a command that reads the project before it changes it. It locks the project only if an
// interrupted command has left files.
func RecoverIfNeeded(ctx context.Context, fsys afero.Fs, root string, o LockOptions) (recovery *Recovery, err error) {
	if _, err := fsys.Stat(disk{fs: fsys, root: root}.abs(operonDir)); err != nil {
		return nil, nil // the usual case
	}
	lock, err := Lock(ctx, fsys, root, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	return Recover(fsys, root)
}

// String describes the recovery for users.
func (r *Recovery) String() string {
	if r.Completed {
		return fmt.Sprintf("%s had been interrupted when its work was done", r.Command)
	}
	return fmt.Sprintf("%s had been interrupted; what it changed was undone", r.Command)
}

// rollback restores the old files. It checks everything before the first change, and each step can be repeated.
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
	for i := len(j.Dirs) - 1; i >= 0; i-- {
		if err := d.removeEmpty(j.Dirs[i]); err != nil {
			return nil, err
		}
	}
	if err := d.removeFile(journalFile); err != nil {
		return nil, err
	}
	return r, d.sweep()
}

// sweep removes the files of transactions from .operon when there is no journal. Other files and their directories are kept.
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

func joinLines(lines []string) string { return strings.Join(lines, "\n  ") }
