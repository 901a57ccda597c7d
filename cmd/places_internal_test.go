package cmd

import (
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/kube"
)

// TestPlaceOf checks where fields of custom resources are, in samples and in files and directories of flags.
func TestPlaceOf(t *testing.T) {
	root := filepath.FromSlash("/p")
	a := &app{Env: &env.Env{FS: afero.NewMemMapFs(), Dir: root}}
	const one = "apiVersion: a.b/v1\nkind: App\nmetadata:\n  name: one\nspec:\n  size: 1\n"
	for name, text := range map[string]string{
		"config/samples/app.yaml":           one,
		"config/samples/kustomization.yaml": "resources: [app.yaml]\n",
		"dir/broken.yaml":                   "a: [",
		"dir/two.yml":                       one + "---\n# more\napiVersion: a.b/v1\nkind: App\nmetadata:\n  name: two\n  namespace: there\nspec:\n  size: 1\n",
	} {
		if err := afero.WriteFile(a.FS, filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		files           []string
		name, field     string
		namespace, want string
	}{
		{nil, "one", "spec.size", "default", "config/samples/app.yaml:6:3"},
		{nil, "one", "", "default", "config/samples/app.yaml:1:1"},
		{nil, "one", "spec.other", "default", "config/samples/app.yaml:5:1"},
		{nil, "two", "", "there", ""},
		{[]string{"-", "none.yaml", "./dir"}, "two", ".spec.size", "there", "dir/two.yml:15:3"},
		{[]string{filepath.FromSlash("dir/two.yml")}, "two", "", "here", ""},
	} {
		o := &kube.Object{Object: map[string]any{"apiVersion": "a.b/v1", "kind": "App"}}
		o.SetName(test.name)
		o.SetNamespace(test.namespace)
		if got := a.placeOf(root, test.files)(o, test.field); got.String() != test.want {
			t.Errorf("%v, %s: %s, want %q", test.files, test.name, got, test.want)
		}
	}
}
