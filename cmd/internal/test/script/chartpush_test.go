package script

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestChartPush pushes a chart with a provenance file, reads the manifest, and fetches the chart again with Helm's library.
func TestChartPush(t *testing.T) {
	t.Parallel()
	host := clitest.StartRegistry(t)
	dir := clitest.NewDir(t, map[string]string{
		"web/Chart.yaml":               "apiVersion: v2\nname: web\nversion: 1.0.0+abc\ndescription: A server\nannotations: {example.com/a: b}\n",
		"web/values.yaml":              "replicas: 1\n",
		"web/templates/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n",
	})
	run := func(args ...string) (out, errOut string) {
		t.Helper()
		code, out, errOut := clitest.RunWith(t, dir, "", []string{"DOCKER_CONFIG=" + dir}, args...)
		if code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, errOut)
		}
		return out, errOut
	}
	run("chart", "package", "web")
	const archive = "web-1.0.0+abc.tgz"
	clitest.WriteFile(t, filepath.Join(dir, archive+".prov"), "signed\n")
	out, _ := run("chart", "push", archive, "oci://"+host+"/charts")
	m := regexp.MustCompile(`^pushed   ` + regexp.QuoteMeta(host) + `/charts/web@(sha256:[0-9a-f]{64})\n$`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("push prints %q", out)
	}
	if again, _ := run("chart", "push", archive, "oci://"+host+"/charts/"); again != out {
		t.Errorf("pushed again, the digest differs: %s", again)
	}

	ref, err := name.NewTag(host + "/charts/web:1.0.0_abc")
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Get(ref)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, archive))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	for _, want := range []string{
		`"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json"`,
		`"layers":[{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip"`, `"digest":"sha256:` + hex.EncodeToString(sum[:]) + `"`,
		`{"mediaType":"application/vnd.cncf.helm.chart.provenance.v1.prov"`,
		`"annotations":{"example.com/a":"b","org.opencontainers.image.created":"1970-01-01T00:00:00Z","org.opencontainers.image.description":"A server",` +
			`"org.opencontainers.image.title":"web","org.opencontainers.image.version":"1.0.0+abc"}`,
	} {
		if !strings.Contains(string(got.Manifest), want) {
			t.Errorf("the manifest lacks %s:\n%s", want, got.Manifest)
		}
	}
	if got.Digest.String() != m[1] {
		t.Errorf("the tag has digest %s, but %s was printed", got.Digest, m[1])
	}

	operator := clitest.NewProject(t, "init --plugins helm --domain example.com --project-name web")
	code, _, errOut := clitest.RunWith(t, operator, "", []string{"DOCKER_CONFIG=" + dir}, "create", "api", "--helm-chart", "oci://"+host+"/charts/web", "--helm-chart-version", "1.0.0+abc")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	if text := clitest.ReadFile(t, filepath.Join(operator, "helm-charts", "web", "templates", "configmap.yaml")); !strings.Contains(text, "kind: ConfigMap") {
		t.Errorf("the fetched chart has another template:\n%s", text)
	}

	// From a directory, the archive is the same, but has no provenance file.
	if out, _ := run("chart", "push", "web", "oci://"+host+"/other"); !strings.Contains(out, host+"/other/web@sha256:") {
		t.Errorf("push prints %q", out)
	}
	response, err := http.Get("http://" + host + "/v2/other/web/blobs/sha256:" + hex.EncodeToString(sum[:]))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if blob, err := io.ReadAll(response.Body); err != nil || string(blob) != string(data) {
		t.Errorf("the archive that is pushed from the directory differs: %v", err)
	}
}

// TestChartSize checks the warning about charts that Helm can't store.
func TestChartSize(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, 1<<20)
	for i := range content {
		content[i] = "0123456789abcdef"[random.IntN(16)]
	}
	dir := clitest.NewDir(t, map[string]string{
		"large/Chart.yaml": "apiVersion: v2\nname: large\nversion: 1.0.0\n", "large/values.yaml": "",
		"large/templates/a.yaml": "# " + string(content) + "\n",
	})
	for _, strict := range []string{"--strict=false", "--strict"} {
		code, _, errOut := clitest.RunWith(t, dir, "", nil, "chart", "lint", "large", strict)
		if (code == 1) != (strict == "--strict") || !strings.Contains(errOut, "large: a release of the chart has about ") || !strings.Contains(errOut, "[release-size]") {
			t.Errorf("%s: exit code %d\n%s", strict, code, errOut)
		}
	}
}
