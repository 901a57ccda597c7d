//go:build linux

// Fresh runs a command in a clean clone of HEAD, on a throwaway copy of this machine: all its files in an overlay, with
// an empty home directory, empty caches, an empty /tmp, and without the packages that the end-to-end tests install. It
// needs Linux and root, and leaves nothing behind.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/operon-sdk/operon/testdata/e2e/node"
)

// initRole is the argument with which the program calls itself to be the first process on the fresh machine.
const initRole = "fresh-init"

// settings are what the first process on the fresh machine needs, as JSON in settingsVariable.
type settings struct {
	// Repository is the path of the repository, Commit what to clone.
	Repository, Commit string
	// Command is run by bash.
	Command string
	// Home is the home directory, Go the Go installation.
	Home, Go string
	// Network are the go command's settings for proxies and checksums, some of which may be in a file in Home.
	Network map[string]string
	// Device is the block device for all that is written.
	Device string
}

const settingsVariable = "FRESH_SETTINGS"

func main() {
	if len(os.Args) > 1 && os.Args[1] == initRole {
		os.Exit(runInit())
	}
	dir := flag.String("dir", "/var/tmp", "directory for the files that are written; they are deleted from the start")
	size := flag.Int64("size", 64, "maximum size of those files in GiB")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "error: usage: fresh [-dir DIR] [-size GIB] COMMAND")
		os.Exit(2)
	}
	code, err := run(flag.Arg(0), *dir, *size<<30)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(command, dir string, size int64) (int, error) {
	if os.Geteuid() != 0 {
		return 0, errors.New("a fresh machine needs root: namespaces, mounts and apt-get")
	}
	// With the process that started this one, such as make, all of this ends.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0); err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := newSettings(command)
	if err != nil {
		return 0, err
	}
	disk, err := newDisk(ctx, dir, size)
	if err != nil {
		return 0, fmt.Errorf("making a disk in %s: %w", dir, err)
	}
	defer func() { _ = disk.Close() }() // the system removes it with its last user
	s.Device = disk.Name()
	start := time.Now()
	code, err := startInit(ctx, s)
	if err := errors.Join(err, node.RemoveUnusedCgroups()); err != nil {
		return 0, err
	}
	fmt.Printf("\n==> on a fresh machine: %s: exit code %d after %s\n", command, code, time.Since(start).Round(time.Second))
	return code, nil
}

func newSettings(command string) (settings, error) {
	s := settings{Command: command}
	var err error
	if s.Home, err = os.UserHomeDir(); err != nil {
		return s, err
	}
	for _, v := range []struct {
		value *string
		name  string
		args  []string
	}{
		{&s.Go, "go", []string{"env", "GOROOT"}},
		{&s.Repository, "git", []string{"rev-parse", "--show-toplevel"}},
		{&s.Commit, "git", []string{"rev-parse", "HEAD"}},
	} {
		out, err := exec.Command(v.name, v.args...).Output()
		if err != nil {
			return s, fmt.Errorf("%s %s: %w", v.name, strings.Join(v.args, " "), err)
		}
		*v.value = strings.TrimSpace(string(out))
	}
	out, err := exec.Command("go", "env", "-json", "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOVCS").Output()
	if err == nil {
		err = json.Unmarshal(out, &s.Network)
	}
	if err != nil {
		return s, fmt.Errorf("reading the settings of the go command: %w", err)
	}
	if within(s.Home, s.Go) {
		return s, fmt.Errorf("the Go installation %s is below the home directory, which a fresh machine does not have; use one that is not", s.Go)
	}
	return s, nil
}

func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// startInit runs the first process of the fresh machine in new namespaces, and returns its exit code. All processes there
// end with it, and it ends with this process or its context.
func startInit(ctx context.Context, s settings) (int, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	c := exec.CommandContext(ctx, "/proc/self/exe", initRole)
	c.Env = append(environment(s), settingsVariable+"="+string(encoded))
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	// The system sends that signal when the thread that started the process ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = c.Run()
	if ctx.Err() != nil {
		return 0, errors.New("interrupted")
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// environment is that of this process without the variables that name caches, tools and settings of the user or of make.
func environment(s settings) []string {
	var kept []string
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "HOME", "PWD", "OLDPWD", "TMPDIR", "GOPATH", "GOBIN", "GOENV", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOWORK",
			"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KUBECONFIG", "KUBEBUILDER_ASSETS", "E2E_REGISTRY", "FRESH":
			continue
		case "PATH":
			var dirs []string
			for _, dir := range filepath.SplitList(value) {
				if !within(s.Home, dir) {
					dirs = append(dirs, dir)
				}
			}
			entry = "PATH=" + strings.Join(dirs, ":")
		}
		if !strings.HasPrefix(name, "XDG_") {
			kept = append(kept, entry)
		}
	}
	for name, value := range s.Network {
		kept = append(kept, name+"="+value)
	}
	return append(kept, "HOME="+s.Home)
}
