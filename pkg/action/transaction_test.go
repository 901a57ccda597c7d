package action_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestLayouts loads projects of all layouts for commands of all kinds.
func TestLayouts(t *testing.T) {
	t.Parallel()
	kinds := []action.Layouts{action.CurrentLayout, action.RecentLayouts, action.EditableLayouts, action.ScaffoldedLayouts, action.UpgradableLayouts, action.AnyLayout}
	for layout, want := range map[string][]action.Layouts{
		"go.kubebuilder.io/v4":                          kinds,
		"base.go.kubebuilder.io/v4":                     kinds,
		"go.kubebuilder.io/v3":                          {action.RecentLayouts, action.ScaffoldedLayouts, action.UpgradableLayouts, action.AnyLayout},
		"go.kubebuilder.io/v2":                          {action.UpgradableLayouts, action.AnyLayout},
		"helm.sdk.operatorframework.io/v1":              {action.EditableLayouts, action.ScaffoldedLayouts, action.UpgradableLayouts, action.AnyLayout},
		"ansible.sdk.operatorframework.io/v1":           {action.EditableLayouts, action.ScaffoldedLayouts, action.UpgradableLayouts, action.AnyLayout},
		"quarkus.javaoperatorsdk.io/v1-beta":            {action.AnyLayout},
		"go.kubebuilder.io/v5":                          {action.AnyLayout},
		"hybrid.helm.sdk.operatorframework.io/v1-alpha": {action.AnyLayout},
	} {
		fsys := afero.NewMemMapFs()
		text := fmt.Sprintf("domain: example.com\nlayout:\n- %s\nprojectName: cache\nrepo: example.com/cache\nversion: \"3\"\n", layout)
		if err := afero.WriteFile(fsys, root+"/PROJECT", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, set := range kinds {
			p := action.Read(action.Config{FS: fsys}, root)
			_, err := p.Load(set)
			if (err == nil) != slices.Contains(want, set) {
				t.Errorf("%s: Load(%b) = %v", layout, set, err)
			}
			// PROJECT is read once, but each caller has its own set.
			if _, err := p.Load(action.AnyLayout); err != nil {
				t.Errorf("%s: Load(action.AnyLayout) after Load(%b) = %v", layout, set, err)
			}
			if err != nil && !strings.Contains(err.Error(), layout) {
				t.Errorf("the error does not name the layout %s: %v", layout, err)
			}
		}
	}
}

// TestFailedUpdateIsDiscarded checks that a command never writes what an earlier one of the same project left.
func TestFailedUpdateIsDiscarded(t *testing.T) {
	t.Parallel()
	config, _ := newProject(t)
	p := openProject(t, config)
	failed := errors.New("failed")
	if _, err := p.Update(t.Context(), func(tree *worktree.Tree) error {
		tree.WriteFile("left.txt", []byte("text\n"), 0o644)
		if loaded, err := p.Load(action.CurrentLayout); err != nil || loaded.SetDomain("example.org") != nil {
			t.Errorf("Load = %v", err)
		}
		return failed
	}); !errors.Is(err, failed) {
		t.Fatalf("Update = %v", err)
	}
	result, err := p.Update(t.Context(), func(tree *worktree.Tree) error {
		loaded, err := p.Load(action.CurrentLayout)
		if err != nil || loaded.Domain() != "example.com" {
			t.Errorf("Load = %v, %v after a failed command", loaded, err)
		}
		tree.WriteFile("new.txt", []byte("text\n"), 0o644)
		return nil
	})
	if err != nil || len(result.Changes) != 1 || result.Changes[0].Path != "new.txt" {
		t.Errorf("Update = %+v, %v, want one change", result, err)
	}
	// A file that another program changes between two commands is read again.
	if err := afero.WriteFile(config.FS, root+"/new.txt", []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Update(t.Context(), func(tree *worktree.Tree) error {
		if text, err := tree.ReadFile("new.txt"); string(text) != "other\n" {
			t.Errorf("ReadFile = %q, %v", text, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestOriginal checks that the files without the changes are those that the changes are based on.
func TestOriginal(t *testing.T) {
	t.Parallel()
	config, _ := newProject(t)
	p := action.Read(config, root)
	before, err := p.Files.ReadFile("PROJECT")
	if err != nil {
		t.Fatal(err)
	}
	p.Files.WriteFile("PROJECT", []byte("changed\n"), 0o644)
	if err := afero.WriteFile(config.FS, root+"/PROJECT", []byte("meanwhile\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := p.Original().ReadFile("PROJECT"); err != nil || string(text) != string(before) {
		t.Errorf("the original is %q, %v, want what was read first", text, err)
	}
	if text, err := p.Files.ReadFile("PROJECT"); err != nil || string(text) != "changed\n" {
		t.Errorf("ReadFile = %q, %v", text, err)
	}
}
