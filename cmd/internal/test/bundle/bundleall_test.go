package bundle

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// goldenProject is a copy of a golden project with its own cache.
type goldenProject struct {
	dir, cache string
	build      string // build ID of the program; empty for the current one
	now        time.Time
}

func newGoldenProject(t *testing.T, name string) *goldenProject {
	t.Helper()
	if err := clitest.DownloadModules(); err != nil {
		t.Fatal(err)
	}
	p := &goldenProject{dir: filepath.Join(t.TempDir(), name), cache: t.TempDir(), now: time.Unix(1700000000, 0)}
	if err := os.CopyFS(p.dir, os.DirFS(clitest.Testdata(name))); err != nil {
		t.Fatal(err)
	}
	p.removeBundle(t)
	return p
}

// removeBundle removes the bundle.
func (p *goldenProject) removeBundle(t *testing.T) {
	t.Helper()
	for _, name := range []string{"bundle", "bundle.Dockerfile"} {
		if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// run executes a command, one minute later than the previous call.
func (p *goldenProject) run(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	env, err := cmd.System()
	if err != nil {
		t.Fatal(err)
	}
	env.In, env.Out, env.Err, env.Dir, env.FS, env.CacheDir = strings.NewReader(""), &o, &e, p.dir, afero.NewOsFs(), p.cache
	if p.build != "" {
		env.Build = p.build
	}
	env.InTerminal, env.OutTerminal, env.ErrTerminal, env.InPipe, env.InFile = false, false, false, true, false
	env.SlowAfter = clitest.NeverSlow
	now := p.now
	env.Now = func() time.Time { return now }
	p.now = p.now.Add(time.Minute)
	code = cmd.Main(t.Context(), env, append([]string{"operon"}, args...))
	return code, o.String(), e.String()
}

func (p *goldenProject) must(t *testing.T, args ...string) (out, errOut string) {
	t.Helper()
	code, out, errOut := p.run(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, errOut)
	}
	return out, errOut
}

// replace replaces a text in a file of the project.
func (p *goldenProject) replace(t *testing.T, name, old, text string) {
	t.Helper()
	clitest.EditFile(t, p.dir, name, old, text)
}

// unchanged executes a command and fails the test if it writes something.
func (p *goldenProject) unchanged(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	before := clitest.ReadTree(t, p.dir)
	code, out, errOut = p.run(t, args...)
	if after := clitest.ReadTree(t, p.dir); !maps.Equal(before, after) {
		t.Errorf("%v wrote something", args)
	}
	return code, out, errOut
}

const (
	memcachedCSV  = "bundle/manifests/memcached-operator.clusterserviceversion.yaml"
	memcachedBase = "config/manifests/bases/memcached-operator.clusterserviceversion.yaml"
	memcachedType = "api/v1alpha1/memcached_types.go"
)

// TestBundleAllIsMakeBundle checks that for every golden project the command creates the same files as the steps of its
// Makefile.
func TestBundleAllIsMakeBundle(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs make")
	for _, name := range clitest.GoldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, made := newGoldenProject(t, name), newGoldenProject(t, name)
			p.must(t, "bundle", "--version", "0.0.1", "--image", "registry.example.com:5000/team/op:v0.0.1", "--channels", "beta,stable", "--default-channel", "stable")
			c := exec.Command("make", "bundle", "VERSION=0.0.1", "IMG=registry.example.com:5000/team/op:v0.0.1", "CHANNELS=beta,stable", "DEFAULT_CHANNEL=stable")
			c.Dir = made.dir
			c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "XDG_CACHE_HOME="+made.cache)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("make bundle: %v\n%s", err, out)
			}
			got, want := clitest.ReadTree(t, p.dir), clitest.ReadTree(t, made.dir)
			for _, file := range slices.Sorted(maps.Keys(want)) {
				if got[file] != want[file] {
					t.Errorf("%s differs from make bundle's:\n%s", file, clitest.DiffLines(want[file], got[file]))
				}
			}
			for file := range got {
				if _, ok := want[file]; !ok {
					t.Errorf("make bundle does not create %s", file)
				}
			}
			if image := "image: registry.example.com:5000/team/op:v0.0.1"; !strings.Contains(got["bundle/manifests/"+name+".clusterserviceversion.yaml"], image) {
				t.Errorf("the CSV has no %s", image)
			}
		})
	}
}

// TestBundleAllAgain checks that a bundle is written again only if something has changed, in any directory, that values
// without a flag are kept, and that --check detects a stale bundle without writing.
func TestBundleAllAgain(t *testing.T) {
	t.Parallel()
	p := newGoldenProject(t, "memcached-operator")
	p.must(t, "bundle", "--channels", "stable")
	if csv := clitest.ReadTree(t, p.dir)[memcachedCSV]; !strings.Contains(csv, "\n  version: 0.0.1\n") {
		t.Errorf("the first bundle is not of the Makefile's version:\n%s", csv)
	}
	root := p.dir
	p.dir = filepath.Join(root, "api")
	if code, out, errOut := p.unchanged(t, "bundle"); code != 0 || out != "" {
		t.Errorf("the second time: exit code %d\n%s%s", code, out, errOut)
	}
	p.dir = root
	if code, out, errOut := p.unchanged(t, "bundle", "--check"); code != 0 || out != "" {
		t.Errorf("--check of a fresh bundle: exit code %d\n%s%s", code, out, errOut)
	}

	p.replace(t, memcachedType, "\tSize *int32", "\t// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName=\"How Many\"\n\t// +kubebuilder:validation:Maximum=77\n\tSize *int32")
	code, out, errOut := p.unchanged(t, "bundle", "--check")
	if code != 1 || !strings.Contains(errOut, "out of date") {
		t.Errorf("--check of a stale bundle: exit code %d\n%s", code, errOut)
	}
	for _, line := range []string{"+                maximum: 77", "+        displayName: How Many", "+++ b/" + memcachedCSV, "+++ b/config/crd/bases/cache.example.com_memcacheds.yaml"} {
		if !strings.Contains(out, line) {
			t.Errorf("--check does not print %q:\n%s", line, out)
		}
	}
	if code, out, _ := p.unchanged(t, "bundle", "--dry-run"); code != 0 || !strings.Contains(out, "+                maximum: 77") {
		t.Errorf("--dry-run: exit code %d\n%s", code, out)
	}
	p.must(t, "bundle", "--version", "0.0.2", "--replaces", "memcached-operator.v0.0.1", "--skip-range", ">=0.0.1 <0.0.2")
	files := clitest.ReadTree(t, p.dir)
	for file, texts := range map[string][]string{
		memcachedCSV:                       {"name: memcached-operator.v0.0.2", "replaces: memcached-operator.v0.0.1", "olm.skipRange: '>=0.0.1 <0.0.2'", "displayName: How Many"},
		memcachedBase:                      {"replaces: memcached-operator.v0.0.1", "olm.skipRange: '>=0.0.1 <0.0.2'"},
		"bundle/metadata/annotations.yaml": {"channels.v1: stable\n"},
		"bundle/manifests/cache.example.com_memcacheds.yaml": {"maximum: 77"},
	} {
		for _, text := range texts {
			if !strings.Contains(files[file], text) {
				t.Errorf("%s does not contain %q:\n%s", file, text, files[file])
			}
		}
	}
	if code, out, errOut := p.unchanged(t, "bundle", "--check"); code != 0 || out != "" {
		t.Errorf("the values of --replaces and --skip-range were lost: exit code %d\n%s%s", code, out, errOut)
	}
}

// TestBundleAllUndescribed checks that there are no prompts without a terminal, and that the scaffold's texts cause a
// warning.
func TestBundleAllUndescribed(t *testing.T) {
	t.Parallel()
	p := newGoldenProject(t, "minimal-operator")
	p.dir = filepath.Join(t.TempDir(), "fresh-operator")
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.must(t, "init", "--domain", "example.com", "--repo", "example.com/fresh-operator")
	if out, errOut := p.must(t, "bundle"); strings.Contains(out, "(required)") || !strings.Contains(errOut, "the description of the operator is still the default") {
		t.Errorf("no warning about the scaffold's texts, or a prompt for them:\n%s%s", out, errOut)
	}
	p.must(t, "bundle", "--display-name", "Fresh Air", "--description", "Opens windows.")
	csv := clitest.ReadTree(t, p.dir)["bundle/manifests/fresh-operator.clusterserviceversion.yaml"]
	if !strings.Contains(csv, "displayName: Fresh Air") || !strings.Contains(csv, "description: Opens windows.") {
		t.Errorf("the CSV lacks the values of flags:\n%s", csv)
	}
	if _, errOut := p.must(t, "bundle"); strings.Contains(errOut, "is still the default") {
		t.Errorf("the warning is still printed with a description:\n%s", errOut)
	}
}

// TestBundleAllOrNothing checks that a failed step leaves no changes of the steps before it, and that a kustomization is
// built again when any of its files has changed.
func TestBundleAllOrNothing(t *testing.T) {
	t.Parallel()
	p := newGoldenProject(t, "memcached-operator")
	p.must(t, "bundle")
	p.replace(t, memcachedType, "\tSize *int32", "\t// +kubebuilder:validation:Maximum=77\n\tSize *int32")
	p.replace(t, "config/samples/kustomization.yaml", "resources:\n", "resources:\n- missing.yaml\n")
	if code, out, errOut := p.unchanged(t, "bundle"); code != 1 || out != "" || !strings.Contains(errOut, "missing.yaml") || strings.Contains(errOut, p.dir) {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	p.replace(t, "config/samples/kustomization.yaml", "- missing.yaml\n", "")
	p.replace(t, "config/samples/cache_v1alpha1_memcached.yaml", "size: 1", "size: 3")
	p.must(t, "bundle")
	if csv := clitest.ReadTree(t, p.dir)[memcachedCSV]; !strings.Contains(csv, `"size": 3`) {
		t.Errorf("the sample's change is not in the CSV:\n%s", csv)
	}
	p.replace(t, "config/manager/manager.yaml", "image: controller:latest", "image: other:latest")
	if code, _, errOut := p.unchanged(t, "bundle", "--image", "registry.example.com/op:v1"); code != 2 || !strings.Contains(errOut, "is not used by any container") {
		t.Errorf("an image that no container uses: exit code %d\n%s", code, errOut)
	}
}

// TestBundleAllRefuses checks that all invalid flags are reported at once.
func TestBundleAllRefuses(t *testing.T) {
	t.Parallel()
	p := newGoldenProject(t, "memcached-operator")
	code, _, errOut := p.unchanged(t, "bundle", "--version", "v1", "--image", "Not An Image", "--replaces", "Bad Name", "--skip-range", "often",
		"--channels", "a b", "--registry-mirror", "x", "--provider-url", "nowhere", "--prefer", "neither")
	if code != 2 {
		t.Errorf("exit code %d", code)
	}
	for _, flag := range []string{"--version", "--image", "--replaces", "--skip-range", "--channels", "--registry-mirror", "--provider-url", "--prefer"} {
		if strings.Count(errOut, flag+" \"") != 1 {
			t.Errorf("%s is not named once:\n%s", flag, errOut)
		}
	}
	if code, _, errOut := p.unchanged(t, "bundle", "--version", "0.0.2", "--replaces", "memcached-operator.v0.0.2"); code != 2 || !strings.Contains(errOut, "is the name of this CSV") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "bundle/manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(p.dir, "bundle/manifests/mine.yaml"), "apiVersion: v1\nkind: [\n")
	if code, _, errOut := p.unchanged(t, "bundle"); code != 1 || !strings.Contains(errOut, "bundle/manifests/mine.yaml:") {
		t.Errorf("an invalid manifest among the generated ones: exit code %d\n%s", code, errOut)
	}
}

// TestBundleAllStrict checks that --strict accepts scaffolded projects, from which only objects that OLM provides are left
// out, and rejects the loss of any other object.
func TestBundleAllStrict(t *testing.T) {
	t.Parallel()
	for _, name := range clitest.GoldenProjects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newGoldenProject(t, name)
			_, errOut := p.must(t, "bundle", "--strict", "--verbose")
			if !strings.Contains(errOut, "note: config/manager/manager.yaml:1: Namespace "+name+"-system is left out: ") {
				t.Errorf("no note names the Namespace that is left out:\n%s", errOut)
			}
			if _, errOut := p.must(t, "bundle", "--strict"); strings.Contains(errOut, "is left out") {
				t.Errorf("a note needs no action:\n%s", errOut)
			}
			p.replace(t, "config/manager/manager.yaml", "apiVersion: apps/v1\n", "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: more\n---\napiVersion: apps/v1\n")
			code, _, errOut := p.unchanged(t, "bundle", "--strict")
			if code != 1 || strings.Count(errOut, "error: ") != 2 || !strings.Contains(errOut, "HorizontalPodAutoscaler "+name+"-system/"+name+"-more is left out") {
				t.Errorf("exit code %d\n%s", code, errOut)
			}
		})
	}
}

// TestBundleAllClone checks that a bundle with edits of every kind is not stale in a clone, and that the edits are kept
// there when something else changes.
func TestBundleAllClone(t *testing.T) {
	t.Parallel()
	p := newGoldenProject(t, "memcached-operator")
	p.must(t, "bundle", "--channels", "stable", "--image", "registry.example.com/op:v1")
	const service = "bundle/manifests/memcached-operator-controller-manager-metrics-service_v1_service.yaml"
	edits := []struct{ file, old, text, want string }{
		{memcachedCSV, "replicas: 1", "replicas: 2", "replicas: 2"},
		{memcachedCSV, "    capabilities: ", "    example.com/by: hand\n    capabilities: ", "example.com/by: hand"},
		{service, "  name: memcached", "  annotations:\n    example.com/by: hand\n  name: memcached", "example.com/by: hand"},
		{service, "port: 8443", "port: 8444", "port: 8444"},
		{"bundle/manifests/cache.example.com_memcacheds.yaml", "    storage: true\n", "    storage: true\n    deprecated: true\n", "deprecated: true"},
		{"bundle/tests/scorecard/config.yaml", "parallel: true", "parallel: false", "parallel: false"},
		{"bundle/metadata/annotations.yaml", "channels.v1: stable", "channels.v1: fast", "channels.v1: fast"},
		{"bundle.Dockerfile", "channels.v1=stable", "channels.v1=fast", "channels.v1=fast"},
		{"bundle.Dockerfile", "COPY bundle/metadata /metadata/\n", "COPY bundle/metadata /metadata/\nCOPY LICENSE /licenses/\n", "COPY LICENSE /licenses/"},
	}
	for _, e := range edits {
		p.replace(t, e.file, e.old, e.text)
	}
	p.replace(t, memcachedBase, "  maturity: alpha", "  maturity: beta")
	p.must(t, "bundle")
	kept := func(where string) {
		t.Helper()
		for _, e := range edits {
			if !strings.Contains(clitest.ReadFile(t, filepath.Join(p.dir, e.file)), e.want) {
				t.Errorf("%s: %s lost %q", where, e.file, e.want)
			}
		}
	}
	kept("original")
	clone := func() {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "clone")
		if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
			t.Fatal(err)
		}
		p.dir, p.cache = dir, t.TempDir()
	}
	clone()
	if code, out, errOut := p.unchanged(t, "bundle", "--check"); code != 0 || out != "" {
		t.Errorf("--check in a clone: exit code %d\n%s%s", code, out, errOut)
	}
	p.replace(t, memcachedType, "\tSize *int32", "\t// +kubebuilder:validation:Maximum=77\n\tSize *int32")
	p.must(t, "bundle", "--version", "0.0.2")
	kept("clone")
	if csv := clitest.ReadFile(t, filepath.Join(p.dir, memcachedCSV)); !strings.Contains(csv, "maturity: beta") {
		t.Errorf("the edit of the base was lost:\n%s", csv)
	}
	clone()
	if code, out, errOut := p.unchanged(t, "bundle", "--check"); code != 0 || out != "" {
		t.Errorf("--check in a clone of the clone: exit code %d\n%s%s", code, out, errOut)
	}
}
