package scaffold

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

func TestMarkStorage(t *testing.T) {
	t.Parallel()
	const plain = "package v1\n\n// +kubebuilder:object:root=true\n// +kubebuilder:subresource:status\n\n// Foo is.\ntype Foo struct {\n}\n\n" +
		"// +kubebuilder:object:root=true\n\n// FooList is.\ntype FooList struct {\n}\n"
	marked := strings.Replace(plain, "root=true\n", "root=true\n// +kubebuilder:storageversion\n", 1)
	for _, tc := range []struct {
		name  string
		own   string // the version that is created
		files map[string]string
		want  string // of api/v1/foo_types.go
	}{
		{"the only version", "v1", map[string]string{"api/v1/foo_types.go": plain}, plain},
		{"the version before", "v2", map[string]string{"api/v1/foo_types.go": plain, "api/v2/foo_types.go": plain}, marked},
		{"carriage returns", "v2", map[string]string{
			"api/v1/foo_types.go": strings.ReplaceAll(plain, "\n", "\r\n"), "api/v2/foo_types.go": plain,
		}, strings.ReplaceAll(marked, "\n", "\r\n")},
		{"a version that is marked", "v2", map[string]string{"api/v1/foo_types.go": plain, "api/v2/foo_types.go": marked}, plain},
		{"another group", "v1", map[string]string{"api/v1/foo_types.go": plain, "api/x/v2/foo_types.go": plain}, plain},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tree := worktree.NewTree(afero.NewMemMapFs(), "/")
			for name, text := range tc.files {
				tree.WriteFile(name, []byte(text), worktree.FileMode)
			}
			if err := markStorage(tree, Data{Resource: Resource{Group: "g", Version: tc.own, Kind: "Foo"}}); err != nil {
				t.Fatal(err)
			}
			got, err := tree.ReadFile("api/v1/foo_types.go")
			if err != nil || string(got) != tc.want {
				t.Errorf("got %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}
