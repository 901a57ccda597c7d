package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/afero"
)

// Interval of attempts to lock, and delays of the first and of further notices.
const (
	lockPoll     = 20 * time.Millisecond
	firstNotice  = 2 * time.Second
	noticePeriod = 30 * time.Second
)

// LockOptions configure Lock.
type LockOptions struct {
	// Command is recorded in the lock for messages of other commands, such as "operon create api".
	Command string
	// Timeout is the maximum time to wait. Zero means no limit.
	Timeout time.Duration
	// Waiting is called after two seconds and then every 30 seconds with the time waited, unless it is nil.
	Waiting func(holder Holder, waited time.Duration)
	// Unlocked is called if the file system does not support locks, unless it is nil.
	Unlocked func()
	// tryLock replaces (*flock.Flock).TryLock in tests.
	tryLock func(*flock.Flock) (bool, error)
}

// Holder is the command that holds the lock of a project. It is the zero value if that is not recorded yet.
type Holder struct {
	Command string `json:"command"`
	PID     int    `json:"pid"`
}

func (h Holder) String() string {
	if h.Command == "" {
		return "another command"
	}
	return fmt.Sprintf("%s (PID %d)", h.Command, h.PID)
}

// ProjectLock is the lock of a project. Only one command can hold it.
type ProjectLock struct {
	d        disk
	o        LockOptions
	file     *flock.Flock // nil if the file system does not support locks
	released bool
}

// BusyError reports that another command still changes the project after a timeout.
type BusyError struct {
	Holder  Holder
	Timeout time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s is still changing this project after %s; try again when it has finished, or give a longer --lock-timeout", e.Holder, e.Timeout)
}

// Lock locks the project at root. It waits for another command that holds the lock, and returns a *BusyError after the
// timeout. The operating system releases the lock of a terminated process. On file systems without locks, such as those
// in memory, it succeeds without effect.
func Lock(ctx context.Context, fsys afero.Fs, root string, o LockOptions) (*ProjectLock, error) {
	l := &ProjectLock{d: disk{fs: fsys, root: root}, o: o}
	if !l.d.isReal() {
		return l, nil
	}
	var timeout, notice <-chan time.Time // a nil channel never fires
	if o.Timeout > 0 {
		timeout = time.After(o.Timeout)
	}
	if o.Waiting != nil {
		notice = time.After(firstNotice)
	}
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for waited := firstNotice; ; {
		ok, err := l.try()
		// Windows denies access to a file that is being removed by another command.
		retry := runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
		if err != nil && !retry {
			return nil, err
		}
		if ok {
			return l, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timeout:
			if err != nil {
				return nil, err
			}
			return nil, &BusyError{l.d.holder(), o.Timeout}
		case <-notice:
			o.Waiting(l.d.holder(), waited)
			notice, waited = time.After(noticePeriod), waited+noticePeriod
		case <-poll.C:
		}
	}
}

// try locks the lock file if it is free. The file is removed when the lock is released, so the locked file must still be the
// one with that name.
func (l *ProjectLock) try() (bool, error) {
	if err := l.prepare(); err != nil {
		return false, err
	}
	tryLock := l.o.tryLock
	if tryLock == nil {
		tryLock = (*flock.Flock).TryLock
	}
	file := flock.New(l.d.abs(lockFile), flock.SetFlag(os.O_RDWR))
	locked, err := tryLock(file)
	if errors.Is(err, fs.ErrPermission) { // owned by another user, whose command may still be running
		file = flock.New(l.d.abs(lockFile), flock.SetFlag(os.O_RDONLY))
		locked, err = tryLock(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // released and removed by another command
	case errors.Is(err, errors.ErrUnsupported):
		if l.o.Unlocked != nil {
			l.o.Unlocked()
		}
		return true, nil
	case err != nil:
		return false, explain("locking the project with", lockFile, err)
	case !locked:
		return false, nil
	}
	held, err := file.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = l.d.lstat(lockFile); err == nil && os.SameFile(held, named) {
			l.file = file
			l.writeHolder()
			return true, nil
		}
	}
	_ = file.Unlock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, explain("locking the project with", lockFile, err)
	}
	return false, nil
}

// prepare creates the lock file.
func (l *ProjectLock) prepare() error {
	switch err := l.d.fs.Mkdir(l.d.abs(operonDir), dirMode); {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the project's directory does not exist")
	case err != nil && !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("the project cannot be changed: %w", explain("creating the directory", operonDir, err))
	}
	for _, name := range []string{operonDir, lockFile} {
		info, err := l.d.lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return explain("looking at", name, err)
		}
		if name == operonDir && !info.IsDir() || name == lockFile && !info.Mode().IsRegular() {
			want := "directory"
			if name == lockFile {
				want = "regular file"
			}
			return &BlockedError{At: name, Problem: "must be a " + want + " for the project's lock"}
		}
	}
	f, err := l.d.fs.OpenFile(l.d.abs(lockFile), os.O_CREATE|os.O_RDWR, FileMode)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed by the command that released the lock
	case errors.Is(err, fs.ErrPermission) && l.d.exists(lockFile):
		return nil // owned by another user
	default:
		_ = l.d.removeEmpty(operonDir)
		return explain("locking the project with", lockFile, err)
	}
}

// writeHolder records the holder in the lock file after its first byte: that byte is locked on Windows, and locked
// bytes cannot be read there. Only messages of waiting commands need it, so a failure is ignored.
func (l *ProjectLock) writeHolder() {
	record, err := json.Marshal(Holder{Command: l.o.Command, PID: os.Getpid()})
	if err != nil {
		return
	}
	f, err := l.d.fs.OpenFile(l.d.abs(lockFile), os.O_RDWR, FileMode)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(append(record, '\n'), 1)
	_ = f.Close()
}

// holder reads the command that holds the lock.
func (d disk) holder() Holder {
	f, err := d.fs.Open(d.abs(lockFile))
	if err != nil {
		return Holder{}
	}
	defer f.Close()
	var holder Holder
	// After the first JSON value, the file may contain the end of a longer record.
	if json.NewDecoder(io.NewSectionReader(f, 1, 4096)).Decode(&holder) != nil {
		return Holder{}
	}
	return holder
}

func (d disk) exists(name string) bool {
	_, err := d.lstat(name)
	return err == nil
}

// holds reports whether the lock of the project at root is held.
func (l *ProjectLock) holds(root string) bool {
	return l != nil && !l.released && l.d.root == root
}

// Unlock releases the lock and removes its file. Unlocking twice does nothing.
func (l *ProjectLock) Unlock() error {
	if l == nil || l.released {
		return nil
	}
	l.released = true
	if l.file != nil {
		if runtime.GOOS == "windows" {
			// Windows cannot remove an open file: not before it is closed here, and not if the next command has opened
			// it meanwhile, which then removes it.
			if err := l.file.Unlock(); err != nil {
				return explain("unlocking", lockFile, err)
			}
			_ = l.d.removeFile(lockFile)
		} else {
			removeErr := l.d.removeFile(lockFile)
			if err := l.file.Unlock(); err != nil {
				return explain("unlocking", lockFile, err)
			}
			if removeErr != nil {
				return removeErr
			}
		}
	} else if l.d.isReal() {
		_ = l.d.removeFile(lockFile)
	}
	// Until here, doneFile shows an interrupted and repeated command that its work was done. Failures are harmless, and
	// another command that waits may have created its own file in the directory.
	_ = l.d.removeFile(doneFile)
	_ = l.d.removeEmpty(operonDir)
	return nil
}
