package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// catalog executes a catalog command in a directory of the project.
func (p *bundleProject) catalog(t *testing.T, fs afero.Fs, dir string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	env := &cmd.Env{In: strings.NewReader(""), Out: &o, Err: &e, Dir: filepath.Join(p.dir, dir), FS: fs, CacheDir: p.cache}
	code = cmd.Main(t.Context(), env, append([]string{"operon"}, args...))
	if strings.Contains(o.String()+e.String(), p.dir) {
		t.Errorf("the output contains an absolute path:\n%s%s", o.String(), e.String())
	}
	return code, o.String(), e.String()
}

// TestCatalogOfProject adds releases of a project to its catalog, one after the other, in a subdirectory of the project.
func TestCatalogOfProject(t *testing.T) {
	t.Parallel()
	p, disk := newts(t), afero.NewOsFs()
	const image = "quay.io/pond/{{.Package}}-bundle:v{{.Version}}"
	p.must(t, "--version", "0.1.0")
	if code, out, errOut := p.catalog(t, disk, "config", "generate", "catalog", "--image", image); code != 0 || !strings.Contains(out, "created  catalog/newt-operator/catalog.yaml") {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	p.must(t, "--version", "0.2.0")
	before := clitest.ReadTree(t, p.dir)
	code, _, errOut := p.catalog(t, disk, "", "generate", "catalog", "--image", image)
	if code != 1 || !strings.Contains(errOut, newtCSV+":1: channel alpha has 2 heads: newt-operator.v0.1.0, newt-operator.v0.2.0") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if after := clitest.ReadTree(t, p.dir); len(after) != len(before) {
		t.Errorf("something was written: %s", clitest.SortedKeys(after))
	}
	p.edit(t, newtCSV, "  version: 0.2.0", "  replaces: newt-operator.v0.1.0\n  version: 0.2.0")
	read := afero.NewReadOnlyFs(disk)
	if code, out, errOut := p.catalog(t, read, "", "generate", "catalog", "--image", image); code != 1 || out != "" {
		t.Errorf("a read-only file system: exit code %d\n%s%s", code, out, errOut)
	}
	if code, _, errOut := p.catalog(t, disk, "", "generate", "catalog", "--image", image); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	code, out, errOut := p.catalog(t, read, "config", "catalog", "graph", "../catalog")
	if want := "newt-operator\n  alpha (default)\n    * newt-operator.v0.2.0 (head)\n    | replaces\n    * newt-operator.v0.1.0\n"; code != 0 || out != want {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}

// TestCatalogLinks checks that symbolic links in bundles are not followed, and that dangling links in a catalog are reported.
func TestCatalogLinks(t *testing.T) {
	t.Parallel()
	p, disk := newts(t), afero.NewOsFs()
	p.must(t, "--version", "0.1.0")
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(secret, []byte("kind: Secret\napiVersion: v1\nmetadata: {name: hidden}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.Symlink(t, secret, filepath.Join(p.dir, "bundle", "manifests", "link.yaml"))
	code, _, errOut := p.catalog(t, disk, "", "generate", "catalog", "--image", "quay.io/a/b:1")
	if code != 1 || !strings.Contains(errOut, "bundle/manifests/link.yaml: is not a regular file") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "catalog"), 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.Symlink(t, "nowhere", filepath.Join(p.dir, "catalog", "gone.yaml"))
	code, out, errOut := p.catalog(t, disk, "", "catalog", "validate", "catalog")
	if code != 1 || !strings.Contains(out, "catalog/gone.yaml: ") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}
