package refactor

import (
	"errors"
	"maps"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// onDisk lays files into a file system, as a project is before a command.
func onDisk(t *testing.T, files map[string]string) *worktree.Tree {
	t.Helper()
	fs := afero.NewMemMapFs()
	for name, text := range files {
		if err := afero.WriteFile(fs, path.Join("/walk", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return worktree.NewTree(fs, "/walk")
}

// toV4 moves a project, PROJECT included.
func toV4(tree *worktree.Tree) (*Layout, error) {
	text, err := tree.ReadFile("PROJECT")
	if err != nil {
		return nil, err
	}
	config, err := project.Parse(text)
	if err != nil {
		return nil, err
	}
	l, err := MoveToV4(tree, config)
	if err != nil {
		return nil, err
	}
	tree.WriteFile("PROJECT", config.Bytes(), 0o644)
	return l, nil
}

// all are the files of a tree.
func all(t *testing.T, tree *worktree.Tree) map[string]string {
	t.Helper()
	names, err := tree.Walk(".", nil)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		text, err := tree.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// TestToV4 moves the projects of testdata, with either end of lines.
func TestToV4(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/layout_*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for end, ends := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
			t.Run(path.Base(filepath.ToSlash(name))+"/"+end, func(t *testing.T) {
				t.Parallel()
				files, want := map[string]string{}, map[string]string{}
				for _, f := range archive.Files {
					text := strings.ReplaceAll(string(f.Data), "\n", ends)
					if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
						want[name] = text
					} else {
						files[f.Name] = text
					}
				}
				tree := onDisk(t, files)
				l, err := toV4(tree)
				if err != nil {
					t.Fatal(err)
				}
				if err := l.UpdateTexts(); err != nil {
					t.Fatal(err)
				}
				compareMoved(t, files, want, all(t, tree))
			})
		}
	}
}

// compareMoved checks that moved files have the wanted content and others are unchanged.
func compareMoved(t *testing.T, files, want, got map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got[name], text)
		}
	}
	for name, text := range got {
		if _, ok := want[name]; !ok && files[name] != text {
			t.Errorf("%s: unexpected file\n%s", name, text)
		}
	}
}

// TestToV4Refuses checks what cannot be moved, named, with nothing changed.
func TestToV4Refuses(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"PROJECT": "domain: example.com\nlayout:\n- go.kubebuilder.io/v3\nmultigroup: true\nprojectName: walk\nrepo: example.com/walk\nresources:\n" +
			"- group: cache\n  domain: example.com\n  kind: Memcached\n  version: v1\n  path: example.com/walk/apis/cache/v1\n  controller: true\nversion: \"3\"\n",
		"go.mod":                 "module example.com/walk\n",
		"main.go":                "package main\n",
		"apis/cache/v1/types.go": "package v1\n",
		"controllers/cache/memcached_controller.go": "package cache\n",
	}
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"main.go is there":      {"cmd/main.go", "package main\n", []string{"  cmd/main.go\n"}},
		"a program is there":    {"cmd/root.go", "package cmd\n", []string{"  cmd/root.go\n", "move away"}},
		"a controller is there": {"internal/controller/cache/memcached_controller.go", "package cache\n", []string{"  internal/controller/cache/memcached_controller.go\n"}},
		"a package is there":    {"api/cache/v1/other.go", "package v1\n", []string{"  api/cache/v1/other.go\n"}},
		"no Go":                 {"controllers/cache/broken.go", "package cache\nfunc", []string{"does not compile, nothing was changed:\ncontrollers/cache/broken.go:2:5: "}},
		"another module":        {"controllers/cache/tool/go.mod", "module example.com/tool\n", []string{"controllers/cache/tool/go.mod:1: is a separate module in controllers"}},
		"files of the root":     {"assets.go", "package main\n\nimport _ \"embed\"\n\n//go:embed config/a.yaml\nvar a string\n", []string{"cannot move to layout go.kubebuilder.io/v4, nothing was changed:\nassets.go:5: embeds files of the project's root"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{c.file: c.text}
			maps.Copy(files, base)
			tree := onDisk(t, files)
			_, err := toV4(tree)
			if err == nil {
				t.Fatal("got no error, want one")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got error %q, want %q", err, part)
				}
			}
			if changes, err := tree.Changes(); err != nil || len(changes) > 0 {
				t.Errorf("got changes %v (%v), want none", changes, err)
			}
		})
	}
	// Programs and tools that are run by name are no packages in the way.
	files := map[string]string{"cmd/gen.go": "//go:build ignore\n\npackage main\n", "cmd/tool/main.go": "package main\n"}
	maps.Copy(files, base)
	if _, err := toV4(onDisk(t, files)); err != nil {
		t.Error(err)
	}
	var conflict *scaffold.ConflictError
	files["cmd/main.go"] = "package main\n"
	if _, err := toV4(onDisk(t, files)); !errors.As(err, &conflict) {
		t.Error(err)
	}
}
