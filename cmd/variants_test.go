package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// controllerGen builds the real controller-gen, once for all tests.
var controllerGen = sync.OnceValues(func() (string, error) {
	program := filepath.Join(programs, "controller-gen.exe")
	c := exec.Command("go", "build", "-o", program, "sigs.k8s.io/controller-tools/cmd/controller-gen")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("building controller-gen: %w\n%s", err, out.Bytes())
	}
	return program, nil
})

// checkControllerGen runs the real controller-gen over a project: it must find nothing to change.
func checkControllerGen(t testing.TB, dir string) {
	t.Helper()
	program, err := controllerGen()
	if err != nil {
		t.Fatal(err)
	}
	// Without what is generated, controller-gen has to write every byte of it again.
	theirs := copyTree(t, dir)
	for name := range readTree(t, theirs) {
		generated := strings.HasPrefix(filepath.Base(name), "zz_generated.") || strings.HasPrefix(name, "config/crd/bases/") ||
			name == "config/webhook/manifests.yaml" && strings.Contains(read(t, filepath.Join(theirs, name)), "webhooks:")
		if generated {
			if err := os.Remove(filepath.Join(theirs, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, args := range [][]string{
		{`object:headerFile="hack/boilerplate.go.txt"`, "paths=./..."},
		{"rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"},
	} {
		c := exec.Command(program, args...)
		c.Dir = theirs
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("controller-gen %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	compareTrees(t, theirs, dir)
}

// TestControllerGenAgrees compares the generated files of every golden project with controller-gen's.
func TestControllerGenAgrees(t *testing.T) {
	t.Parallel()
	for _, name := range goldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkControllerGen(t, golden(t, name))
		})
	}
}

// TestVariants makes projects of every shape, and holds after each command that the project is
// gofmt-clean and its overlays build, and at the end that it compiles, vets and is tidy.
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

// makeVariants makes projects and holds that they are whole at every step, build, and generate what
// controller-gen does.
func makeVariants(t *testing.T, variants map[string][]string) {
	t.Helper()
	for name, commands := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "variant")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, command := range commands {
				operon(t, dir, strings.Fields(command)...)
				checkFormat(t, dir)
				checkOverlays(t, dir)
				goRun(t, dir, nil, "mod", "tidy", "-diff")
				if t.Failed() {
					t.Fatalf("after %s", command)
				}
			}
			goRun(t, dir, nil, "build", "./...")
			goRun(t, dir, nil, "vet", "-tags", "e2e", "./...")
			if !strings.Contains(commands[0], "--namespaced") { // controller-gen is not told of the namespace here
				checkControllerGen(t, dir)
			}
			if out := operon(t, dir, "generate"); out != "" {
				t.Errorf("generate changes a fresh project:\n%s", out)
			}
		})
	}
}
