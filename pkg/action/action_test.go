package action_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/action/layouts"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const root = "/work/memcached-operator"

// newProject returns the configuration for a project in memory with one API, and the messages of its commands.
func newProject(t *testing.T) (action.Config, *diag.Findings) {
	t.Helper()
	config := action.Config{FS: afero.NewMemMapFs(), Program: "operon", Layouts: layouts.All()}
	messages := &diag.Findings{}
	config.Report = func(found diag.Findings) { *messages = append(*messages, found...) }
	text := `domain: example.com
layout:
- go.kubebuilder.io/v4
projectName: memcached-operator
repo: example.com/memcached-operator
resources:
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  domain: example.com
  group: cache
  kind: Memcached
  path: example.com/memcached-operator/api/v1
  version: v1
version: "3"
`
	if err := afero.WriteFile(config.FS, root+"/PROJECT", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return config, messages
}

// openProject opens a project until the end of a test.
func openProject(t *testing.T, config action.Config) *action.Project {
	t.Helper()
	p, err := action.Open(t.Context(), config, root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	config, _ := newProject(t)
	if err := config.FS.MkdirAll(root+"/api/v1", 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(tree *worktree.Tree) error {
		tree.WriteFile("new.txt", []byte("text\n"), 0o644)
		return nil
	}
	for _, dryRun := range []bool{true, false} {
		config.DryRun = dryRun
		p, err := action.Open(t.Context(), config, root)
		if err != nil || p.Root != root {
			t.Fatalf("Open = %v, %v, want the project in %s", p, err, root)
		}
		result, err := p.Update(t.Context(), write)
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Changes) != 1 || result.Changes[0].Path != "new.txt" || result.DryRun != dryRun {
			t.Errorf("DryRun %t: Update = %+v, want one new file", dryRun, result)
		}
		if exists, err := afero.Exists(config.FS, root+"/new.txt"); err != nil || exists == dryRun {
			t.Errorf("DryRun %t: new.txt exists: %t, %v", dryRun, exists, err)
		}
	}
}

func TestUpdateAtOutside(t *testing.T) {
	t.Parallel()
	config, _ := newProject(t)
	p := openProject(t, config)
	result, err := p.UpdateAt(t.Context(), "../out", func(tree *worktree.Tree) error {
		if !tree.Exists("PROJECT") {
			return errors.New("PROJECT not found")
		}
		tree.WriteFile("../out/a.yaml", []byte("a: 1\n"), 0o644)
		tree.WriteFile("inside.txt", []byte("text\n"), 0o644)
		return nil
	})
	if err != nil || len(result.Changes) != 1 || result.Changes[0].Path != "a.yaml" {
		t.Fatalf("UpdateAt = %+v, %v, want one change of a.yaml", result, err)
	}
	if exists, _ := afero.Exists(config.FS, root+"/inside.txt"); exists {
		t.Error("a file outside of the directory was written")
	}
	if exists, _ := afero.Exists(config.FS, "/work/out/a.yaml"); !exists {
		t.Error("../out/a.yaml was not written")
	}
}

// TestFindings checks that all findings about options are returned, and nothing else.
func TestFindings(t *testing.T) {
	t.Parallel()
	config, messages := newProject(t)
	p := openProject(t, config)
	for name, c := range map[string]struct {
		run  func() (*action.Result, error)
		want []string
	}{
		"unknown API": {
			func() (*action.Result, error) {
				return p.DeleteAPI(t.Context(), action.DeleteAPIOptions{Group: "Cache", Version: "v1", Kind: "memcached"})
			},
			[]string{"--group", "--kind"},
		},
		"no names": {
			func() (*action.Result, error) {
				return gokinds.DeleteWebhook(t.Context(), p, gokinds.DeleteWebhookOptions{})
			},
			[]string{"--version", "--kind"},
		},
		"no webhooks": {
			func() (*action.Result, error) {
				return gokinds.DeleteWebhook(t.Context(), p, gokinds.DeleteWebhookOptions{Kind: "Memcached"})
			},
			[]string{"--kind"},
		},
	} {
		result, err := c.run()
		findings, ok := errors.AsType[diag.Findings](err)
		var fields []string
		for _, f := range findings {
			fields = append(fields, f.Field)
		}
		if !ok || result != nil || !slices.Equal(fields, c.want) {
			t.Errorf("%s: got %v, %v, want findings about %s", name, result, err, strings.Join(c.want, ", "))
		}
	}
	if len(*messages) > 0 {
		t.Errorf("messages: %v", *messages)
	}
}
