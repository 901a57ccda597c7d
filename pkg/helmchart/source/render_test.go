package source

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// chartOf returns the files of a txtar archive.
func chartOf(text string) helmchart.Files {
	files := helmchart.Files{}
	for _, file := range txtar.Parse([]byte(text)).Files {
		files[file.Name] = file.Data
	}
	return files
}

// TestRenderGolden renders the charts in testdata/render. In an archive, chart/ has the files of the chart, requests.json
// the requests without files, and answers the expected text.
func TestRenderGolden(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/render/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			golden, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			request := helmchart.RenderRequest{ReleaseName: "demo", Namespace: "default", Values: []map[string]any{{}}}
			files, want := helmchart.Files{}, -1
			for i, file := range golden.Files {
				switch inside, ok := strings.CutPrefix(file.Name, "chart/"); {
				case ok:
					files[inside] = file.Data
				case file.Name == "request.json":
					if err := json.Unmarshal(file.Data, &request); err != nil {
						t.Fatal(err)
					}
				case file.Name == "answer":
					want = i
				}
			}
			request.Files = files
			var got string
			for range 3 { // the order does not depend on the order of maps
				if again := renderText(t, request); got != "" && got != again {
					t.Fatalf("the answers differ:\n%s\n%s", got, again)
				} else {
					got = again
				}
			}
			if *update {
				if want < 0 {
					want, golden.Files = len(golden.Files), append(golden.Files, txtar.File{Name: "answer"})
				}
				golden.Files[want].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(golden), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want < 0 || got != string(golden.Files[want].Data) {
				t.Errorf("got:\n%s", got)
			}
		})
	}
}

// renderText returns the answer to a request as lines.
func renderText(t *testing.T, request helmchart.RenderRequest) string {
	t.Helper()
	answer, err := Render(t.Context(), request)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "chart %s %s\n", answer.Chart.Name, answer.Chart.Version)
	for _, warning := range answer.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	for _, crd := range answer.CRDs {
		fmt.Fprintf(&b, "crd %s %s\n", crd.Template, head(crd.Object))
	}
	for i, rendering := range answer.Renderings {
		fmt.Fprintf(&b, "rendering %d\n", i)
		for _, warning := range rendering.Warnings {
			fmt.Fprintf(&b, "warning: %s\n", warning)
		}
		if rendering.Error != "" {
			fmt.Fprintf(&b, "error: %s\n", rendering.Error)
		}
		for _, object := range rendering.Objects {
			fmt.Fprintf(&b, "%s %s", object.Template, head(object.Object))
			if len(object.Hooks) > 0 {
				fmt.Fprintf(&b, " hooks=%s", strings.Join(object.Hooks, ","))
			}
			if data, ok := object.Object["data"]; ok {
				text, err := json.Marshal(data)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, " %s", text)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func head(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v %v", object["apiVersion"], object["kind"], meta["name"])
}

const smallChart = `
-- Chart.yaml --
apiVersion: v2
name: small
version: 1.2.3
-- values.yaml --
size: 1
-- templates/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  size: {{ .Values.size | quote }}
`

// TestRenderWindowsFiles checks files with a byte order mark and CRLF.
func TestRenderWindowsFiles(t *testing.T) {
	t.Parallel()
	files := helmchart.Files{}
	for name, data := range chartOf(smallChart) {
		files[name] = []byte("\xEF\xBB\xBF" + strings.ReplaceAll(string(data), "\n", "\r\n"))
	}
	got := renderText(t, helmchart.RenderRequest{Files: files, ReleaseName: "demo", Values: []map[string]any{{}}})
	if want := "chart small 1.2.3\nrendering 0\nsmall/templates/config.yaml v1 ConfigMap demo {\"size\":\"1\"}\n"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestKubernetesVersion checks that templates find the version of the Kubernetes libraries.
func TestKubernetesVersion(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "k8s.io/api v0" + strings.TrimPrefix(kubernetesVersion, "v1") + "\n"; !strings.Contains(string(data), want) {
		t.Errorf("kubernetesVersion is %s, but go.mod does not have %q", kubernetesVersion, want)
	}
}

// TestCapabilities checks which API versions templates find.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ builtin, extended bool }{
		"apps/v1":                                 {true, true},
		"apps/v1/Deployment":                      {true, true},
		"v1/ConfigMap":                            {true, true},
		"policy/v1/PodDisruptionBudget":           {true, true},
		"networking.k8s.io/v1/IngressClass":       {true, true},
		"apiregistration.k8s.io/v1beta1":          {false, false},
		"policy/v1":                               {true, true},
		"autoscaling/v2":                          {true, true},
		"networking.k8s.io/v1/Ingress":            {true, true},
		"apiextensions.k8s.io/v1":                 {true, true},
		"apiregistration.k8s.io/v1":               {true, true},
		"extensions/v1beta1":                      {false, false},
		"policy/v1beta1":                          {false, false},
		"rbac.authorization.k8s.io/v1beta1":       {false, false},
		"autoscaling/v2beta2":                     {false, false},
		"monitoring.coreos.com/v1":                {false, true},
		"monitoring.coreos.com/v1/ServiceMonitor": {false, true},
		"cert-manager.io/v1":                      {false, true},
		"gateway.networking.k8s.io/v1/HTTPRoute":  {false, true},
		"route.openshift.io/v1":                   {false, true},
	}
	builtin, err := capabilities(kubernetesVersion, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	extended, err := capabilities(kubernetesVersion, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range tests {
		if got := builtin.APIVersions.Has(name); got != want.builtin {
			t.Errorf("%s among the built-in API versions: %t", name, got)
		}
		if got := extended.APIVersions.Has(name); got != want.extended {
			t.Errorf("%s among all API versions: %t", name, got)
		}
	}
	if !slices.IsSorted(extended.APIVersions) {
		t.Error("the API versions are not sorted")
	}
}

// TestRenderCancel checks that a template without end does not keep Render from returning.
func TestRenderCancel(t *testing.T) {
	t.Parallel()
	files := chartOf(smallChart)
	files["templates/slow.yaml"] = []byte(`{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Render(ctx, helmchart.RenderRequest{Files: files, ReleaseName: "demo", Values: []map[string]any{{}}})
	if err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("got %v", err)
	}
}

// bombOf returns a small text that is large after expanding its aliases.
func bombOf() []byte {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		text += fmt.Sprintf("a%d: &a%[1]d [*a%d, *a%[2]d, *a%[2]d, *a%[2]d, *a%[2]d, *a%[2]d, *a%[2]d, *a%[2]d, *a%[2]d]\n", i+1, i)
	}
	return []byte(text)
}

// TestRenderRefuses checks the errors of charts that cannot be loaded.
func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	chart := func(text string) func(helmchart.Files) {
		return func(f helmchart.Files) { f["Chart.yaml"] = []byte(text) }
	}
	tests := map[string]struct {
		change func(helmchart.Files)
		want   string
	}{
		"not a chart":     {func(f helmchart.Files) { delete(f, "Chart.yaml") }, "Chart.yaml not found; a chart is a directory or an archive with this file"},
		"malformed":       {chart("apiVersion: v2\nname: [a\n"), "Chart.yaml: error converting YAML to JSON: yaml: line 2: did not find expected ',' or ']'"},
		"no name":         {chart("apiVersion: v2\nversion: 1.0.0\n"), "Chart.yaml: name is required"},
		"name":            {chart("apiVersion: v2\nname: ../x\nversion: 1.0.0\n"), `Chart.yaml: name "../x" must consist of letters, digits, '-', '_' and '.', and start with a letter or a digit`},
		"no version":      {chart("apiVersion: v2\nname: a\n"), "Chart.yaml: version is required"},
		"version":         {chart("apiVersion: v2\nname: a\nversion: one\n"), `Chart.yaml: version "one" must be a semantic version (MAJOR.MINOR.PATCH)`},
		"unquoted":        {chart("apiVersion: v2\nname: a\nversion: 1.0\n"), "Chart.yaml: version must be a string; write it in quotes"},
		"v3":              {chart("apiVersion: v3\nname: a\nversion: 1.0.0\n"), `Chart.yaml: unsupported apiVersion "v3": Helm 4 has it for experiments only; use v2`},
		"apiVersion":      {chart("apiVersion: apps/v1\nname: a\nversion: 1.0.0\n"), `Chart.yaml: unsupported apiVersion "apps/v1"; it must be v1 or v2`},
		"library":         {chart("apiVersion: v2\nname: a\nversion: 1.0.0\ntype: library\n"), `Chart.yaml: chart "a" is a library chart, which has no objects of its own; use a chart of type application`},
		"values":          {func(f helmchart.Files) { f["values.yaml"] = []byte("a: [\n") }, "chart small: cannot load values.yaml: cannot unmarshal yaml document: error converting YAML to JSON: yaml: line 1: did not find expected node content"},
		"alias bomb":      {func(f helmchart.Files) { f["values.yaml"] = bombOf() }, "values.yaml: line 1: contains more than 500000 values after expanding its aliases"},
		"path":            {func(f helmchart.Files) { f["../x"] = nil }, `"../x": the path is not in the directory of the chart`},
		"absolute path":   {func(f helmchart.Files) { f["/x"] = nil }, `"/x": the path is not in the directory of the chart`},
		"invalid subs":    {func(f helmchart.Files) { f["charts/a/Chart.yaml"] = []byte("name: a\n") }, "chart small: error unpacking subchart a in small: validation: chart.metadata.version is required"},
		"object in crds/": {func(f helmchart.Files) { f["crds/a.yaml"] = []byte("a: b\n") }, "small/crds/a.yaml: apiVersion and kind are required in each object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := chartOf(smallChart)
			test.change(files)
			_, err := Render(t.Context(), helmchart.RenderRequest{Files: files, ReleaseName: "demo", Values: []map[string]any{{}}})
			if err == nil || err.Error() != test.want {
				t.Errorf("got:  %v\nwant: %s", err, test.want)
			}
		})
	}
	_, err := Render(t.Context(), helmchart.RenderRequest{Files: chartOf(smallChart), ReleaseName: strings.Repeat("a", 54)})
	if err == nil || !strings.Contains(err.Error(), "release name") {
		t.Errorf("long release name: %v", err)
	}
}

// TestRenderKubernetes checks the warnings about charts for other versions of Kubernetes. They are rendered anyway, as the
// operator may run on another cluster.
func TestRenderKubernetes(t *testing.T) {
	t.Parallel()
	for constraint, want := range map[string]string{
		"":                "[]",
		">=1.20.0-0":      "[]",
		">= 9.0":          "[the chart requires Kubernetes >= 9.0; it was rendered for " + kubernetesVersion + "]",
		"<1.20.0":         "[the chart requires Kubernetes <1.20.0; it was rendered for " + kubernetesVersion + "]",
		"one point three": `[kubeVersion "one point three" is not a version constraint such as >=1.30.0-0, so that no cluster meets it]`,
	} {
		files := chartOf(smallChart)
		files["Chart.yaml"] = fmt.Appendf(nil, "apiVersion: v2\nname: small\nversion: 1.0.0\nkubeVersion: %q\n", constraint)
		answer, err := Render(t.Context(), helmchart.RenderRequest{Files: files, ReleaseName: "demo", Values: []map[string]any{{}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(answer.Warnings); got != want || answer.Renderings[0].Error != "" {
			t.Errorf("%q: %s %s, want %s", constraint, got, answer.Renderings[0].Error, want)
		}
	}
}
