//go:build unix

package runlocal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunLocalConversion reads objects in another version than they were written in: the API server has the
// manager convert them. A webhook that is added while it runs is called too.
func TestRunLocalConversion(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "conversion")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"init --domain example.com --repo example.com/conversion",
		"create api --group cache --version v1 --kind Memcached --resource --controller",
		"create api --group cache --version v2 --kind Memcached --resource --controller=false",
		"create webhook --group cache --version v2 --kind Memcached --conversion --spoke v1",
	} {
		clitest.MustRun(t, dir, strings.Fields(command)...)
	}
	clitest.SetFreeWebhookPort(t, dir)
	clitest.EditFile(t, dir, "api/v2/memcached_types.go", "Foo *string `json:\"foo,omitempty\"`", "Bar *string `json:\"bar,omitempty\"`")
	clitest.EditFile(t, dir, "api/v1/memcached_conversion.go", "dst.Spec.Foo = o.Spec.Foo", "dst.Spec.Bar = o.Spec.Foo")
	clitest.EditFile(t, dir, "api/v1/memcached_conversion.go", "o.Spec.Foo = src.Spec.Foo", "o.Spec.Foo = src.Spec.Bar")
	sample := func(version, name, spec string) string {
		return fmt.Sprintf("{apiVersion: cache.example.com/%s, kind: Memcached, metadata: {name: %s}, spec: %s}", version, name, spec)
	}
	const v1, v2 = "memcacheds.v1.cache.example.com", "memcacheds.v2.cache.example.com"

	p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--watch")
	p.WaitFor("press Ctrl-C", 1)
	c := p.Cluster()
	c.Must(sample("v1", "old", "{foo: carried}"), "apply", "-f", "-")
	c.Must(sample("v2", "new", "{bar: back}"), "apply", "-f", "-")
	c.Eventually(`{"bar":"carried"}`, "get", v2, "old", "-o", "jsonpath={.spec}")
	c.Eventually(`{"foo":"back"}`, "get", v1, "new", "-o", "jsonpath={.spec}")

	clitest.MustRun(t, dir, strings.Fields("create webhook --group cache --version v1 --kind Memcached --defaulting")...)
	clitest.EditFile(t, dir, "internal/webhook/v1/memcached_webhook.go", "\treturn nil\n", "\tif obj.Spec.Foo == nil {\n\t\tobj.Spec.Foo = new(\"default\")\n\t}\n\treturn nil\n")
	// Until the changed manager is there, the API server refuses the object or makes it without the default.
	third := filepath.Join(t.TempDir(), "third.yaml")
	clitest.WriteFile(t, third, sample("v1", "third", "{}"))
	c.Eventually(`{"foo":"default"}`, "create", "--dry-run=server", "-f", third, "-o", "jsonpath={.spec}")

	p.Interrupt()
	p.MustEnd(0)
}
