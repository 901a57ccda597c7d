package bundle

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/testdata/cases"
)

// bundleProject is a project with the manifests of a recorded case.
type bundleProject struct {
	dir, cache, stdin string
	environ           []string
	now               time.Time
	http              http.RoundTripper
}

func newBundleProject(t *testing.T, name string) *bundleProject {
	t.Helper()
	c, err := cases.Read("bundle/" + name)
	if err != nil {
		t.Fatal(err)
	}
	p := &bundleProject{dir: filepath.Join(t.TempDir(), "work"), cache: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := os.CopyFS(p.dir, c.FS("tree")); err != nil {
		t.Fatal(err)
	}
	p.stdin, _, _ = c.Stdin()
	return p
}

// run executes generate bundle, one minute later than the previous call.
func (p *bundleProject) run(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	p.now = p.now.Add(time.Minute)
	var o, e bytes.Buffer
	env := &cmd.Env{
		In: strings.NewReader(p.stdin), InPipe: p.stdin != "", Out: &o, Err: &e, Dir: p.dir, FS: afero.NewOsFs(),
		CacheDir: p.cache, Environ: p.environ, HTTP: p.http, Now: func() time.Time { return p.now },
	}
	code = cmd.Main(t.Context(), env, append([]string{"operon", "generate", "bundle"}, args...))
	return code, o.String(), e.String()
}

// must fails the test unless the command exits with 0.
func (p *bundleProject) must(t *testing.T, args ...string) (out, errOut string) {
	t.Helper()
	code, out, errOut := p.run(t, args...)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	return out, errOut
}

func (p *bundleProject) file(t *testing.T, name string) string {
	t.Helper()
	return clitest.ReadFile(t, filepath.Join(p.dir, filepath.FromSlash(name)))
}

// edit replaces a text that a file must contain; an empty old text appends.
func (p *bundleProject) edit(t *testing.T, name, old, text string) {
	t.Helper()
	content := p.file(t, name)
	if !strings.Contains(content, old) {
		t.Fatalf("%s does not contain %q:\n%s", name, old, content)
	}
	if old == "" {
		content += text
	} else {
		content = strings.Replace(content, old, text, 1)
	}
	if err := os.WriteFile(filepath.Join(p.dir, filepath.FromSlash(name)), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	newtCSV         = "bundle/manifests/newt-operator.clusterserviceversion.yaml"
	newtBase        = "config/manifests/bases/newt-operator.clusterserviceversion.yaml"
	annotationsFile = "bundle/metadata/annotations.yaml"
)

// newts returns a project without a bundle.
func newts(t *testing.T) *bundleProject {
	t.Helper()
	p := newBundleProject(t, "28-regenerate-previous-version")
	for _, name := range []string{"bundle", "bundle.Dockerfile"} {
		if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestBundleTwice checks that a second run writes nothing, and that the time in the CSV changes only together with other
// content.
func TestBundleTwice(t *testing.T) {
	t.Parallel()
	p := newts(t)
	p.must(t, "--version", "0.2.0")
	first := clitest.ReadTree(t, p.dir)
	if created := "2026-01-02T03:05:05Z"; !strings.Contains(first[newtCSV], created) {
		t.Errorf("the CSV was not created at %s:\n%s", created, first[newtCSV])
	}
	if out, _ := p.must(t, "--version", "0.2.0"); out != "" {
		t.Errorf("the second run changed something:\n%s", out)
	}
	p.environ = []string{"SOURCE_DATE_EPOCH=1700000000"}
	if out, _ := p.must(t, "--version", "0.2.0"); out != "" {
		t.Errorf("SOURCE_DATE_EPOCH alone changed something:\n%s", out)
	}
	_, errOut := p.must(t, "--version", "0.3.0")
	if text := newtCSV + ": newt-operator.v0.3.0 replaces no version, but the bundle was newt-operator.v0.2.0 before"; !strings.Contains(errOut, text) {
		t.Errorf("stderr does not contain %q:\n%s", text, errOut)
	}
	if created := "2023-11-14T22:13:20Z"; !strings.Contains(p.file(t, newtCSV), created) {
		t.Errorf("the CSV lacks the time of SOURCE_DATE_EPOCH, %s:\n%s", created, p.file(t, newtCSV))
	}
	// A bundle of operator-sdk that differs only in the name of its builder is not written again.
	p.edit(t, newtCSV, "operators.operatorframework.io/builder: operon-", "operators.operatorframework.io/builder: operator-sdk-")
	p.edit(t, annotationsFile, "metrics.builder: operon-", "metrics.builder: operator-sdk-")
	if out, _ := p.must(t, "--version", "0.3.0"); out != "" {
		t.Errorf("the name of the builder alone changed something:\n%s", out)
	}
}

// handEdits edits a committed bundle as users do and returns the expected texts by file.
func handEdits(t *testing.T, p *bundleProject) map[string][]string {
	t.Helper()
	p.edit(t, newtCSV, "    capabilities: Basic Install\n", "    capabilities: Basic Install\n    olm.skipRange: '<0.2.0'\n    newts.example/note: by hand\n")
	p.edit(t, newtCSV, "  name: newt-operator.v", "  labels:\n    operatorframework.io/arch.arm64: supported\n  name: newt-operator.v")
	p.edit(t, newtCSV, "  version: 0.2.0", "  relatedImages:\n  - image: registry.newts.example/pond:1\n    name: pond\n  replaces: newt-operator.v0.1.0\n  skips:\n  - newt-operator.v0.1.5\n  version: 0.2.0")
	p.edit(t, annotationsFile, "", "\n  # For the catalog of OpenShift.\n  com.redhat.openshift.versions: v4.12-v4.18\n")
	p.edit(t, "bundle.Dockerfile", "FROM scratch\n", "FROM scratch\n\n# Ours.\nLABEL com.redhat.delivery.operator.bundle=true newts.example/team=\"the pond\"\n")
	p.edit(t, "bundle.Dockerfile", "", "COPY LICENSE /licenses/\n")
	return map[string][]string{
		newtCSV: {
			"olm.skipRange: <0.2.0", "newts.example/note: by hand", "operatorframework.io/arch.arm64: supported",
			"image: registry.newts.example/pond:1", "replaces: newt-operator.v0.1.0", "- newt-operator.v0.1.5",
		},
		annotationsFile:     {"# For the catalog of OpenShift.", "com.redhat.openshift.versions: v4.12-v4.18"},
		"bundle.Dockerfile": {"# Ours.", "LABEL com.redhat.delivery.operator.bundle=true", `LABEL newts.example/team="the pond"`, "COPY LICENSE /licenses/"},
	}
}

// TestBundleKeepsEdits checks that additions to a committed bundle are kept, also in a clone without a record of what was
// generated before.
func TestBundleKeepsEdits(t *testing.T) {
	t.Parallel()
	for _, clone := range []bool{false, true} {
		t.Run(map[bool]string{false: "original", true: "clone"}[clone], func(t *testing.T) {
			t.Parallel()
			p := newts(t)
			p.must(t, "--version", "0.2.0")
			want := handEdits(t, p)
			if clone {
				p.cache = t.TempDir()
			}
			if out, _ := p.must(t, "--version", "0.2.0"); out != "" {
				t.Errorf("edits alone caused a write:\n%s", out)
			}
			if clone {
				p.cache = t.TempDir()
			}
			for _, version := range []string{"0.3.0", "0.4.0"} {
				_, errOut := p.must(t, "--version", version, "--channels", "stable-"+version)
				if text := "newt-operator.v" + version + " keeps spec.replaces: newt-operator.v0.1.0 of the bundle"; !strings.Contains(errOut, text) {
					t.Errorf("stderr does not contain %q:\n%s", text, errOut)
				}
				for file, texts := range want {
					content := p.file(t, file)
					for _, text := range texts {
						if strings.Count(content, text) != 1 {
							t.Errorf("%s: %s does not contain %q once:\n%s", version, file, text, content)
						}
					}
				}
				if !strings.Contains(p.file(t, annotationsFile), "channels.v1: stable-"+version) || !strings.Contains(p.file(t, newtCSV), "version: "+version) {
					t.Errorf("%s was not generated", version)
				}
			}
			if out, _ := p.must(t, "--version", "0.4.0", "--channels", "stable-0.4.0"); out != "" {
				t.Errorf("the second run changed something:\n%s", out)
			}
		})
	}
}

// TestBundleEditOfGenerated checks that an edit of a generated value is kept while the generated value does not change,
// also in a clone, and is a conflict when it changes.
func TestBundleEditOfGenerated(t *testing.T) {
	t.Parallel()
	p := newts(t)
	p.must(t, "--version", "0.2.0")
	p.edit(t, annotationsFile, "channels.v1: alpha", "channels.v1: beta")
	p.edit(t, newtCSV, "displayName: Newt Operator", "displayName: Newts of the Pond")
	p.edit(t, newtCSV, "        name: newt-operator\n        spec:\n          replicas: 1", "        name: newt-operator\n        spec:\n          replicas: 3")
	p.must(t, "--version", "0.2.1")
	edited := func() {
		t.Helper()
		if !strings.Contains(p.file(t, annotationsFile), "channels.v1: beta") {
			t.Errorf("the edited channel was lost:\n%s", p.file(t, annotationsFile))
		}
		for _, text := range []string{"displayName: Newts of the Pond", "replicas: 3", "version: 0.2."} {
			if !strings.Contains(p.file(t, newtCSV), text) {
				t.Errorf("%s was lost:\n%s", text, p.file(t, newtCSV))
			}
		}
	}
	edited()
	p.cache = t.TempDir() // a clone
	p.must(t, "--version", "0.2.2")
	edited()
	before := clitest.ReadTree(t, p.dir)
	for _, where := range []string{"original", "clone"} {
		if where == "clone" {
			p.cache = t.TempDir()
		}
		p.edit(t, newtBase, "displayName: Newt Operator", "displayName: Newts")
		code, out, errOut := p.run(t, "--version", "0.2.3", "--channels", "stable")
		if code != 1 || out != "" {
			t.Errorf("%s: exit code %d\n%s%s", where, code, out, errOut)
		}
		for _, text := range []string{
			annotationsFile + ": operators.operatorframework.io.bundle.channels.v1 was edited", "edited:           beta", "generated now:    stable", "generated before: alpha",
			newtCSV + ": spec.displayName", "Newts of the Pond", "generated now:    Newts\n", "generated before: Newt Operator",
		} {
			if !strings.Contains(errOut, text) {
				t.Errorf("%s: stderr does not contain %q:\n%s", where, text, errOut)
			}
		}
		p.edit(t, newtBase, "displayName: Newts", "displayName: Newt Operator")
		after := clitest.ReadTree(t, p.dir)
		for file := range before {
			if before[file] != after[file] {
				t.Errorf("%s: %s changed", where, file)
			}
		}
	}
	// Restoring the generated values removes the recorded edits.
	p.edit(t, annotationsFile, "channels.v1: beta", "channels.v1: alpha")
	p.edit(t, newtCSV, "displayName: Newts of the Pond", "displayName: Newt Operator")
	p.edit(t, newtCSV, "replicas: 3", "replicas: 1")
	p.must(t, "--version", "0.2.3", "--channels", "stable")
	if exists(filepath.Join(p.dir, ".operon", "bundle.json")) {
		t.Errorf("edits are still recorded:\n%s", p.file(t, ".operon/bundle.json"))
	}
}

// TestBundleStale checks that manifests that are no longer generated are removed with a note, and that users' own are kept.
func TestBundleStale(t *testing.T) {
	t.Parallel()
	for _, clone := range []bool{false, true} {
		p := newts(t)
		const extra = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: NAME\nspec:\n  ports:\n  - port: 80\n"
		stdin := p.stdin
		p.stdin += strings.Replace(extra, "NAME", "bath", 1) + strings.Replace(extra, "NAME", "basin", 1)
		p.must(t, "--version", "0.2.0")
		const bath, basin = "bundle/manifests/bath_v1_service.yaml", "bundle/manifests/basin_v1_service.yaml"
		p.edit(t, basin, "port: 80", "port: 81")
		p.must(t, "--version", "0.2.0")
		added, other := filepath.Join(p.dir, "bundle", "manifests", "mine_v1_configmap.yaml"), filepath.Join(p.dir, "bundle", "manifests", "other.clusterserviceversion.yaml")
		clitest.WriteFile(t, added, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n")
		clitest.WriteFile(t, other, "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: other.v1.0.0\n")
		p.stdin = stdin
		if clone {
			p.cache = t.TempDir()
		}
		out, errOut := p.must(t, "--version", "0.2.0")
		if !strings.Contains(out, bath) || strings.Contains(out, basin) || exists(filepath.Join(p.dir, bath)) || !exists(added) || !exists(other) {
			t.Errorf("clone %v: %s was removed, or the files are %s:\n%s", clone, basin, clitest.SortedKeys(clitest.ReadTree(t, p.dir)), out)
		}
		for _, text := range []string{
			bath + " is no longer generated; removed",
			basin + " is no longer generated but was edited; kept",
			"other.clusterserviceversion.yaml is a second CSV, which makes the bundle invalid; kept",
		} {
			if !strings.Contains(errOut, "note: ") || !strings.Contains(errOut, text) {
				t.Errorf("clone %v: stderr does not contain %q:\n%s", clone, text, errOut)
			}
		}
		if err := os.Remove(filepath.Join(p.dir, basin)); err != nil {
			t.Fatal(err)
		}
		if p.must(t, "--version", "0.2.0"); exists(filepath.Join(p.dir, ".operon", "bundle.json")) {
			t.Errorf("clone %v: edits of a removed file are still recorded:\n%s", clone, p.file(t, ".operon/bundle.json"))
		}
	}
}

// TestBundleLeftOut checks that a warning names each object that is left out of the bundle unless -q is given, and that
// --strict makes it an error.
func TestBundleLeftOut(t *testing.T) {
	t.Parallel()
	p := newBundleProject(t, "22-extra-objects-dropped")
	if out, errOut := p.must(t, "-q", "--version", "0.1.0"); out+errOut != "" {
		t.Errorf("-q printed:\n%s%s", out, errOut)
	}
	_, errOut := p.must(t, "--version", "0.2.0")
	objects := regexp.MustCompile(`(?m)^kind: (\w+)$`).FindAllStringSubmatch(p.stdin, -1)
	for _, o := range objects {
		switch o[1] {
		case "Deployment", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition":
			continue
		}
		if !regexp.MustCompile(`warning: stdin:\d+: ` + o[1] + ` \S+ is left out: .+; .+`).MatchString(errOut) {
			t.Errorf("no warning names %s:\n%s", o[1], errOut)
		}
	}
	before := clitest.ReadTree(t, p.dir)
	code, _, errOut := p.run(t, "--strict", "--version", "0.3.0")
	if code != 1 || !strings.Contains(errOut, "--strict: ") || !strings.Contains(errOut, "error: stdin:") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if !strings.Contains(errOut, "--strict: the bundle would lack what the errors name") {
		t.Errorf("stderr lacks the reason of --strict:\n%s", errOut)
	}
	if after := clitest.ReadTree(t, p.dir); len(after) != len(before) || after["bundle/metadata/annotations.yaml"] != before["bundle/metadata/annotations.yaml"] {
		t.Error("--strict wrote something")
	}
}

// TestBundleSizes checks that a bundle too large for OLM or for etcd is an error with its sizes.
func TestBundleSizes(t *testing.T) {
	t.Parallel()
	incompressible := func(n int) string {
		random := rand.New(rand.NewPCG(1, 2))
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[random.IntN(64)]
		}
		return string(b)
	}
	config := func(text string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n  text: " + text + "\n"
	}
	for _, c := range []struct {
		name, text, want string
		code             int
	}{
		{"unpack", incompressible(1100 << 10), `bundle: is a bundle of 1\.\d\d MiB \(\d{7} bytes\) compressed \(1\.\d\d MiB \(\d{7} bytes\) plain\), and the ConfigMap .* holds 1\.00 MiB \(1048576 bytes\); the largest are large_v1_configmap.yaml`, 1},
		{"near", incompressible(900 << 10), `note: bundle is a bundle of .*KiB`, 0},
		{"near etcd", strings.Repeat("the same again ", 92000), `note: bundle/manifests/large_v1_configmap.yaml is an object of 1\.\d\d MiB \(\d{7} bytes\); a cluster accepts at most 1\.50 MiB`, 0},
		{"etcd", strings.Repeat("the same again ", 110000), `large_v1_configmap.yaml: is an object of 1\.57 MiB \(\d{7} bytes\), and a cluster accepts at most 1\.50 MiB`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newts(t)
			p.stdin += config(c.text)
			code, _, errOut := p.run(t, "--version", "0.2.0")
			if code != c.code || !regexp.MustCompile(c.want).MatchString(errOut) {
				t.Errorf("exit code %d, want %d and %s\n%s", code, c.code, c.want, errOut)
			}
			if code != 0 && exists(filepath.Join(p.dir, "bundle")) {
				t.Error("something was written")
			}
		})
	}
}

// TestBundleDigests checks that images are pinned and listed once each, and that a run without network results in the same
// bundle.
func TestBundleDigests(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("ab", 32)
	requests := 0
	registry := roundTripper(func(r *http.Request) (*http.Response, error) {
		requests++
		response := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}
		if r.URL.Path == "/v2/" || strings.Contains(r.URL.Path, "newt-operator/manifests/0.2.0") || strings.Contains(r.URL.Path, "pond/manifests/1") {
			response.StatusCode = http.StatusOK
			response.Header.Set("Docker-Content-Digest", digest)
			response.Header.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			response.ContentLength = 2
		}
		return response, nil
	})
	p := newts(t)
	p.stdin = strings.Replace(p.stdin, "        name: manager\n", "        name: manager\n        env:\n        - name: RELATED_IMAGE_POND\n          value: registry.example/pond:1\n        - name: RELATED_IMAGE_BATH\n          value: registry.example/pond:1\n", 1)
	if !strings.Contains(p.stdin, "RELATED_IMAGE_POND") {
		p.stdin = strings.Replace(p.stdin, "      - name: manager\n", "      - name: manager\n        env:\n        - name: RELATED_IMAGE_POND\n          value: registry.example/pond:1\n        - name: RELATED_IMAGE_BATH\n          value: registry.example/pond:1\n", 1)
	}
	p.http = registry
	p.must(t, "--version", "0.2.0", "--use-image-digests")
	csv := p.file(t, newtCSV)
	for text, times := range map[string]int{
		"image: registry.example/newt-operator@" + digest: 2,
		"value: registry.example/pond@" + digest:          2,
		"  relatedImages:\n  - image: registry.example/pond@" + digest + "\n    name: pond\n  - image: registry.example/newt-operator@" + digest + "\n    name: manager\n": 1,
	} {
		if strings.Count(csv, text) != times {
			t.Errorf("the CSV does not contain %q %d times:\n%s", text, times, csv)
		}
	}
	if requests == 0 {
		t.Error("no registry was contacted")
	}
	offline := roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") })
	p.http = offline
	out, errOut := p.must(t, "--version", "0.2.0", "--use-image-digests")
	if out != "" || !strings.Contains(errOut, "its digest is from .operon/images.json") {
		t.Errorf("without network the bundle changed:\n%s%s", out, errOut)
	}
	// The digest of a reachable registry takes precedence over the lock.
	p.http, digest = registry, "sha256:"+strings.Repeat("cd", 32)
	if p.must(t, "--version", "0.2.0", "--use-image-digests"); strings.Count(p.file(t, newtCSV), digest) != 5 || strings.Count(p.file(t, ".operon/images.json"), digest) != 2 {
		t.Errorf("the bundle has an old digest:\n%s%s", p.file(t, newtCSV), p.file(t, ".operon/images.json"))
	}
	p.http = offline
	p.edit(t, ".operon/images.json", "{", "[")
	if code, _, errOut := p.run(t, "--version", "0.2.0", "--use-image-digests"); code != 1 || !strings.Contains(errOut, ".operon/images.json: must map image references to digests") {
		t.Errorf("a broken lock: exit code %d\n%s", code, errOut)
	}
	p.edit(t, ".operon/images.json", "[", "{")
	p.stdin = strings.ReplaceAll(p.stdin, "pond:1", "pond:2")
	code, _, errOut := p.run(t, "--version", "0.2.0", "--use-image-digests")
	if code != 1 || strings.Count(errOut, "registry.example/pond:2") != 1 {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	p.http = registry
	if code, _, errOut := p.run(t, "--version", "0.2.0", "--use-image-digests"); code != 1 || !strings.Contains(errOut, "registry.example has no 2; push the image first") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	p.stdin = strings.ReplaceAll(p.stdin, "value: registry.example/pond:2", "value: registry.example/newt-operator:0.2.0")
	if p.must(t, "--version", "0.2.0", "--use-image-digests"); strings.Contains(p.file(t, ".operon/images.json"), "pond") {
		t.Errorf("the lock contains an unused image:\n%s", p.file(t, ".operon/images.json"))
	}
}

// TestBundleMirrors checks that mirrors are contacted before registries, and without TLS only where that is allowed.
func TestBundleMirrors(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("ab", 32)
	p := newts(t)
	p.stdin = strings.ReplaceAll(p.stdin, "registry.example/newt-operator", "docker.io/team/newt-operator")
	p.http = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "mirror.example" || r.URL.Scheme != "http" {
			return nil, errors.New("no route to host")
		}
		return &http.Response{StatusCode: http.StatusOK, ContentLength: 2, Body: io.NopCloser(strings.NewReader("{}")), Request: r, Header: http.Header{
			"Docker-Content-Digest": {digest}, "Content-Type": {"application/vnd.oci.image.manifest.v1+json"},
		}}, nil
	})
	args := []string{"--version", "0.2.0", "--use-image-digests", "--registry-mirror", "docker.io=mirror.example"}
	if code, _, errOut := p.run(t, args...); code != 1 || !strings.Contains(errOut, "docker.io/team/newt-operator") {
		t.Errorf("a mirror was contacted without TLS: exit code %d\n%s", code, errOut)
	}
	p.must(t, append(args, "--insecure-registry", "mirror.example")...)
	if csv := p.file(t, newtCSV); !strings.Contains(csv, "image: docker.io/team/newt-operator@"+digest) {
		t.Errorf("the image is not pinned in the original registry:\n%s", csv)
	}
	if code, _, _ := p.run(t, "--version", "0.2.0", "--use-image-digests", "--insecure-registry", "mirror.example", "--registry-mirror", "example.com=mirror.example"); code != 0 {
		t.Error("the lock does not contain the image")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestBundleBuilds checks that without a pipe the project's kustomization is built in this process, with the same bundle as
// from a pipe, in any directory of the project.
func TestBundleBuilds(t *testing.T) {
	t.Parallel()
	p := &bundleProject{dir: filepath.Join(t.TempDir(), "memcached-operator"), cache: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := os.CopyFS(p.dir, os.DirFS(clitest.Testdata("memcached-operator"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bundle", "bundle.Dockerfile"} {
		if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root := p.dir
	p.dir = filepath.Join(root, "api", "v1alpha1")
	if out, _ := p.must(t, "--version", "0.0.1"); !strings.Contains(out, "bundle/manifests/memcached-operator.clusterserviceversion.yaml") {
		t.Errorf("no CSV was created:\n%s", out)
	}
	p.dir = root
	for _, given := range []string{"/nonexist", "../nonexist"} {
		if code, _, errOut := p.run(t, "--version", "0.0.1", "--kustomize-dir", given); code != 2 || !strings.Contains(errOut, given+" has no kustomization.yaml") {
			t.Errorf("exit code %d\n%s", code, errOut)
		}
	}
	built, err := manifest.Build(root, "config/manifests")
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = string(built)
	if out, _ := p.must(t, "--version", "0.0.1"); out != "" {
		t.Errorf("the bundle from a pipe differs:\n%s", out)
	}
	if code, _, errOut := p.run(t, "--version", "0.0.1", "--output-dir", "../bundle"); code != 2 || !strings.Contains(errOut, "pass --manifests") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	outside := t.TempDir()
	p.stdin = string(built)
	p.must(t, "--version", "0.0.1", "--manifests", "--output-dir", filepath.Join(outside, "new"))
	want := clitest.ReadTree(t, filepath.Join(root, "bundle"))
	delete(want, "metadata/annotations.yaml")
	if got := clitest.ReadTree(t, filepath.Join(outside, "new")); !slices.Equal(clitest.SortedKeys(got), clitest.SortedKeys(want)) {
		t.Errorf("got %s, want %s", clitest.SortedKeys(got), clitest.SortedKeys(want))
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestUnansweredQuestions checks that without a terminal a warning names the flags of questions, which are not printed.
func TestUnansweredQuestions(t *testing.T) {
	t.Parallel()
	dir := clitest.NewProject(t, "init --domain example.com --repo example.com/p")
	code, out, errOut := clitest.Run(t, dir, t.TempDir(), "generate", "kustomize", "manifests")
	if code != 0 || strings.Contains(out, "required") || !strings.HasPrefix(errOut, "warning: config/manifests/bases/") || !strings.Contains(errOut, "--display-name") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}
