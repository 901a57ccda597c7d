package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/project"
)

// TestUpgradeOwn upgrades an unedited project of an earlier Operon: each scaffolded file becomes the current one, and
// other files are not changed.
func TestUpgradeOwn(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it type-checks a project several times")
	current := filepath.Join(t.TempDir(), "memcached-operator")
	if err := os.Mkdir(current, 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.MustRun(t, current, strings.Fields("init --domain example.com --repo github.com/example/memcached-operator")...)
	clitest.MustRun(t, current, strings.Fields("create api --group cache --version v1alpha1 --kind Memcached --resource --controller")...)
	archive, err := txtar.ParseFile(clitest.Testdata("old", "operon-0.0.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "memcached-operator")
	files := clitest.ReadTree(t, current)
	want := map[string]string{"go.mod": files["go.mod"], "go.sum": files["go.sum"]}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	for name, text := range want {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, name, text)
	}
	for name, text := range files {
		if (want[name] != "" || added(name)) && migrate.Scaffolded(name) && !strings.HasPrefix(name, "config/manifests/bases/") {
			want[name] = text
		}
	}

	clitest.MustRun(t, dir, "upgrade", "--offline")
	got := clitest.ReadTree(t, dir)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s is not as expected after the upgrade:\n%s", name, got[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is new", name)
		}
	}
	clitest.MustRun(t, dir, "upgrade", "--offline", "--check")
}

// added reports whether an upgrade adds a scaffolded file to a project without it.
func added(name string) bool {
	rule, _ := project.FileRuleOf(name)
	return rule.Upgrade == project.Merged
}
