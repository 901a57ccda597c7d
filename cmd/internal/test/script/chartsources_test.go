package script

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// chartArchive returns the archive of a chart named web.
func chartArchive(t *testing.T, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, file := range []struct{ name, text string }{
		{"Chart.yaml", "apiVersion: v2\nname: web\nversion: " + version + "\n"},
		{"values.yaml", "replicas: 1\n"},
		{"templates/deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  replicas: {{ .Values.replicas }}\n"},
	} {
		if err := w.WriteHeader(&tar.Header{Name: "web/" + file.name, Mode: 0o644, Size: int64(len(file.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(file.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// serveCharts serves a repository with two versions of the chart over HTTPS to a user, and returns its URL and its certificate.
func serveCharts(t *testing.T, user, password string) (url, certificate string) {
	t.Helper()
	files := map[string][]byte{}
	index := "apiVersion: v1\nentries:\n  web:\n"
	for _, version := range []string{"1.1.0", "1.0.0"} {
		archive := chartArchive(t, version)
		files["/charts/web-"+version+".tgz"] = archive
		index += fmt.Sprintf("  - {apiVersion: v2, name: web, version: %s, urls: [web-%[1]s.tgz], digest: %x}\n", version, sha256.Sum256(archive))
	}
	files["/charts/index.yaml"] = []byte(index)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, found := files[r.URL.Path]
		switch u, p, _ := r.BasicAuth(); {
		case u != user || p != password:
			w.WriteHeader(http.StatusUnauthorized)
		case !found:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(data)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/charts", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// pushChart pushes the chart to a registry as helm push does, and returns its reference without a tag.
func pushChart(t *testing.T, version string) string {
	t.Helper()
	path := clitest.StartRegistry(t) + "/charts/web"
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), "application/vnd.cncf.helm.config.v1+json")
	img, err := mutate.Append(img, mutate.Addendum{Layer: static.NewLayer(chartArchive(t, version), "application/vnd.cncf.helm.chart.content.v1.tar+gzip")})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(path + ":" + version)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, v1.Image(img)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestChartSources runs create api with charts of a repository of the user, of a repository given by its URL, of a URL and of a
// registry. Credentials and the certificate come from Helm's configuration.
func TestChartSources(t *testing.T) {
	t.Parallel()
	url, certificate := serveCharts(t, "alice", "s3cret")
	registry := pushChart(t, "1.2.0")
	home := clitest.NewDir(t, map[string]string{"ca.pem": certificate})
	clitest.WriteFile(t, filepath.Join(home, "repositories.yaml"), fmt.Sprintf("repositories:\n"+
		"- {name: private, url: %[1]q, username: alice, password: s3cret, caFile: %[2]q}\n"+
		"- {name: other, url: %[1]q, username: alice, password: wr0ng, caFile: %[2]q}\n"+
		"- {name: untrusted, url: %[1]q, username: alice, password: s3cret}\n", url, filepath.Join(home, "ca.pem")))
	variables := []string{
		"HELM_REPOSITORY_CONFIG=" + filepath.Join(home, "repositories.yaml"), "HELM_REPOSITORY_CACHE=" + filepath.Join(home, "cache"),
		"HELM_CACHE_HOME=" + filepath.Join(home, "cache"), "HELM_REGISTRY_CONFIG=" + filepath.Join(home, "registry.json"), "DOCKER_CONFIG=" + home,
	}
	base := clitest.NewProject(t, "init --plugins helm --domain example.com --project-name web")
	for _, test := range []struct {
		args    []string
		version string
		record  []string
		refused string
	}{
		{args: []string{"--helm-chart", "private/web"}, version: "1.1.0", record: []string{"source: private/web", "version: 1.1.0", "digest: sha256:"}},
		{args: []string{"--helm-chart", "private/web", "--helm-chart-version", "~1.0"}, version: "1.0.0"},
		{args: []string{"--helm-chart", "web", "--helm-chart-repo", url}, version: "1.1.0", record: []string{"repo: " + url, "source: web"}},
		{args: []string{"--helm-chart", url + "/web-1.0.0.tgz"}, version: "1.0.0", record: []string{"source: " + url + "/web-1.0.0.tgz"}},
		{args: []string{"--helm-chart", "oci://" + registry}, version: "1.2.0", record: []string{"source: oci://" + registry, "digest: sha256:"}},
		{args: []string{"--helm-chart", "oci://" + registry + ":1.2.0"}, version: "1.2.0"},
		{args: []string{"--helm-chart", "other/web"}, refused: "401 Unauthorized"},
		{args: []string{"--helm-chart", "untrusted/web"}, refused: "certificate signed by unknown authority"},
		{args: []string{"--helm-chart", "private/we"}, refused: "chart not found; similar names are web"},
		{args: []string{"--helm-chart", url + "/web-3.0.0.tgz"}, refused: "404 Not Found"},
		{args: []string{"--helm-chart", "oci://" + registry + ":9.9.9"}, refused: "9.9.9: not found in the registry"},
		{args: []string{"--helm-chart", "private/web", "--offline"}, refused: "(--offline)"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyTree(t, base)
			code, out, errOut := clitest.RunWith(t, dir, "", variables, append([]string{"create", "api"}, test.args...)...)
			if strings.Contains(out+errOut, "s3cret") || strings.Contains(out+errOut, "wr0ng") {
				t.Errorf("a password is printed:\n%s%s", out, errOut)
			}
			if test.refused != "" {
				if code != 1 || !strings.Contains(errOut, test.refused) {
					t.Errorf("exit code %d, want %q\n%s", code, test.refused, errOut)
				}
				clitest.CompareTrees(t, base, dir)
				return
			}
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, errOut)
			}
			if chart := clitest.ReadFile(t, filepath.Join(dir, "helm-charts/web/Chart.yaml")); !strings.Contains(chart, "version: "+test.version+"\n") {
				t.Errorf("want version %s\n%s", test.version, chart)
			}
			project := clitest.ReadFile(t, filepath.Join(dir, "PROJECT"))
			clitest.CheckContains(t, project, test.record...)
			if strings.Contains(project, "s3cret") || strings.Contains(project, home) {
				t.Errorf("PROJECT has a password or a path of the machine:\n%s", project)
			}
			clitest.CheckContains(t, clitest.ReadFile(t, filepath.Join(dir, "config/crd/bases/charts.example.com_webs.yaml")), "replicas:")
		})
	}
}
