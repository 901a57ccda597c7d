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

// How often Lock looks for the lock, and when it reports that it waits: first and from then on.
const (
	lockPoll     = 20 * time.Millisecond
	firstNotice  = 2 * time.Second
	noticePeriod = 30 * time.Second
)

// LockOptions say who takes the lock of a project, and how to wait for another command that holds it.
type LockOptions struct {
	// Command is recorded in the lock for others to name, such as "operon create api".
	Command string
	// Timeout is how long to wait at most. Zero is as long as another command holds the lock.
	Timeout time.Duration
	// Waiting, unless nil, is called after two seconds and every 30 seconds from then on, with how long it has waited.
	Waiting func(holder Holder, waited time.Duration)
	// Unlocked, unless nil, is called if the file system has no locks, so that nothing keeps two commands apart.
	Unlocked func()
	// tryLock is (*flock.Flock).TryLock but in tests.
	tryLock func(*flock.Flock) (bool, error)
}

// Holder is the command that holds a project's lock. It is the zero value if that is not recorded yet.
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

// ProjectLock is held by the one command that may change a project.
type ProjectLock struct {
	d        disk
	o        LockOptions
	file     *flock.Flock // nil where the file system has no locks
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

// Lock takes the lock of the project at root. It waits for another command that holds it, and fails with a *BusyError after
// the timeout. The operating system releases the lock of a process that died. File systems in memory, and those that cannot
// lock, give a lock that excludes nobody.
func Lock(ctx context.Context, fsys afero.Fs, root string, o LockOptions) (*ProjectLock, error) {
	l := &ProjectLock{d: disk{fs: fsys, root: root}, o: o}
	if !l.d.real() {
		return l, nil
	}
	var timeout, notice <-chan time.Time // none fires while it is nil
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
		// Windows denies access to what is being removed: that may be the other command's end.
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

// try takes the lock if it is free. The file of a lock is removed by whoever releases it, so what was
// locked counts only if it is still the file of that name.
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
	if errors.Is(err, fs.ErrPermission) { // the file of another user: the command of that user may still be running
		file = flock.New(l.d.abs(lockFile), flock.SetFlag(os.O_RDONLY))
		locked, err = tryLock(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // released and removed a moment ago
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
			l.sign()
			return true, nil
		}
	}
	_ = file.Unlock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, explain("locking the project with", lockFile, err)
	}
	return false, nil
}

// prepare makes sure that there is a lock file to open.
func (l *ProjectLock) prepare() error {
	switch err := l.d.fs.Mkdir(l.d.abs(operonDir), dirMode); {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the project's folder does not exist")
	case err != nil && !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("the project cannot be changed: %w", explain("creating the folder", operonDir, err))
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
			return &BlockedError{At: name, Problem: "is in the way of the project's lock, which needs a " + want}
		}
	}
	f, err := l.d.fs.OpenFile(l.d.abs(lockFile), os.O_CREATE|os.O_RDWR, FileMode)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil // the directory was removed a moment ago by the command that released the lock
	case errors.Is(err, fs.ErrPermission) && l.d.exists(lockFile):
		return nil // another user's
	default:
		_ = l.d.removeEmpty(operonDir)
		return explain("locking the project with", lockFile, err)
	}
}

// sign records the holder in the lock file, after its first byte: that byte is what Windows locks, and locked bytes cannot be
// read there. Only messages of commands that wait need it, so a failure is ignored.
func (l *ProjectLock) sign() {
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

// holder reads who holds the lock.
func (d disk) holder() Holder {
	f, err := d.fs.Open(d.abs(lockFile))
	if err != nil {
		return Holder{}
	}
	defer f.Close()
	var holder Holder
	// What follows the first JSON value is left from a longer record of a process that died.
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
			// An open file cannot be removed there: neither by us before closing it, nor after that
			// when the next command has opened it, which then removes it in its turn.
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
	} else if l.d.real() {
		_ = l.d.removeFile(lockFile)
	}
	// Up to here the command can tell, when it is killed and run again, that its work was done. What
	// stays of this does no harm, and a command that waits may have put its own file into the folder.
	_ = l.d.removeFile(doneFile)
	_ = l.d.removeEmpty(operonDir)
	return nil
}
