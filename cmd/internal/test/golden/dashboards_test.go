package golden

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/certwatcher/metrics"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its metrics and the process's
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	_ "sigs.k8s.io/controller-runtime/pkg/webhook" // registers its metrics
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/testdata/documented"
)

type source struct{ Type, UID string }

// A model has the fields of Grafana's dashboard JSON model that generated dashboards use, including time series and rows.
type model struct {
	Title, Description, Refresh, Timezone, WeekStart           string
	Tags                                                       []string
	SchemaVersion, Version, GraphTooltip, FiscalYearStartMonth int
	Editable                                                   bool
	Time                                                       struct{ From, To string }
	Timepicker                                                 struct{}
	Links                                                      []struct{}
	Annotations                                                struct{ List []struct{} }
	Templating                                                 struct{ List []modelVariable }
	Panels                                                     []modelPanel
}

type modelVariable struct {
	Name, Label, Type, Definition, Regex, AllValue string
	Query                                          any
	Datasource                                     *source
	Refresh, Sort, Hide                            int
	IncludeAll, Multi, SkipURLSync                 bool
	Options                                        []struct{}
	Current                                        *struct {
		Selected    bool
		Text, Value []string
	}
}

type modelPanel struct {
	ID                       int
	Title, Description, Type string
	Collapsed                bool
	Panels                   []struct{}
	GridPos                  place
	Datasource               *source
	FieldConfig              *struct {
		Defaults struct {
			Unit, NoValue string
			Min, Max      *float64
			Color         struct{ Mode string }
			Custom        struct {
				DrawStyle, ShowPoints  string
				LineWidth, FillOpacity int
				Stacking               *struct{ Mode, Group string }
			}
		}
		Overrides []struct{}
	}
	Options *struct {
		Legend struct {
			DisplayMode, Placement string
			ShowLegend             bool
			Calcs                  []string
		}
		Tooltip                        struct{ Mode, Sort string }
		ColorMode, GraphMode, TextMode string
		ReduceOptions                  struct {
			Calcs  []string
			Fields string
			Values bool
		}
	}
	Targets []modelTarget
}

type modelTarget struct {
	RefID, EditorMode, Expr, LegendFormat string
	Datasource                            source
	Range                                 bool
}

type place struct{ H, W, X, Y int }

// TestDashboards checks all dashboards that init and edit generate: their fields, ids, places, data sources and variables, and that
// controller-runtime registers each metric with the labels of the query.
func TestDashboards(t *testing.T) {
	t.Parallel()
	dir := clitest.NewProject(t, "init --domain example.com --repo example.com/shop --project-name shop --plugins go/v4,grafana/v1-alpha")
	const custom = "grafana/custom-metrics/"
	clitest.WriteFile(t, filepath.Join(dir, custom+"config.yaml"), "customMetrics:\n- {metric: my_total, type: counter}\n- {metric: my_size, type: gauge, unit: bytes}\n")
	clitest.MustRun(t, dir, "edit", "--plugins", "grafana/v1-alpha")
	clitest.AppendFile(t, filepath.Join(dir, custom+"config.yaml"), // these panels are added to the dashboard
		"- {metric: my_seconds, type: histogram}\n- {metric: my_size, type: gauge, expr: 'max by (pod) (my_size{job=\"$job\"})'}\n")
	clitest.MustRun(t, dir, "edit", "--plugins", "grafana/v1-alpha")
	known := registered(t)
	known["my_total"], known["my_size"], known["my_seconds"] = nil, nil, nil
	checkDashboards(t, dir, known, map[string]int{
		"grafana/controller-runtime-metrics.json": 17, "grafana/controller-resources-metrics.json": 5, custom + "custom-metrics-dashboard.json": 4,
	})
}

// TestRuntimeDashboards checks the dashboards and alerts of Helm and Ansible operators. docs/metrics.md has their metrics, as the tests of
// their packages ensure.
func TestRuntimeDashboards(t *testing.T) {
	t.Parallel()
	for layout, panels := range map[string]int{"Helm": 24, "Ansible": 25} {
		name := strings.ToLower(layout)
		dir := clitest.NewProject(t, "init --domain example.com --project-name shop --plugins "+name+"/v1,grafana/v1-alpha")
		known := registered(t)
		ours := documented.Metrics(t, layout)
		for metric, is := range ours {
			known[metric] = is.Labels
		}
		checkDashboards(t, dir, known, map[string]int{"grafana/" + name + "-operator-metrics.json": panels})
		var rule struct {
			Spec struct {
				Groups []struct {
					Rules []struct {
						Alert, Expr, For    string
						Labels, Annotations map[string]string
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(clitest.ReadFile(t, filepath.Join(dir, "config/prometheus/alerts.yaml"))), &rule); err != nil {
			t.Fatal(err)
		}
		rules := rule.Spec.Groups[0].Rules
		if len(rules) < 5 {
			t.Errorf("%d alerts", len(rules))
		}
		for _, r := range rules {
			checkQuery(t, modelTarget{Expr: r.Expr}, known)
			if !strings.HasPrefix(r.Alert, layout) || r.Labels["severity"] == "" || !strings.Contains(r.Expr, `namespace="shop-system"`) {
				t.Errorf("alert %+v", r)
			}
			for _, text := range r.Annotations {
				for _, use := range annotationLabel.FindAllStringSubmatch(text, -1) {
					if !regexp.MustCompile(`by \([^)]*\b` + use[1] + `\b`).MatchString(r.Expr) {
						t.Errorf("alert %s: no label %s", r.Alert, use[1])
					}
				}
			}
		}
		clitest.AppendFile(t, filepath.Join(dir, "config/prometheus/kustomization.yaml"), "- alerts.yaml\n") // to the resources, as the file says
		one(t, buildObjects(t, dir, "config/prometheus"), "PrometheusRule", "controller-manager-alerts")
		// Every metric that can say something is shown, or used by an alert.
		text := clitest.ReadFile(t, filepath.Join(dir, "grafana/"+name+"-operator-metrics.json")) + clitest.ReadFile(t, filepath.Join(dir, "config/prometheus/alerts.yaml"))
		for metric := range ours {
			if !strings.Contains(text, metric) && !slices.Contains([]string{"resource_created_at_seconds", "ansible_operator_reconcile_result"}, metric) &&
				!strings.Contains(metric, "last_success") {
				t.Errorf("%s is not shown", metric)
			}
		}
	}
}

// checkDashboards checks dashboards of a project, which have a number of panels, rows included.
func checkDashboards(t *testing.T, dir string, known map[string][]string, dashboards map[string]int) {
	t.Helper()
	titles := map[string]bool{}
	for name, panels := range dashboards {
		var m model
		decoder := json.NewDecoder(strings.NewReader(clitest.ReadFile(t, filepath.Join(dir, name))))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&m); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(m.Title, "shop: ") || titles[m.Title] || m.Description == "" || m.SchemaVersion < 36 || len(m.Panels) != panels {
			t.Errorf("%s: title %q, description %q, schemaVersion %d, %d panels", name, m.Title, m.Description, m.SchemaVersion, len(m.Panels))
		}
		titles[m.Title] = true
		m.check(t, name, known)
		m.checkPlaces(t, name)
	}
}

// checkPlaces checks that panels have different ids and do not overlap.
func (m *model) checkPlaces(t *testing.T, name string) {
	t.Helper()
	for i, a := range m.Panels {
		p := a.GridPos
		if a.ID <= 0 || p.H <= 0 || p.W <= 0 || p.X < 0 || p.X+p.W > 24 || p.Y < 0 {
			t.Errorf("%s: panel %d is outside of the grid: %+v", name, a.ID, p)
		}
		for _, b := range m.Panels[:i] {
			q := b.GridPos
			if a.ID == b.ID || p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
				t.Errorf("%s: panels %d and %d at %+v and %+v", name, a.ID, b.ID, p, q)
			}
		}
	}
}

var (
	variableRef = regexp.MustCompile(`\$\{?(\w+)`)
	selector    = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	matcher     = regexp.MustCompile(`(\w+)(?:=~?|!=)"`)
	grouping    = regexp.MustCompile(`by \(([^)]*)\)`)
	// annotationLabel is a label in the annotation of an alert.
	annotationLabel = regexp.MustCompile(`\{\{ \$labels\.(\w+) \}\}`)
)

// check validates variables, data sources and queries.
func (m *model) check(t *testing.T, name string, known map[string][]string) {
	t.Helper()
	defined := []string{"__rate_interval"}
	use := func(text string) {
		for _, ref := range variableRef.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(defined, ref[1]) {
				t.Errorf("%s: %s uses $%s", name, text, ref[1])
			}
		}
	}
	data := source{"prometheus", "${DS_PROMETHEUS}"}
	for _, v := range m.Templating.List {
		use(v.Definition)
		if v.Type == "query" && (v.Datasource == nil || *v.Datasource != data) || v.Type != "query" && v.Type != "datasource" {
			t.Errorf("%s: variable %+v", name, v)
		}
		defined = append(defined, v.Name)
	}
	for _, p := range m.Panels {
		if p.Type == "row" {
			continue
		}
		if p.Type != "timeseries" && p.Type != "stat" || *p.Datasource != data || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("%s: panel %+v", name, p)
		}
		for i, target := range p.Targets {
			if target.Datasource != data || target.RefID != string(rune('A'+i)) {
				t.Errorf("%s: target %+v", name, target)
			}
			use(target.Expr)
			checkQuery(t, target, known)
		}
	}
}

// checkQuery checks brackets, metrics and labels of a query.
func checkQuery(t *testing.T, target modelTarget, known map[string][]string) {
	t.Helper()
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(target.Expr, pair[:1]) != strings.Count(target.Expr, pair[1:]) {
			t.Errorf("%s: unbalanced %s", target.Expr, pair)
		}
	}
	used := selector.FindAllStringSubmatch(target.Expr, -1)
	if len(used) == 0 {
		t.Errorf("%s: no metric", target.Expr)
	}
	for _, use := range used {
		metric := strings.TrimSuffix(use[1], "_bucket")
		labels, ok := known[metric]
		if !ok {
			t.Errorf("%s: there is no metric %s", target.Expr, metric)
		}
		for _, by := range grouping.FindAllStringSubmatch(target.Expr, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				if label != "le" && label != "pod" && !slices.Contains(labels, label) {
					t.Errorf("%s: %s has no label %s", target.Expr, metric, label)
				}
			}
		}
		for _, match := range matcher.FindAllStringSubmatch(use[2], -1) {
			if label := match[1]; !slices.Contains([]string{"namespace", "job", "pod"}, label) && !slices.Contains(labels, label) {
				t.Errorf("%s: %s has no label %s", target.Expr, metric, label)
			}
		}
		if strings.HasSuffix(metric, "_total") && !strings.Contains(target.Expr, "rate(") && !strings.Contains(target.Expr, "increase(") {
			t.Errorf("%s: a counter without a rate", target.Expr)
		}
	}
}

// registered returns the labels of the metrics that controller-runtime registers, by name.
func registered(t *testing.T) map[string][]string {
	t.Helper()
	return documented.Labels(t, metrics.Registry.(prometheus.Collector))
}
