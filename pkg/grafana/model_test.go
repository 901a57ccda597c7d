package grafana

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/certwatcher/metrics"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its metrics, and those of the process
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	_ "sigs.k8s.io/controller-runtime/pkg/webhook" // registers its metrics

	"github.com/operon-sdk/operon/templates"
)

type source struct{ Type, UID string }

// A model has the fields of Grafana's dashboard JSON model that generated dashboards use, with those of time series and rows.
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
			Unit     string
			Min, Max *float64
			Color    struct{ Mode string }
			Custom   struct {
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
		Tooltip struct{ Mode, Sort string }
	}
	Targets []modelTarget
}

type modelTarget struct {
	RefID, EditorMode, Expr, LegendFormat string
	Datasource                            source
	Range                                 bool
}

type place struct{ H, W, X, Y int }

// TestModel checks all generated dashboards: their fields, ids, places, data sources and variables, and that controller-runtime registers
// each metric with the labels of the query.
func TestModel(t *testing.T) {
	t.Parallel()
	custom := []Metric{
		{Name: "my_total", Type: "counter"}, {Name: "my_size", Type: "gauge", Unit: "bytes"}, {Name: "my_seconds", Type: "histogram"},
		{Name: "my_size", Type: "gauge", Query: `max by (pod) (my_size{job="$job"})`},
	}
	known := registered(t)
	for name, labels := range map[string][]string{"my_total": nil, "my_size": nil, "my_seconds": nil} {
		known[name] = labels
	}
	dashboards := map[string][]byte{}
	for _, name := range []string{"controller-runtime-metrics.json", "controller-resources-metrics.json"} {
		data := map[string]any{"Project": map[string]any{"Name": "shop-operator"}}
		content, err := templates.Execute("common/grafana/grafana/"+name+".tmpl", data)
		if err != nil {
			t.Fatal(err)
		}
		dashboards[name] = content
	}
	var err error
	if dashboards[DashboardFile], _, err = Dashboard(nil, "shop-operator", custom); err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	for name, content := range dashboards {
		var m model
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&m); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(m.Title, "shop-operator: ") || titles[m.Title] || m.Description == "" || m.SchemaVersion < 36 {
			t.Errorf("%s: title %q, description %q, schemaVersion %d", name, m.Title, m.Description, m.SchemaVersion)
		}
		titles[m.Title] = true
		m.check(t, name, known)
		var o object
		if err := json.Unmarshal(content, &o); err != nil {
			t.Fatal(err)
		}
		for _, member := range o {
			if member.key == "panels" {
				var panels []json.RawMessage
				if err := json.Unmarshal(member.value, &panels); err != nil {
					t.Fatal(err)
				}
				checkPlaces(t, panels)
			}
		}
	}
}

// checkPlaces checks that panels have different ids and do not overlap.
func checkPlaces(t *testing.T, panels []json.RawMessage) {
	t.Helper()
	type placed struct {
		ID      int
		GridPos place
	}
	all := make([]placed, len(panels))
	for i := range panels {
		if err := json.Unmarshal(panels[i], &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i, a := range all {
		p := a.GridPos
		if a.ID <= 0 || p.H <= 0 || p.W <= 0 || p.X < 0 || p.X+p.W > 24 || p.Y < 0 {
			t.Errorf("panel %+v is outside of the grid", a)
		}
		for _, b := range all[:i] {
			q := b.GridPos
			if a.ID == b.ID || p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
				t.Errorf("panels %+v and %+v", a, b)
			}
		}
	}
}

var (
	variableRef = regexp.MustCompile(`\$\{?(\w+)`)
	selector    = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	grouping    = regexp.MustCompile(`by \(([^)]*)\)`)
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
		if p.Type != "timeseries" || *p.Datasource != data || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
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
			t.Errorf("%s: controller-runtime has no metric %s", target.Expr, metric)
		}
		for _, by := range grouping.FindAllStringSubmatch(target.Expr, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				if label != "le" && label != "pod" && !slices.Contains(labels, label) {
					t.Errorf("%s: %s has no label %s", target.Expr, metric, label)
				}
			}
		}
		if strings.HasSuffix(metric, "_total") && !strings.Contains(target.Expr, "rate(") {
			t.Errorf("%s: a counter without a rate", target.Expr)
		}
	}
}

// registered returns the labels of the metrics that controller-runtime registers, by name.
func registered(t *testing.T) map[string][]string {
	t.Helper()
	descs := make(chan *prometheus.Desc)
	go func() {
		metrics.Registry.(prometheus.Collector).Describe(descs)
		close(descs)
	}()
	form := regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([^}]*)\}`)
	known := map[string][]string{}
	for desc := range descs {
		match := form.FindStringSubmatch(desc.String())
		if match == nil {
			t.Fatalf("unknown form of %s", desc)
		}
		known[match[1]] = strings.Split(match[2], ",")
	}
	return known
}
