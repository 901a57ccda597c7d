//go:build linux

package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// hierarchies are the folders that control groups are made in: one with cgroup v2, one for each controller with v1.
func hierarchies() ([]string, error) {
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && strings.HasPrefix(fields[2], "cgroup") && strings.HasPrefix(fields[1], cgroupRoot) {
			found = append(found, fields[1])
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no control groups are mounted below " + cgroupRoot)
	}
	return found, nil
}

// makeCgroups makes the control group below which kubelet puts those of pods.
func makeCgroups(name string) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range roots {
		group := filepath.Join(root, name)
		if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// With v1, a new group has no processors and no memory until it is given some.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			all, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				continue // not the hierarchy with this controller
			}
			if err := os.WriteFile(filepath.Join(group, file), all, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeCgroups removes the control group of a node and all below it. The system takes a moment to let go of
// the groups of processes that have just died.
func removeCgroups(name string) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var failed error
		for _, root := range roots {
			failed = errors.Join(failed, removeCgroup(filepath.Join(root, name)))
		}
		if failed == nil || time.Now().After(deadline) {
			return failed
		}
	}
}

// removeCgroup removes a control group, the deepest first. Their files go with them.
func removeCgroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			err = errors.Join(err, removeCgroup(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// RemoveUnusedCgroups removes the control groups of nodes that have no process left and whose directory is gone, so that
// no Start removes them: nodes on a fresh machine that was thrown away.
func RemoveUnusedCgroups() error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, root := range roots {
		groups, err := filepath.Glob(filepath.Join(root, namePrefix+"*"))
		if err != nil {
			return err
		}
		for _, group := range groups {
			processes, err := hasProcesses(group)
			if err != nil {
				return err
			}
			name := filepath.Base(group)
			used[name] = used[name] || processes
		}
	}
	for name := range used {
		if !used[name] {
			err = errors.Join(err, removeCgroups(name))
		}
	}
	return err
}

// hasProcesses reports whether a control group or one below it has processes.
func hasProcesses(dir string) (found bool, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "cgroup.procs" {
			return err
		}
		text, err := os.ReadFile(name)
		found = found || len(text) > 0
		return err
	})
	return found, err
}
