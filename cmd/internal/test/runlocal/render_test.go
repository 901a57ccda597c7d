//go:build unix

package runlocal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRender writes what golden operators make of their samples, which is the same in the next run and no longer after a change of the
// operator.
func TestRender(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	port := clitest.SetFreeWebhookPort(t, dir)
	const sample = "config/samples/cache_v1alpha1_memcached.yaml"
	render := func(code int, args ...string) string {
		t.Helper()
		p := clitest.StartProcess(t, dir, nil, append([]string{"render", "-f", sample}, args...)...)
		p.MustEnd(code)
		return p.Output()
	}
	render(0, "--output-dir", "test/render")
	files, err := os.ReadDir(filepath.Join(dir, "test", "render"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
	}
	if got := strings.Join(names, " "); got != "deployment-memcached-sample.yaml memcached-memcached-sample.yaml service-memcached-sample.yaml" {
		t.Errorf("files %s", got)
	}
	clitest.EditFile(t, dir, "config/webhook/service.yaml", "targetPort: 9443", fmt.Sprintf("targetPort: %d", port))
	checkGivenOperator(t, dir, sample)
	clitest.EditFile(t, dir, "internal/controller/memcached_controller.go", `"app.kubernetes.io/instance": obj.Name,`, `"app.kubernetes.io/instance": obj.Name, "app.kubernetes.io/component": "cache",`)
	if out := render(1, "--check", "test/render"); !strings.Contains(out, "+    app.kubernetes.io/component: cache") {
		t.Errorf("output:\n%s", out)
	}
	clitest.WriteFile(t, filepath.Join(dir, "bad.yaml"), "kind: Memcached\napiVersion: cache.example.com/v1alpha1\nmetadata:\n  name: bad\nspec:\n  size: -1\n")
	if out := render(1, "-f", "bad.yaml"); !strings.Contains(out, "error: bad.yaml:6:3: applying memcached/bad: ") {
		t.Errorf("output:\n%s", out)
	}
	if out := render(1, "--timeout", "1s"); !strings.Contains(out, "error: not settled within 1s") {
		t.Errorf("output:\n%s", out)
	}
}

// checkGivenOperator checks that an operator that is given as a program and manifests makes what the project with the same code makes,
// which is in test/render.
func checkGivenOperator(t *testing.T, project, sample string) {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "manager.exe"), "./cmd")
	build.Dir = project
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	others := filepath.Join(dir, "others.yaml")
	clitest.WriteFile(t, others, otherCRD)
	p := clitest.StartProcess(t, project, nil, "render", "-f", sample, "--check", "test/render",
		"--manager", filepath.Join(dir, "manager.exe")+" --leader-elect=false", "--manifests", "config/default", "--crds", others)
	p.MustEnd(0)
	for _, want := range []string{"the manager runs as memcached-operator-system/memcached-operator-controller-manager, with the permissions of its manifests", "others.example.com"} {
		if !strings.Contains(p.Output(), want) {
			t.Errorf("the output lacks %q:\n%s", want, p.Output())
		}
	}
}

const otherCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Other, plural: others}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
