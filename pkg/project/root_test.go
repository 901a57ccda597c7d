package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

func write(t *testing.T, parts ...string) {
	t.Helper()
	name, content := filepath.Join(parts[:len(parts)-1]...), parts[len(parts)-1]
	check(t, os.MkdirAll(filepath.Dir(name), 0o755))
	check(t, os.WriteFile(name, []byte(content), 0o644))
}

func TestFindRoot(t *testing.T) {
	t.Parallel()
	disk := afero.NewOsFs()
	dir := t.TempDir()
	sub := filepath.Join(dir, "api", "v1")
	check(t, os.MkdirAll(sub, 0o755))
	if _, err := FindRoot(disk, sub); !errors.Is(err, ErrNotAProject) {
		t.Errorf("got %v", err)
	}
	write(t, dir, FileName, "layout: go.kubebuilder.io/v4\nversion: \"3\"\n")
	for _, from := range []string{dir, sub, sub + string(filepath.Separator)} {
		if root, err := FindRoot(disk, from); root != dir || err != nil {
			t.Errorf("got %s, %v", root, err)
		}
	}
	if c, err := Load(disk, dir); err != nil || c.Layout()[0] != LayoutGoV4 {
		t.Errorf("got %v, %v", c, err)
	}
	// A directory of that name is ignored.
	check(t, os.Mkdir(filepath.Join(sub, FileName), 0o755))
	if root, err := FindRoot(disk, sub); root != dir || err != nil {
		t.Errorf("got %s, %v", root, err)
	}
	if _, err := Load(disk, sub); err == nil || !strings.Contains(err.Error(), "PROJECT is a directory") {
		t.Errorf("got %v", err)
	}
	check(t, os.Remove(filepath.Join(dir, FileName)))
	if _, err := FindRoot(disk, sub); !errors.Is(err, ErrNotAProject) || !strings.HasSuffix(err.Error(), "(PROJECT is a directory)") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(disk, dir); !errors.Is(err, ErrNotAProject) {
		t.Errorf("got %v", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, FileName)); err == nil {
		if _, err := FindRoot(disk, filepath.Join(dir, "api")); err == nil || err.Error() != "../PROJECT: the symbolic link is broken; restore the file, or remove the link" {
			t.Errorf("got %v", err)
		}
	}
}

// denied is a file system whose PROJECT may not be looked at.
type denied struct{ afero.Fs }

func (d denied) Stat(name string) (os.FileInfo, error) {
	if filepath.Base(name) == FileName {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
	}
	return d.Fs.Stat(name)
}

func (d denied) Open(name string) (afero.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	fsys := denied{afero.NewMemMapFs()}
	if _, err := FindRoot(fsys, filepath.FromSlash("/a/b")); err == nil || err.Error() != "PROJECT: permission denied" {
		t.Errorf("got %v", err)
	}
	if _, err := Load(fsys, filepath.FromSlash("/a/b")); err == nil || err.Error() != "reading PROJECT: permission denied" {
		t.Errorf("got %v", err)
	}
}

func TestInferRepo(t *testing.T) {
	t.Parallel()
	disk := afero.NewOsFs()
	remote := func(url string) string {
		return "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = " + url + "\n\tfetch = x\n"
	}
	infer := func(dir, gopath, want string) {
		t.Helper()
		got, _, err := InferRepo(disk, dir, gopath)
		if err != nil {
			got = err.Error()
		}
		if strings.Contains(got, dir) || !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	base := t.TempDir()
	dir := filepath.Join(base, "src", "example.com", "My-App")
	check(t, os.MkdirAll(dir, 0o755))
	infer(dir, "", "the directory has no go.mod, is not below src in GOPATH, and has no git remote; pass the Go module path, such as --repo github.com/example/my-app")
	write(t, dir, ".git", "config", remote("https://me:secret@git.example.com:8443/o/app.git"))
	infer(dir, "", "git.example.com/o/app")
	sub := filepath.Join(dir, "sub", "x")
	check(t, os.MkdirAll(sub, 0o755))
	infer(sub, "", "git.example.com/o/app/sub/x")
	infer(dir, "relative"+string(filepath.ListSeparator)+filepath.Join(base, "other")+string(filepath.ListSeparator)+base, "example.com/My-App")
	write(t, dir, "go.mod", "// mine\nmodule \"a.b/c\" // here\n\ngo 1.26\n\nfuture x\n")
	infer(dir, base, "a.b/c")
	write(t, dir, "go.mod", "go 1.26\n")
	infer(dir, base, "go.mod:1: there is no module line")
	write(t, dir, "go.mod", "// x\nmodule a b c\n")
	infer(dir, base, "go.mod:2: ")

	// A worktree and a submodule have the configuration in another directory.
	write(t, base, "main", ".git", "config", remote("git@github.com:o/main.git"))
	write(t, base, "main", ".git", "worktrees", "w", "commondir", "../..\n")
	write(t, base, "tree", ".git", "gitdir: "+filepath.Join(base, "main", ".git", "worktrees", "w")+"\n")
	infer(filepath.Join(base, "tree"), "", "github.com/o/main")
	write(t, base, "main", ".git", "modules", "s", "config", remote("ssh://git@github.com:22/o/sub"))
	write(t, base, "main", "s", ".git", "gitdir: ../.git/modules/s\n")
	infer(filepath.Join(base, "main", "s"), "", "github.com/o/sub")
	write(t, base, "broken", ".git", "nonsense")
	infer(filepath.Join(base, "broken"), "", "the directory has no go.mod")
	write(t, base, "local", ".git", "config", remote("https://me:secret@/srv"))
	infer(filepath.Join(base, "local"), "", "the directory has no go.mod, and the git remote \"https://")
	if _, _, err := InferRepo(disk, filepath.Join(base, "local"), ""); strings.Contains(err.Error(), "secret") {
		t.Errorf("credentials in %v", err)
	}
}

func TestRemotePath(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/o/r.git":          "github.com/o/r",
		"https://github.com/o/r/":             "github.com/o/r",
		"http://user:pw@Host.example:80/a/b":  "host.example/a/b",
		"git@github.com:o/r.git":              "github.com/o/r",
		"github.com:o/r":                      "github.com/o/r",
		"ssh://git@host.example:2222/o/r.git": "host.example/o/r",
		"git+ssh://git@host.example/o/r":      "host.example/o/r",
		"git://host.example/r.git":            "host.example/r",
		"file:///srv/r.git":                   "",
		"/srv/r.git":                          "",
		"../r":                                "",
		`C:\work\r`:                           "",
		"./a:b":                               "",
		"https://host.example":                "",
		"host.example:":                       "",
		"https://%zz":                         "",
		"git@host.example:~me/r":              "",
		"":                                    "",
	} {
		if got := remotePath(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

func TestRemoteURL(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"[remote \"origin\"]\nurl = a:b\n":                                       "a:b",
		"[Remote \"origin\"] # x\r\n\tURL=\"a:b #c\" ; d\r\n":                    "a:b #c",
		"[remote \"up\"]\nurl = u:1\n[remote \"origin\"]\nurl = o:1 # c\n":       "o:1",
		"[remote \"up\"]\nurl = u:1\n":                                           "u:1",
		"[remote \"up\"]\nurl = u:1\n[remote \"down\"]\nurl = d:1\n":             "",
		"[remote \"origin\"]\npushurl = p:1\n; url = c:1\n[branch \"x\"]\nurl=y": "",
		"[":                "",
		"url = x\n[remote": "",
	} {
		if got := remoteURL(config); got != want {
			t.Errorf("%q: got %q, want %q", config, got, want)
		}
	}
}
