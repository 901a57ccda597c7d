package release

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

func TestMaxHistory(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{
		0: "1 superseded, 2 superseded, 3 superseded, 4 deployed", 2: "3 superseded, 4 deployed", 10: "1 superseded, 2 superseded, 3 superseded, 4 deployed",
	} {
		t.Run(strings.Repeat("x", limit+1), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart("-- templates/c.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {v: {{ .Values.v | quote }}}\n")
			history := func(o *Options) { o.MaxHistory = limit }
			e.install(e.release(chart, values("v", "1"), history))
			for _, v := range []string{"2", "3", "4"} {
				e.upgrade(e.release(chart, values("v", v), history))
			}
			if records := e.records(); records != want {
				t.Errorf("records %s, want %s", records, want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	factory, err := NewFactory(Config{REST: &rest.Config{Host: "https://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 54)
	for name, want := range map[string]string{
		"web": "", long[1:]: "",
		long:  `Widget "` + long + `": the name has 54 characters and a Helm release name at most 53; choose a shorter name`,
		"a_b": `Widget "a_b": the name is not a valid Helm release name`,
	} {
		owner := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
		owner.SetName(name)
		owner.SetNamespace("default")
		owner.SetUID("uid")
		_, err := factory.Release(Options{Owner: owner})
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestValues renders numbers as they are written.
func TestValues(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(`
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  large: "{{ .Values.large }}"
  small: "{{ .Values.small }} {{ eq .Values.small 80 }}"
  fraction: "{{ .Values.fraction }}"
  bool: "{{ .Values.bool }}"
  nested: {{ .Values.nested | toJson | quote }}
`)
	given := values("large", int64(9007199254740993), "small", int64(80), "fraction", 0.5, "bool", true,
		"nested", []any{map[string]any{"n": int64(12345678)}})
	release := e.release(chart, given)
	e.install(release)
	want := `map[bool:true fraction:0.5 large:9007199254740993 nested:[{"n":12345678}] small:80 true]`
	if data := e.field("v1 ConfigMap c", "data"); data != want {
		t.Errorf("%s, want %s", data, want)
	}
	e.settled(release)
}

// TestRefusedCharts returns Helm's errors.
func TestRefusedCharts(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for name, test := range map[string]struct{ files, want string }{
		"kubernetes": {"-- Chart.yaml --\napiVersion: v2\nname: demo\nversion: 1.0.0\nkubeVersion: '>=9.0.0'\n",
			"chart requires kubeVersion: >=9.0.0 which is incompatible with Kubernetes v1."},
		"fail":   {"-- templates/a.yaml --\n{{ fail \"needs x\" }}\n", "needs x"},
		"syntax": {"-- templates/a.yaml --\na: {{ .Values.x\n", "parse error at (demo/templates/a.yaml:"},
		"yaml":   {"-- templates/a.yaml --\na: [\n", "YAML parse error on demo/templates/a.yaml"},
		"schema": {"-- values.schema.json --\n{\"properties\": {\"v\": {\"type\": \"string\"}}}\n", "at '/v': got number, want string"},
	} {
		release := e.release(e.chart(test.files), values("v", int64(1)))
		if _, err := release.Install(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: install: %v", name, err)
		}
	}
	if records := e.records(); records != "" {
		t.Errorf("records %s", records)
	}
	e.install(e.release(e.chart("-- templates/c.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"), nil))
	broken := e.release(e.chart("-- templates/a.yaml --\n{{ fail \"needs x\" }}\n"), nil)
	if _, err := broken.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "needs x") {
		t.Errorf("plan: %v", err)
	}
	other := e.release(e.chart("-- Chart.yaml --\napiVersion: v2\nname: other\nversion: 1.0.0\n"), nil)
	if _, err := other.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), `it was made from chart "demo", not "other"`) {
		t.Errorf("plan: %v", err)
	}
}

// TestArgumentsAreNotChanged renders a chart with disabled and importing subcharts twice.
func TestArgumentsAreNotChanged(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(`
-- Chart.yaml --
apiVersion: v2
name: demo
version: 1.0.0
dependencies:
- {name: sub, version: 1.0.0, repository: "", condition: sub.enabled, import-values: [{child: exported, parent: imported}]}
-- values.yaml --
sub: {enabled: true}
-- charts/sub/Chart.yaml --
apiVersion: v2
name: sub
version: 1.0.0
-- charts/sub/values.yaml --
exported: {v: "1"}
-- charts/sub/templates/s.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: sub}
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ (.Values.imported | default dict).v | default "none" | quote }}}
`)
	enabled, disabled := e.release(chart, nil), e.release(chart, values("sub", map[string]any{"enabled": false}))
	e.install(enabled)
	e.upgrade(disabled)
	e.mustNot("v1 ConfigMap sub")
	e.upgrade(enabled)
	e.must("v1 ConfigMap sub")
	if v := e.field("v1 ConfigMap c", "data", "v"); v != "1" {
		t.Errorf("v %s", v)
	}
	e.settled(enabled)
	if len(chart.Dependencies()) != 1 || len(disabled.options.Values) != 1 {
		t.Error("the chart or the values have changed")
	}
}

// TestLargeRelease stores a release whose chart does not fit into a Secret, one whose objects do not, and refuses one that is too large
// for chunks.
func TestLargeRelease(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	large := incompressible(1, 1<<20)
	chart := e.chart("-- files/large --\n" + large + incompressible(2, 1<<19) + "\n-- templates/c.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {v: {{ .Values.v | quote }}}\n")
	e.install(e.release(chart, values("v", "1")))
	e.upgrade(e.release(chart, values("v", "2")))
	e.settled(e.release(chart, values("v", "2")))
	if records := e.records(); records != "1 superseded, 2 deployed" || len(e.chunks()) > 0 {
		t.Errorf("records %s, chunks %v", records, e.chunks())
	}
	var manifest strings.Builder
	for i := range 3 {
		fmt.Fprintf(&manifest, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: large-%d}\ndata: {v: %s}\n", i, large[i*1000:i*1000+900000])
	}
	three := e.release(e.chart("-- templates/c.yaml --\n"+manifest.String()), values("v", incompressible(3, 2<<20)))
	e.upgrade(three)
	e.settled(three)
	if len(e.chunks()) < 2 {
		t.Errorf("chunks %v", e.chunks())
	}
	e.factory.recordLimit = 10000
	_, err := e.release(three.options.Chart, values("v", "4")).Upgrade(t.Context(), UpgradeOptions{})
	if err == nil || !strings.Contains(err.Error(), "reduce its objects") {
		t.Errorf("error %.300v", err)
	}
	e.factory.recordLimit = 0
	e.settled(three)
	e.uninstall(nil)
	if len(e.chunks()) > 0 {
		t.Errorf("left: %v", e.chunks())
	}
}
