package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestControllerGenAgrees compares the generated files of all golden projects with controller-gen's.
func TestControllerGenAgrees(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it builds controller-gen")
	for _, name := range clitest.GoldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.CheckControllerGen(t, clitest.CopyGolden(t, name))
		})
	}
}

// TestVariants creates projects with all kinds of content. After each command, the project must be formatted and its overlays
// build; at the end it must compile, vet and be tidy.
func TestVariants(t *testing.T) {
	t.Parallel()
	const create = "create api --resource --controller "
	makeVariants(t, map[string][]string{
		"several kinds and versions": {
			"init --domain example.com --repo example.com/several --license none",
			create + "--group cache --version v1alpha1 --kind Memcached",
			create + "--group cache --version v1alpha1 --kind Redis --namespaced=false --plural redises",
			"create api --group cache --version v1 --kind Memcached --resource --controller=false",
			"create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller --controller-name memcached-backup",
		},
		"several groups": {
			"init --domain example.com --repo example.com/groups --multigroup",
			create + "--group ship --version v1beta1 --kind Frigate",
			create + "--group sea-creatures --version v1 --kind Kraken --image kraken:1",
			create + "--group apps --version v1 --kind Deployment",
			create + "--group ship --version v2 --kind Destroyer --namespaced=false --image destroyer:2 --image-container-port 8080",
		},
		"kinds of others": {
			"init --domain example.com --repo example.com/others",
			"create api --group apps --version v1 --kind Deployment --resource=false --controller",
			"create api --group core --version v1 --kind Pod --resource=false --controller",
			"create api --group apiextensions --version v1 --kind CustomResourceDefinition --resource=false --controller" +
				" --external-api-path k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 --external-api-domain k8s.io",
		},
		"one namespace": {
			"init --domain example.com --repo example.com/namespaced --namespaced --multigroup",
			create + "--group cache --version v1 --kind Memcached --image memcached:1.6.39-alpine --image-container-port 11211",
			create + "--group apps --version v1alpha1 --kind Widget",
		},
	})
}

// makeVariants creates projects and checks them after each command. At the end they must build, and generate the same files as
// controller-gen.
func makeVariants(t *testing.T, variants map[string][]string) {
	t.Helper()
	for name, commands := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "several groups" {
				clitest.SkipIfShort(t, "one project suffices")
			}
			dir := filepath.Join(t.TempDir(), "variant")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, command := range commands {
				clitest.MustRun(t, dir, strings.Fields(command)...)
				clitest.CheckFormat(t, dir)
				clitest.CheckOverlays(t, dir)
				clitest.CheckTidy(t, dir)
				if t.Failed() {
					t.Fatalf("after %s", command)
				}
			}
			clitest.CheckCompiles(t, dir)
			if !strings.Contains(commands[0], "--namespaced") { // controller-gen is called without the namespace here
				clitest.CheckControllerGen(t, dir)
			}
			if out := clitest.MustRun(t, dir, "generate"); out != "" {
				t.Errorf("generate changes a new project:\n%s", out)
			}
		})
	}
}
