package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

func artifactsOf(dir, ident string) string { return filepath.Join(dir, artifactsDir, ident) }

// disk limits the total size of artifacts.
type disk struct {
	limit int64

	mu sync.Mutex
	// runs are the artifacts of ended runs, oldest first.
	runs  []artifacts
	total int64
}

type artifacts struct {
	path string
	size int64
}

// add records the artifacts of an ended run in a run directory, drops the ones that ansible-runner has removed there, and removes
// the oldest of all until the total size is within the limit.
func (d *disk) add(dir, ident string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	prefix := filepath.Join(dir, artifactsDir) + string(filepath.Separator)
	d.filter(func(a artifacts) bool {
		if !strings.HasPrefix(a.path, prefix) {
			return true
		}
		_, err := os.Lstat(a.path)
		return err == nil
	})
	path := artifactsOf(dir, ident)
	size := sizeOf(path)
	d.runs, d.total = append(d.runs, artifacts{path, size}), d.total+size
	if d.limit < 0 {
		return nil
	}
	return d.shrink(d.limit)
}

// adopt records the artifacts of runs of former operators, oldest first.
func (d *disk) adopt(paths []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range paths {
		size := sizeOf(path)
		d.runs, d.total = append(d.runs, artifacts{path, size}), d.total+size
	}
	if d.limit < 0 {
		return nil
	}
	return d.shrink(d.limit)
}

// exceeds reports whether the artifacts of one run exceed the limit for all.
func (d *disk) exceeds(artifacts string) bool { return d.limit >= 0 && sizeOf(artifacts) > d.limit }

// free removes the artifacts of all ended runs but the latest half, when the file system is full.
func (d *disk) free() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shrink(d.total / 2)
}

func (d *disk) shrink(limit int64) error {
	var errs []error
	for d.total > limit && len(d.runs) > 0 {
		oldest := d.runs[0]
		errs = append(errs, os.RemoveAll(oldest.path))
		d.runs, d.total = d.runs[1:], d.total-oldest.size
	}
	return errors.Join(errs...)
}

// drop drops the artifacts of a run directory that is removed.
func (d *disk) drop(dir string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	prefix := dir + string(filepath.Separator)
	d.filter(func(a artifacts) bool { return !strings.HasPrefix(a.path, prefix) })
}

func (d *disk) filter(keep func(artifacts) bool) {
	d.runs = slices.DeleteFunc(d.runs, func(a artifacts) bool {
		if keep(a) {
			return false
		}
		d.total -= a.size
		return true
	})
}

// blockSize is the space that each file and directory occupies at least.
const blockSize = 4096

// sizeOf returns the space that a directory occupies.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		size += blockSize
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += (info.Size() - 1) / blockSize * blockSize
		}
		return nil
	})
	return size
}

// describeFull adds what to do to an error of a full file system.
func describeFull(err error, dir string) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; free space or inodes on the file system of %s, or reduce the limit for artifacts", err, dir)
	}
	return err
}
