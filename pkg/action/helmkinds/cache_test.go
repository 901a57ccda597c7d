package helmkinds

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/layout"
)

// TestChartsAreRenderedOnce checks that generate renders a chart again only after a change of the chart or of operon-runtime.
func TestChartsAreRenderedOnce(t *testing.T) {
	t.Parallel()
	root, cache := t.TempDir(), t.TempDir()
	files := map[string]string{
		"PROJECT":                      "domain: example.com\nlayout:\n- helm.sdk.operatorframework.io/v1\nprojectName: web\nresources:\n- api:\n    crdVersion: v1\n    namespaced: true\n  domain: example.com\n  group: web\n  kind: Site\n  version: v1\nversion: \"3\"\n",
		"watches.yaml":                 "- group: web.example.com\n  version: v1\n  kind: Site\n  chart: helm-charts/site\n",
		"helm-charts/site/Chart.yaml":  "apiVersion: v2\nname: site\nversion: 0.1.0\n",
		"helm-charts/site/values.yaml": "replicas: 1\n",
		"config/rbac/role.yaml":        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: manager-role\nrules:\n#+kubebuilder:scaffold:rules\n",
	}
	write := func(name, text string) {
		if err := afero.WriteFile(afero.NewOsFs(), filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := afero.NewOsFs().MkdirAll(filepath.Dir(filepath.Join(root, filepath.FromSlash(name))), 0o755); err != nil {
			t.Fatal(err)
		}
		write(name, text)
	}
	calls, build := 0, "1"
	config := action.Config{Layouts: []action.Layout{{Facts: layout.Helm(), Kinds: Kinds{}}}, StateDirs: []string{t.TempDir()}, FS: afero.NewOsFs(), Dir: root, Program: "operon", Build: "b", CacheDir: cache, Charts: helmchart.Runtime{
		Build: func() string { return build },
		Run: func(_ context.Context, _ string, in io.Reader, out, _ io.Writer, _ ...string) error {
			calls++
			var request helmchart.RenderRequest
			if err := json.NewDecoder(in).Decode(&request); err != nil {
				return err
			}
			object := helmchart.RenderedObject{Template: "site/templates/a.yaml", Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			answer := helmchart.RenderAnswer{Chart: helmchart.Metadata{Name: "site"}}
			for range request.Values {
				answer.Renderings = append(answer.Renderings, helmchart.Rendering{Objects: []helmchart.RenderedObject{object}})
			}
			return json.NewEncoder(out).Encode(answer)
		},
	}}
	generate := func(rendered bool) {
		t.Helper()
		before := calls
		p, err := action.Open(t.Context(), config, root)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Generate(t.Context(), codegen.All); err != nil {
			t.Fatal(err)
		}
		p.Close()
		if rendered != (calls > before) {
			t.Errorf("generate called operon-runtime %d times", calls-before)
		}
	}
	generate(true)
	generate(false)
	write("helm-charts/site/values.yaml", "replicas: 2\n")
	generate(true)
	build = "2"
	generate(true)
	generate(false)
	build = ""
	generate(true)
	generate(true)
}
