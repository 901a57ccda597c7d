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
	at       Location
	d        disk
	o        LockOptions
	file     *flock.Flock // nil if the file system does not support locks
	rootDir  *os.File     // the locked directory of the project, or nil
	released bool
}

// BusyError reports that another command still changes the project after a timeout.
type BusyError struct {
	Holder  Holder
	Timeout time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s is still changing this project after %s; try again when it has finished, or pass a longer --lock-timeout", e.Holder, e.Timeout)
}

// Lock locks a project for commands on this machine, also against other users' commands where directories can be locked. It waits for
// another command that holds the lock, and returns a *BusyError after the timeout. The operating system releases the lock of a
// terminated process. On file systems without locks, such as those in memory, it succeeds without effect.
func Lock(ctx context.Context, at Location, o LockOptions) (*ProjectLock, error) {
	l := &ProjectLock{at: at, o: o}
	if d := at.disk(); !d.isReal() {
		var err error
		l.d, err = at.prepare()
		return l, err
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
	name := l.d.inState(lockFile)
	file := flock.New(name, flock.SetFlag(os.O_RDWR))
	locked, err := tryLock(file)
	if errors.Is(err, fs.ErrPermission) { // owned by root, whose command may still be running
		file = flock.New(name, flock.SetFlag(os.O_RDONLY))
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
		return false, explain("locking the project with", name, err)
	case !locked:
		return false, nil
	}
	held, err := file.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(name); err == nil && os.SameFile(held, named) {
			var free bool
			if l.rootDir, free = lockRoot(l.at.Root); free {
				l.file = file
				l.writeHolder()
				return true, nil
			}
			_ = l.d.removeState(lockFile)
			_ = file.Unlock()
			_ = os.Remove(l.d.state) // unless it contains other files
			return false, nil
		}
	}
	_ = file.Unlock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, explain("locking the project with", name, err)
	}
	return false, nil
}

// prepare creates the lock file and the directory that it is in, which the command that releases the lock removes.
func (l *ProjectLock) prepare() error {
	d, err := l.at.prepare()
	if err != nil {
		return fmt.Errorf("the project cannot be locked: %w", err)
	}
	l.d = d
	name := d.inState(lockFile)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return &BlockedError{At: name, Problem: "must be a regular file for the project's lock"}
	}
	f, err := d.stateFS.OpenFile(name, os.O_CREATE|os.O_RDWR, FileMode)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed by the command that released the lock
	case errors.Is(err, fs.ErrPermission):
		if _, err := os.Lstat(name); err == nil {
			return nil // owned by root
		}
	}
	return explain("locking the project with", name, err)
}

// writeHolder records the holder in the lock file after its first byte: that byte is locked on Windows, and locked
// bytes cannot be read there. Only messages of waiting commands need it, so a failure is ignored.
func (l *ProjectLock) writeHolder() {
	record, err := json.Marshal(Holder{Command: l.o.Command, PID: os.Getpid()})
	if err != nil {
		return
	}
	f, err := l.d.stateFS.OpenFile(l.d.inState(lockFile), os.O_RDWR, FileMode)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(append(record, '\n'), 1)
	_ = f.Close()
}

// holder reads the command that holds the lock.
func (d disk) holder() Holder {
	f, err := d.stateFS.Open(d.inState(lockFile))
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

// holds reports whether the lock of the project at root is held.
func (l *ProjectLock) holds(root string) bool {
	return l != nil && !l.released && l.at.Root == root
}

// Unlock releases the lock and removes its file. Unlocking twice does nothing.
func (l *ProjectLock) Unlock() error {
	if l == nil || l.released {
		return nil
	}
	l.released = true
	if l.rootDir != nil {
		defer func() { _ = l.rootDir.Close() }() // which unlocks it
	}
	if l.file != nil {
		name := l.d.inState(lockFile)
		if runtime.GOOS == "windows" {
			// Windows cannot remove an open file: not before it is closed here, and not if the next command has opened
			// it meanwhile, which then removes it.
			if err := l.file.Unlock(); err != nil {
				return explain("unlocking", name, err)
			}
			_ = l.d.removeState(lockFile)
		} else {
			removeErr := l.d.removeState(lockFile)
			if err := l.file.Unlock(); err != nil {
				return explain("unlocking", name, err)
			}
			if removeErr != nil {
				return removeErr
			}
		}
	} else if l.d.isReal() {
		_ = l.d.removeState(lockFile)
	}
	// Until here, doneFile shows an interrupted and repeated command that its work was done. Failures are harmless, and
	// another command that waits may have created its own file in the directory.
	_ = l.d.removeState(doneFile)
	if l.d.isReal() {
		_ = os.Remove(l.d.state)
		return nil
	}
	for _, dir := range []string{operonDir + "/state", operonDir} {
		_ = l.d.removeEmpty(dir)
	}
	return nil
}
