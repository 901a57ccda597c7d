//go:build unix

package runlocal

import (
	"go/format"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunLocalHybrid runs a Go project with a kind in Go and one with a chart, with the example of value translation and hooks: both
// kinds reconcile, changes of the chart and of the code are followed, and after the deletion of the kind with the chart the project is as before.
func TestRunLocalHybrid(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it builds a manager")
	dir := clitest.NewProject(t,
		"init --domain example.com --repo github.com/example/cache-operator",
		"create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine",
	)
	before := clitest.ReadTree(t, dir)
	clitest.RunGo(t, dir, nil, "mod", "edit", "-replace=github.com/operon-sdk/operon="+clitest.Root())
	// The module cache may lack modules that only tests of dependencies import, which the command downloads.
	clitest.MustRun(t, dir, "create", "api", "--helm-chart", clitest.Testdata("charts", "shop"), "--group", "cache", "--kind", "Shop", "--open-schema")
	activateExample(t, dir+"/internal/charts/charts.go")
	clitest.EditFile(t, dir, "config/samples/cache_v1alpha1_shop.yaml", "spec: {}", "spec: {size: large}")
	clitest.CheckTypes(t, dir, ".")
	clitest.CheckTidy(t, dir)
	clitest.CheckFormat(t, dir)
	clitest.MustRun(t, dir, "generate", "--check")

	runtime, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	p := clitest.StartProcess(t, dir, []string{clitest.RuntimeVariable + "=" + runtime}, "run", "local", "--control-plane", "embedded", "--samples", "--watch")
	c := p.Cluster()
	c.Eventually("True", "get", memcached, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
	const shop = "shop/shop-sample"
	c.Eventually("True", "get", shop, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	// The translator gives the values; the spec's are not used.
	c.Eventually("5", "get", "deployment/shop-sample", "-o", "jsonpath={.spec.replicas}")
	p.WaitFor("\tdeployed\t", 1) // the hook

	// The role that is generated for the added kind is not another change.
	clitest.WriteFile(t, dir+"/helm-charts/shop/templates/added.yaml", "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata:\n  name: {{ .Release.Name }}\nhandler: runc\n")
	p.WaitFor("updated  config/rbac/charts_role.yaml", 1)
	p.WaitFor("starting the manager", 2)
	c.Eventually("runc", "get", "runtimeclass/shop-sample", "--ignore-not-found", "-o", "jsonpath={.handler}")
	clitest.EditFile(t, dir, "internal/charts/charts.go", `"deployed"`, `"deployed again"`)
	p.WaitFor("starting the manager", 3)
	clitest.EditFile(t, dir, "helm-charts/shop/values.yaml", "itemsPerPage: 24", "itemsPerPage: 25")
	p.WaitFor("\tdeployed again\t", 1)
	p.WaitFor("starting the manager", 4)
	if n := strings.Count(p.Output(), "\nchanged: "); n != 3 {
		t.Errorf("%d changes instead of 3 in the output\n%s", n, p.Output())
	}
	c.Must("", "delete", shop, "--timeout=60s")
	c.Eventually("", "get", "deployment/shop-sample", "--ignore-not-found", "-o", "name")
	p.Interrupt()
	p.MustEnd(0)

	if out := clitest.MustReject(t, dir, "delete", "api", "--group", "cache", "--version", "v1alpha1", "--kind", "Shop"); !strings.Contains(out, "internal/charts/charts.go") {
		t.Errorf("edited code is not listed:\n%s", out)
	}
	clitest.MustRun(t, dir, "delete", "api", "--group", "cache", "--version", "v1alpha1", "--kind", "Shop", "--force")
	clitest.CheckTidy(t, dir)
	after := clitest.ReadTree(t, dir)
	for _, name := range []string{"go.mod", "go.sum"} { // versions that the module had raised remain
		delete(before, name)
		delete(after, name)
	}
	for _, name := range clitest.SortedKeys(after) {
		if after[name] != before[name] {
			t.Errorf("%s differs from before the kind with a chart:\n%s", name, clitest.DiffLines(before[name], after[name]))
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, %d before", len(after), len(before))
	}
}

// activateExample removes the comment signs of the example in the scaffolded code, and adds its imports.
func activateExample(t *testing.T, name string) {
	t.Helper()
	var lines []string
	example := false
	for line := range strings.Lines(clitest.ReadFile(t, name)) {
		text := strings.TrimLeft(line, "\t")
		if example = example || strings.HasPrefix(text, `// case "Shop"`); example {
			line = strings.TrimPrefix(strings.TrimPrefix(text, "// "), "//")
			example = strings.HasPrefix(text, "//")
			if !example {
				line = text
			}
		}
		lines = append(lines, line)
	}
	code := strings.Join(lines, "")
	code = strings.Replace(code, "import (\n", "import (\n\t\"context\"\n\t\"fmt\"\n", 1)
	code = strings.Replace(code, "\t\"k8s.io/apimachinery/pkg/runtime/schema\"\n", "\t\"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured\"\n\t\"k8s.io/apimachinery/pkg/runtime/schema\"\n", 1)
	code = strings.Replace(code, "\t\"github.com/operon-sdk/operon/pkg/helmoperator\"\n", "\t\"github.com/operon-sdk/operon/pkg/helmoperator\"\n\t\"github.com/operon-sdk/operon/pkg/helmoperator/release\"\n", 1)
	formatted, err := format.Source([]byte(code))
	if err != nil {
		t.Fatal(err, code)
	}
	clitest.WriteFile(t, name, string(formatted))
}
