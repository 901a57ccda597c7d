package scaffold

import (
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

func TestEnableCRDs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"resources:\n#- ../crd\n- ../rbac\n":    "resources:\n- ../crd\n- ../rbac\n",
		"resources:\r\n# - ../crd\r\n":          "resources:\r\n- ../crd\r\n",
		"resources:\n- ../crd\n":                "resources:\n- ../crd\n",
		"# see ../crd\nresources:\n- ../rbac\n": "# see ../crd\nresources:\n- ../rbac\n",
	} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		tree.WriteFile("config/default/kustomization.yaml", []byte(text), worktree.FileMode)
		enableCRDs(tree)
		got, err := tree.ReadFile("config/default/kustomization.yaml")
		if err != nil || string(got) != want {
			t.Errorf("%q became %q (%v), want %q", text, got, err, want)
		}
	}
}
