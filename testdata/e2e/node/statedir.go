//go:build linux

package node

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// stateDir is the folder of one node. Its lock is held as long as this process lives, so that others can tell the
// folders of processes that were killed.
type stateDir struct {
	path, id string
	lock     *flock.Flock
}

// newStateDir makes the folder of a node and removes all that nodes of dead processes left.
func newStateDir(ctx context.Context, parent string) (*stateDir, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	unguard, err := guard(parent)
	if err != nil {
		return nil, err
	}
	defer unguard()
	if err := sweep(ctx, parent); err != nil {
		return nil, fmt.Errorf("removing what a killed node left: %w", err)
	}
	// Names of network devices have 15 letters at most.
	id := make([]byte, 4)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	d := openStateDir(filepath.Join(parent, dirPrefix+hex.EncodeToString(id)))
	if locked, err := d.lock.TryLock(); err != nil || !locked {
		return nil, fmt.Errorf("locking a new folder: %w", errors.Join(err, errors.New("its lock is taken")))
	}
	return d, os.Mkdir(d.path, 0o755)
}

func openStateDir(path string) *stateDir {
	return &stateDir{
		path: path, id: strings.TrimPrefix(filepath.Base(path), dirPrefix),
		lock: flock.New(path+lockSuffix, flock.SetPermissions(0o600)),
	}
}

// guard lets one process at a time make and sweep folders, so that none is taken for a dead process's before it has
// its lock.
func guard(parent string) (release func(), err error) {
	lock := flock.New(filepath.Join(parent, "lock"))
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("locking the folder of nodes: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

// Sweep removes what nodes left whose processes were killed, as Start does.
func Sweep(ctx context.Context, stateDir string) error {
	if err := os.MkdirAll(stateDir, 0o755); err != nil {
		return err
	}
	release, err := guard(stateDir)
	if err != nil {
		return err
	}
	defer release()
	return sweep(ctx, stateDir)
}

// sweep removes what dead processes' nodes left.
func sweep(ctx context.Context, parent string) error {
	locks, err := filepath.Glob(filepath.Join(parent, dirPrefix+"*"+lockSuffix))
	if err != nil {
		return err
	}
	for _, lock := range locks {
		d := openStateDir(strings.TrimSuffix(lock, lockSuffix))
		if locked, lockErr := d.lock.TryLock(); lockErr == nil && locked {
			err = errors.Join(err, d.remove(ctx))
		}
	}
	return err
}

// remove removes all that a node leaves when its processes are dead. Those may take a moment to die.
func (d *stateDir) remove(ctx context.Context) error {
	err := errors.Join(unlink(ctx, linkPrefix+d.id), removeCgroups(namePrefix+d.id), removeAll(d.path))
	if err != nil {
		return errors.Join(fmt.Errorf("removing the node %s: %w", namePrefix+d.id, err), d.lock.Close())
	}
	return errors.Join(os.Remove(d.lock.Path()), d.lock.Close())
}

// removeAll removes a folder. Processes that are about to die may still write into it.
func removeAll(path string) (err error) {
	for range 50 {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// stacks tells whether file systems can be stacked over a folder; those of containers often can't.
func stacks(dir string) bool {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return false
	}
	return stat.Type != unix.OVERLAYFS_SUPER_MAGIC && stat.Type != unix.TMPFS_MAGIC
}
