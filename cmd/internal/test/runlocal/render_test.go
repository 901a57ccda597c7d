//go:build unix

package runlocal

import (
	"os"
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
	clitest.SetFreeWebhookPort(t, dir)
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
	if got := strings.Join(names, " "); got != "deployment-memcached-sample.yaml memcached-memcached-sample.yaml" {
		t.Errorf("files %s", got)
	}
	render(0, "--check", "test/render")
	clitest.EditFile(t, dir, "internal/controller/memcached_controller.go", `"app.kubernetes.io/instance": obj.Name,`, `"app.kubernetes.io/instance": obj.Name, "app.kubernetes.io/component": "cache",`)
	if out := render(1, "--check", "test/render"); !strings.Contains(out, "+    app.kubernetes.io/component: cache") {
		t.Errorf("output:\n%s", out)
	}
	if out := render(1, "--timeout", "1s"); !strings.Contains(out, "error: not settled within 1s") {
		t.Errorf("output:\n%s", out)
	}
}
