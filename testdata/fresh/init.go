//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/operon-sdk/operon/testdata/ansible"
)

// Where the disk is mounted until the machine's root is replaced; afterwards /tmp is empty.
const diskDir = "/tmp"

// runInit is the first process on the fresh machine. It returns the exit code.
func runInit() int {
	var s settings
	err := json.Unmarshal([]byte(os.Getenv(settingsVariable)), &s)
	if err == nil {
		err = os.Unsetenv(settingsVariable)
	}
	if err == nil {
		err = enter(s)
	}
	if err == nil {
		err = purge()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: preparing the fresh machine:", err)
		return 1
	}
	code, err := supervise(filepath.Join(s.Home, "operon"), "bash", "-c", s.Command)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %s: %v\n", s.Command, err)
		return 1
	}
	return code
}

// enter makes an overlay of the machine's files the root directory, with a clone of the repository in the home directory.
func enter(s settings) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts private: %w", err)
	}
	// Git finds the repository by the number of this process.
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	repository, err := os.Open(s.Repository) // which may be below diskDir
	if err != nil {
		return err
	}
	defer func() { _ = repository.Close() }() // nothing was written
	resolver, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return err
	}
	layers, err := realMounts()
	if err != nil {
		return fmt.Errorf("listing mounts: %w", err)
	}
	if err := unix.Mount(s.Device, diskDir, "ext4", unix.MS_NOATIME, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", s.Device, err)
	}
	root := filepath.Join(diskDir, "root")
	for i, dir := range layers {
		if err := overlay(dir, filepath.Join(diskDir, fmt.Sprint("layer", i)), filepath.Join(root, dir)); err != nil {
			return err
		}
	}
	if err := own(root, s.Home, 0o700); err != nil {
		return err
	}
	if err := clone(repository, s.Commit, filepath.Join(root, s.Home, "operon")); err != nil {
		return err
	}
	if err := own(root, "/tmp", 0o777|os.ModeSticky); err != nil {
		return err
	}
	if err := own(root, "/var/tmp", 0o777|os.ModeSticky); err != nil {
		return err
	}
	for _, m := range []struct {
		source, target, kind, data string
		flags                      uintptr
	}{
		{"proc", "/proc", "proc", "", 0},
		{"/sys", "/sys", "", "", unix.MS_BIND | unix.MS_REC},
		{"/dev", "/dev", "", "", unix.MS_BIND | unix.MS_REC},
		{"tmpfs", "/run", "tmpfs", "mode=755", 0},
	} {
		if err := unix.Mount(m.source, filepath.Join(root, m.target), m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mounting %s: %w", m.target, err)
		}
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	// Both mounts are at / then, and the machine's own is the upper one.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("replacing the root directory: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the machine's root directory: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	// It may be a link to a file below /run.
	if err := os.Remove("/etc/resolv.conf"); err != nil {
		return err
	}
	return os.WriteFile("/etc/resolv.conf", resolver, 0o644)
}

// realMounts lists where file systems with files of the machine are mounted, beginning with /.
func realMounts() ([]string, error) {
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	dirs := []string{"/"}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		dir := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[1])
		switch fields[2] {
		case "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "xfs", "zfs":
			info, err := os.Stat(dir)
			if err == nil && info.IsDir() && dir != "/" && !within(diskDir, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs, nil
}

// overlay mounts the files of lower at target, so that changes go to dir.
func overlay(lower, dir, target string) error {
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	for _, made := range []string{upper, work, target} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			return err
		}
	}
	options := strings.Join([]string{"lowerdir=" + lower, "upperdir=" + upper, "workdir=" + work}, ",")
	if err := unix.Mount("overlay", target, "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay of %s: %w", lower, err)
	}
	return nil
}

// own puts an empty directory of the disk in the place of one of the machine.
func own(root, name string, mode os.FileMode) error {
	empty := filepath.Join(diskDir, "own", name)
	if err := os.MkdirAll(empty, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(empty, mode); err != nil {
		return err
	}
	target := filepath.Join(root, name)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(empty, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", name, err)
	}
	return nil
}

// clone clones a commit of a repository.
func clone(repository *os.File, commit, to string) error {
	from := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), repository.Fd())
	for _, args := range [][]string{
		{"clone", "--quiet", "--no-checkout", from, to},
		{"-C", to, "-c", "advice.detachedHead=false", "checkout", "--quiet", commit},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// purge removes the packages that the tests install, and apt's lists.
func purge() error {
	var installed []string
	for _, name := range append(ansible.Packages(), "ansible-core", "containerd", "runc", "containernetworking-plugins", "iptables", "iproute2") {
		status, err := exec.Command("dpkg-query", "--show", "--showformat", "${db:Status-Status}", name).Output()
		if err == nil && string(status) == "installed" { // it fails for a package that was never installed
			installed = append(installed, name)
		}
	}
	if len(installed) > 0 {
		c := exec.Command("apt-get", append([]string{"purge", "--yes"}, installed...)...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get purge: %w\n%s", err, out)
		}
	}
	lists, err := filepath.Glob("/var/lib/apt/lists/*")
	if err != nil {
		return err
	}
	for _, name := range lists {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// supervise runs a program in dir to its end and meanwhile waits for orphans, as the first process has to.
func supervise(dir, name string, args ...string) (int, error) {
	program, err := exec.LookPath(name)
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(program, append([]string{name}, args...), &syscall.ProcAttr{
		Dir: dir, Env: append(os.Environ(), "PWD="+dir), Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		return 0, err
	}
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case ended == pid && status.Signaled():
			return 0, fmt.Errorf("killed by %s", status.Signal())
		case ended == pid:
			return status.ExitStatus(), nil
		}
	}
}
