package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// faultFs is the real file system with a failing n-th change. Torn writes leave half of their data.
type faultFs struct {
	afero.OsFs
	failAt int
	// forever makes all later changes fail as well, as after the process is killed.
	forever bool
	err     error
	// die is called instead of failing.
	die func()
	// edit is called before the change, which then succeeds.
	edit  func()
	count int
}

func (f *faultFs) Name() string { return f.OsFs.Name() }

func (f *faultFs) mutate() error {
	f.count++
	if f.failAt == 0 || f.count < f.failAt || f.count > f.failAt && !f.forever {
		return nil
	}
	if f.edit != nil {
		f.edit()
		return nil
	}
	if f.die != nil {
		f.die()
	}
	return f.err
}

func (f *faultFs) do(op, name string, run func() error) error {
	if err := f.mutate(); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return run()
}

func (f *faultFs) Mkdir(name string, mode os.FileMode) error {
	return f.do("mkdir", name, func() error { return f.OsFs.Mkdir(name, mode) })
}

func (f *faultFs) MkdirAll(string, os.FileMode) error { panic("not atomic: use Mkdir") }

func (f *faultFs) RemoveAll(string) error { panic("not atomic: use Remove") }

func (f *faultFs) Create(string) (afero.File, error) { panic("mode unknown: use OpenFile") }

func (f *faultFs) Remove(name string) error {
	return f.do("remove", name, func() error { return f.OsFs.Remove(name) })
}

func (f *faultFs) Chmod(name string, mode os.FileMode) error {
	return f.do("chmod", name, func() error { return f.OsFs.Chmod(name, mode) })
}

func (f *faultFs) Rename(from, to string) error {
	if err := f.mutate(); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return f.OsFs.Rename(from, to)
}

func (f *faultFs) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		if err := f.mutate(); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	file, err := f.OsFs.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f, name: name}, nil
}

type faultFile struct {
	afero.File
	fs   *faultFs
	name string
}

func (f *faultFile) Write(p []byte) (int, error) {
	return f.torn(p, f.File.Write)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	return f.torn(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

func (f *faultFile) torn(p []byte, write func([]byte) (int, error)) (int, error) {
	bad := f.fs.edit == nil && f.fs.failAt > 0 && (f.fs.count+1 == f.fs.failAt || f.fs.forever && f.fs.count+1 > f.fs.failAt)
	half := 0
	if bad && f.fs.count+1 == f.fs.failAt {
		half, _ = write(p[:len(p)/2])
	}
	if err := f.fs.mutate(); err != nil {
		return half, &fs.PathError{Op: "write", Path: f.name, Err: err}
	}
	return write(p)
}

// photo returns a tree as text: modes, contents and links of everything below dir.
func photo(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(p string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		switch {
		case info.IsDir():
			fmt.Fprintf(&b, "%s %s\n", filepath.ToSlash(rel), info.Mode())
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			fmt.Fprintf(&b, "%s -> %s\n", filepath.ToSlash(rel), target)
		default:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s %s %q\n", filepath.ToSlash(rel), info.Mode(), data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sources returns a photo without directories and the files of transactions.
func sources(photo string) string {
	var b strings.Builder
	for line := range strings.Lines(photo) {
		if name, mode, _ := strings.Cut(line, " "); !strings.HasPrefix(name, operonDir) && !strings.HasPrefix(mode, "d") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// put writes a file for a test and creates its directories.
func put(t *testing.T, dir, name, content string, mode fs.FileMode) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p, mode); err != nil {
		t.Fatal(err)
	}
}

// symlink creates a symbolic link, which requires a privilege on Windows.
func symlink(t *testing.T, target, link string) {
	t.Helper()
	err := os.Symlink(target, link)
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("Windows requires a privilege for symbolic links: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// oldProject creates a tree with one file of each kind that a commit handles.
func oldProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "PROJECT", "version: old\n", 0o644)
	put(t, dir, "cmd/main.go", "package main\n", 0o644)
	put(t, dir, "hack/run.sh", "#!/bin/sh\n", 0o755)
	put(t, dir, "read-only.txt", "old\n", 0o444)
	put(t, dir, "stale/zz.go", "package stale\n", 0o600)
	put(t, dir, "partly/stale/deep/zz.go", "package deep\n", 0o644)
	put(t, dir, "partly/kept.go", "package partly\n", 0o644)
	put(t, dir, "empty", "", 0o644)
	put(t, dir, "untouched", "mine\r\n", 0o640)
	put(t, dir, "real/linked.yaml", "a: 1\r\n", 0o644)
	symlink(t, "real", filepath.Join(dir, "alias"))
	return dir
}

// newProject is the change that tests commit on oldProject.
func newProject(tree *Tree) error {
	tree.WriteFile("PROJECT", []byte("version: new\n"), 0o644)
	tree.WriteFile("cmd/main.go", []byte("package main\n\nfunc main() {}\n"), 0o600)
	tree.WriteFile("hack/run.sh", []byte("#!/bin/sh\nexit 0\n"), 0o644)
	tree.WriteFile("read-only.txt", []byte("new\n"), 0o644)
	tree.WriteFile("alias/linked.yaml", []byte("a: 2\r\n"), 0o644)
	tree.WriteFile("api/v1alpha1/types.go", []byte("package v1alpha1\n"), 0o644)
	tree.WriteFile("api/v1alpha1/empty.go", nil, 0)
	tree.WriteFile("empty", []byte("filled\n"), 0o644)
	tree.WriteFile("bin/tool", []byte("#!/bin/sh\n"), 0o755)
	tree.Remove("stale/zz.go")
	tree.Remove("partly/stale/deep/zz.go")
	return nil
}

func nothing(*Tree) error { return nil }

func update(fsys afero.Fs, dir string, change func(*Tree) error) (*Updated, error) {
	return Update(context.Background(), at(fsys, dir), LockOptions{Command: "operon create api"}, change)
}

func mustUpdate(t *testing.T, dir string, change func(*Tree) error) *Updated {
	t.Helper()
	u, err := update(afero.NewOsFs(), dir, change)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// newPhoto returns the photo of oldProject after newProject.
func newPhoto(t *testing.T) string {
	t.Helper()
	dir := oldProject(t)
	mustUpdate(t, dir, newProject)
	return photo(t, dir)
}

// at returns the location of a project whose state is in a directory beside it.
func at(fsys afero.Fs, root string) Location {
	return Location{FS: fsys, Root: root, StateDirs: []string{root + "-state"}}
}

// stateOf returns the state directory of the project at root.
func stateOf(t *testing.T, root string) string {
	t.Helper()
	d, _, err := at(afero.NewOsFs(), root).find()
	if err != nil {
		t.Fatal(err)
	}
	return d.state
}
