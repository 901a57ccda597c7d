package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
)

// killVariable makes the test binary be operon, and end itself without a chance to clean up at the
// n-th change of the file system. 0 never ends it.
const killVariable = "OPERON_TEST_KILL_AT"

// cacheVariable names the caches of such a process.
const cacheVariable = "OPERON_TEST_CACHE"

func killedProgram(at string) int {
	n, err := strconv.Atoi(at)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	env, err := cmd.System()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if dir := os.Getenv(cacheVariable); dir != "" {
		env.CacheDir = dir
	}
	env.FS = &killingFs{Fs: env.FS, left: n}
	return cmd.Main(context.Background(), env, append([]string{"operon"}, os.Args[1:]...))
}

// killingFs is a disk whose n-th change never happens, nor anything after it.
type killingFs struct {
	afero.Fs
	left int
}

// change is called before every change.
func (k *killingFs) change() {
	k.left--
	if k.left != 0 {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	fmt.Fprintln(os.Stderr, "killing:", err)
	select {}
}

func (k *killingFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) == 0 {
		return k.Fs.OpenFile(name, flag, mode)
	}
	k.change()
	f, err := k.Fs.OpenFile(name, flag, mode)
	return killingFile{File: f, fs: k}, err
}

func (k *killingFs) Create(name string) (afero.File, error) {
	return k.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (k *killingFs) Mkdir(name string, mode fs.FileMode) error {
	k.change()
	return k.Fs.Mkdir(name, mode)
}

func (k *killingFs) MkdirAll(name string, mode fs.FileMode) error {
	k.change()
	return k.Fs.MkdirAll(name, mode)
}

func (k *killingFs) Remove(name string) error {
	k.change()
	return k.Fs.Remove(name)
}

func (k *killingFs) RemoveAll(name string) error {
	k.change()
	return k.Fs.RemoveAll(name)
}

func (k *killingFs) Rename(from, to string) error {
	k.change()
	return k.Fs.Rename(from, to)
}

func (k *killingFs) Chmod(name string, mode fs.FileMode) error {
	k.change()
	return k.Fs.Chmod(name, mode)
}

// killingFile writes half of what it is given when its turn comes: a torn write.
type killingFile struct {
	afero.File
	fs *killingFs
}

func (f killingFile) Write(p []byte) (int, error) {
	if f.fs.left == 1 {
		if _, err := f.File.Write(p[:len(p)/2]); err != nil {
			return 0, err
		}
	}
	f.fs.change()
	return f.File.Write(p)
}

// TestKillAtEveryWrite kills a command at each of its changes of the disk. The same command again
// must give the same tree as if nothing had happened.
func TestKillAtEveryWrite(t *testing.T) {
	t.Parallel()
	initialise := []string{"init", "--domain", "example.com", "--repo", "example.com/crash", "--project-name", "crash"}
	create := []string{"create", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--resource", "--controller"}
	webhooks := []string{"create", "webhook", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--defaulting", "--programmatic-validation"}
	for _, tc := range []struct {
		name    string
		before  [][]string
		command []string
		// stride is how many changes lie between two kills, for commands that take long.
		stride int
	}{
		{name: "init", command: initialise, stride: 1},
		{name: "create api", before: [][]string{initialise}, command: create, stride: 1},
		{name: "create webhook", before: [][]string{initialise, create}, command: webhooks, stride: 5},
		{name: "edit", before: [][]string{initialise, create}, command: []string{"edit", "--multigroup"}, stride: 11},
		{name: "bundle", before: [][]string{initialise, create}, command: []string{"bundle", "--version", "0.0.1", "--image", "example.com/crash:v1"}, stride: 7},
		{name: "delete api", before: [][]string{initialise, create}, stride: 11,
			command: []string{"delete", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached"}},
		{name: "delete webhook", before: [][]string{initialise, create, webhooks}, stride: 13,
			command: []string{"delete", "webhook", "--group", "cache", "--version", "v1", "--kind", "Memcached"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			for _, args := range tc.before {
				operon(t, base, args...)
			}
			want := copyTree(t, base)
			operon(t, want, tc.command...)
			killed := 0
			for n := 1; ; n += tc.stride {
				dir := copyTree(t, base)
				err := operonProcess(dir, n, tc.command...)
				if err == nil {
					break // the command has fewer than n changes
				}
				killed++
				if !wasKilled(err) {
					t.Fatalf("change %d: the command was not killed but failed: %v", n, err)
				}
				// Past the commit point the command is done; before it the same command completes it.
				if err := operonProcess(dir, 0, tc.command...); err != nil && !done(t, want, dir) {
					t.Fatalf("change %d: the same command again: %v", n, err)
				}
				compareTrees(t, want, dir)
				if t.Failed() {
					t.Fatalf("after a kill at change %d", n)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			if killed < 10 {
				t.Errorf("only %d kills: the command hardly writes", killed)
			}
		})
	}
}

// operonProcess runs the test binary as operon, to be killed at its n-th change.
func operonProcess(dir string, n int, args ...string) error {
	c := exec.Command(os.Args[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), killVariable+"="+strconv.Itoa(n))
	if args[0] == "bundle" { // it says when it was made, and remembers folders, which are gone tomorrow
		c.Env = append(c.Env, "SOURCE_DATE_EPOCH=1767225600", cacheVariable+"="+filepath.Join(filepath.Dir(filepath.Dir(dir)), "cache"))
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

func wasKilled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && !exit.Exited()
}

func done(t *testing.T, want, got string) bool {
	t.Helper()
	a, b := readTree(t, want), readTree(t, got)
	for name, content := range a {
		if b[name] != content {
			return false
		}
	}
	return len(a) == len(b)
}

// copyTree copies a folder to a new one of the same base name.
func copyTree(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
