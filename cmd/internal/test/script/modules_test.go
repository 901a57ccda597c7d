package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestCreateWithoutModules runs commands with an empty module cache and without a network, and with all modules: the
// projects are the same.
func TestCreateWithoutModules(t *testing.T) {
	t.Parallel()
	const create = "create api --group cache --version v1 --kind Memcached --resource --controller"
	for name, commands := range map[string][]string{
		"API":                    {create},
		"no controller":          {"create api --group cache --version v1 --kind Memcached --resource --controller=false"},
		"cluster-scoped":         {create + " --namespaced=false --plural memcacheds"},
		"image":                  {create + " --image memcached:1.6.39-alpine --image-container-port 11211 --run-as-user 1000"},
		"two kinds":              {create, "create api --group cache --version v1 --kind Other --resource --controller"},
		"kind of Kubernetes":     {create, "create api --group apps --version v1 --kind Deployment --resource=false --controller"},
		"webhooks":               {create, "create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation"},
		"webhook for Kubernetes": {create, "create webhook --group apps --version v1 --kind Deployment --programmatic-validation"},
		"conversion": {
			create, "create api --group cache --version v2 --kind Memcached --resource --controller=false",
			"create webhook --group cache --version v1 --kind Memcached --conversion --spoke v2",
		},
		"code only": {create + " --manifests=false", "generate manifests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := []string{"GOPROXY=off"}
			without := []string{"GOPROXY=off", "GOMODCACHE=" + t.TempDir()}
			var trees [2]map[string]string
			for i, variables := range [][]string{with, without} {
				dir, cache := filepath.Join(t.TempDir(), "variant"), "" // the cache that tests share has the types of modules
				if i == 1 {
					cache = t.TempDir()
				}
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				for _, command := range append([]string{"init --domain example.com --repo example.com/variant"}, commands...) {
					if code, out, errOut := clitest.RunWith(t, dir, cache, variables, strings.Fields(command)...); code != 0 || strings.Contains(errOut, "warning") {
						t.Fatalf("%s: exit code %d\n%s%s", command, code, out, errOut)
					}
				}
				trees[i] = clitest.ReadTree(t, dir)
			}
			for file, want := range trees[0] {
				if got := trees[1][file]; got != want {
					t.Errorf("%s differs without modules:\n%s", file, clitest.DiffLines(want, got))
				}
			}
			if len(trees[1]) != len(trees[0]) {
				t.Errorf("%d files without modules, want %d", len(trees[1]), len(trees[0]))
			}
		})
	}
}
