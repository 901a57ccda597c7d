package scaffold

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func TestReplaceImage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"the old image", "env:\n- name: A_IMAGE\n  value: a:1\n- name: B\n  value: a:1\n", "env:\n- name: A_IMAGE\n  value: a:2\n- name: B\n  value: a:1\n"},
		{"quotes and carriage returns", "env:\r\n- name: A_IMAGE\r\n  value: \"a:1\"\r\n", "env:\r\n- name: A_IMAGE\r\n  value: a:2\r\n"},
		{"an image of the user", "env:\n- name: A_IMAGE\n  value: mirror/a:1\n", "env:\n- name: A_IMAGE\n  value: mirror/a:1\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tree := worktree.NewTree(afero.NewMemMapFs(), "/")
			tree.WriteFile(project.ManagerFile, []byte(tc.text), worktree.FileMode)
			ReplaceImage(tree, Data{Image: Image{Ref: "a:2", EnvVar: "A_IMAGE"}}, "a:1")
			got, err := tree.ReadFile(project.ManagerFile)
			if err != nil || string(got) != tc.want {
				t.Errorf("got %q (%v), want %q", got, err, tc.want)
			}
			if strings.Contains(string(got), "$") {
				t.Errorf("a group reference was left: %q", got)
			}
		})
	}
}
