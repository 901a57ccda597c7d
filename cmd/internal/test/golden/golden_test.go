package golden

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// replay runs the commands of a golden project in a new directory of that name, and returns the directory. Other commands than
// operon run in the shell: edits of a user are patches in NAME.edits. Charts are in charts beside the directory.
func replay(t *testing.T, name string) string {
	t.Helper()
	script, err := os.ReadFile(clitest.Testdata(name + ".commands"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(filepath.Dir(dir), "charts"), os.DirFS(clitest.Testdata("charts"))); err != nil {
		t.Fatal(err)
	}
	edits := clitest.Testdata(name + ".edits")
	if err := os.CopyFS(dir+".edits", os.DirFS(edits)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "operon "):
			clitest.MustRun(t, dir, strings.Fields(line)...)
		default:
			shell(t, dir, line)
		}
	}
	return dir
}

// shell runs a line with the usual umask, outside of any repository.
func shell(t *testing.T, dir, line string) {
	t.Helper()
	c := exec.Command("sh", "-c", "umask 022\n"+line)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// TestGolden replays the commands of all golden projects and compares the trees.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(clitest.GoldenProjects(t), clitest.GoldenHelmProjects(t), clitest.GoldenAnsibleProjects(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := replay(t, name), clitest.Testdata(name)
			if *clitest.Update {
				if err := os.RemoveAll(want); err != nil {
					t.Fatal(err)
				}
				if err := os.CopyFS(want, os.DirFS(got)); err != nil {
					t.Fatal(err)
				}
			}
			clitest.CompareTrees(t, want, got)
			if t.Failed() {
				t.Log("make golden rewrites the golden trees")
			}
			checkModes(t, got)
			clitest.CheckFormat(t, got)
			clitest.CheckOverlays(t, got)
		})
	}
}

// TestGoldenBuilds checks the code and go.mod of all golden projects. For one project of each layout, it compares the verdict
// with the verdicts of the compiler and go vet; TestGoldenTests compiles the others, too.
func TestGoldenBuilds(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it compiles projects")
	for _, name := range clitest.GoldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyGolden(t, name)
			clitest.CheckCompiles(t, dir)
			if name == "memcached-operator" || name == "multigroup-operator" {
				clitest.CheckGoVet(t, dir)
			}
		})
	}
}

// TestGoldenHelmTree checks that a golden Helm project has all files of operator-sdk's projects, except the chart's.
func TestGoldenHelmTree(t *testing.T) {
	t.Parallel()
	files := clitest.ReadTree(t, clitest.Testdata("shop-operator"))
	for name := range strings.FieldsSeq(clitest.ReadFile(t, filepath.Join("testdata", "helm-operator.txt"))) {
		name = strings.NewReplacer("cache.example.com_memcacheds", "shops.example.com_shops", "cache_v1alpha1_memcached", "shops_v1alpha1_shop",
			"memcached_", "shop_").Replace(name)
		if _, ok := files[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	for name, content := range clitest.ReadTree(t, clitest.Testdata("charts", "shop")) {
		if name != ".helmignore" && files["helm-charts/shop/"+name] != content {
			t.Errorf("helm-charts/shop/%s differs from the chart's file", name)
		}
	}
}

// checkModes checks that files have mode 0644 and directories 0755, independent of the umask.
func checkModes(t testing.TB, dir string) {
	t.Helper()
	clitest.WalkTree(t, dir, func(p string, d fs.DirEntry) {
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(0o644)
		if d.IsDir() {
			want = 0o755
		}
		if p != dir && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", p, info.Mode().Perm(), want)
		}
	})
}
