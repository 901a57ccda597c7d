package grafana

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// exported is a dashboard with edits and a panel of the user's own, in the forms of kubebuilder (data sources as strings, panels without
// places) and of Grafana's export.
const exported = `{
  "uid": "mine", "panels": [
    {"title": "calls_total (Counter)", "datasource": "${DS_PROMETHEUS}", "gridPos": {"h": 7, "w": 24},
      "targets": [{"expr": "sum(rate(calls_total[5m])) > 0", "step": 10}], "fieldConfig": {"defaults": {"unit": "none", "max": 1e3}}, "type": "timeseries"},

    {"id": 41, "title": "Mine", "gridPos": {"h": 4, "w": 6, "x": 0, "y": 30}, "type": "text", "options": {"content": "<b>&"}},
    {"title": "Row", "type": "row", "panels": [{"title": "Ratio", "targets": [{"expr": "1 - hits_total / (misses_total)"}, {"expr": "rate(a_bucket[5m])"}]}]},
    {"title": "size (counter)", "targets": [{"expr": "rate(size[5m])"}], "type": "timeseries"},
    {"title": "gone (gauge)", "targets": [{"expr": "gone"}], "type": "timeseries"},
    {"title": "bare (gauge)", "type": "timeseries"}
  ], "refresh": ""
}
`

// TestDashboardKeeps expects a dashboard to keep all but what the list of metrics says.
func TestDashboardKeeps(t *testing.T) {
	t.Parallel()
	metrics := []Metric{
		{Name: "calls_total", Type: "counter", Unit: "ops"},
		{Name: "size", Type: "gauge"},
		{Name: "bare", Type: "gauge", Query: "max(bare)"},
		{Name: "misses_total", Type: "counter"}, {Name: "a", Type: "histogram"},
		{Name: "wait_seconds", Type: "histogram", Query: `histogram_quantile(0.5, rate(wait_seconds_bucket{job="$job"}[5m]))`, Unit: "s"},
	}
	got, notes, err := Dashboard([]byte(exported), "unused", metrics)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		`the panel "gone (gauge)" stays, although grafana/custom-metrics/config.yaml does not list its metric; delete it if you no longer need it`,
		"no panels were added for metrics that panels with other titles show: misses_total, a",
	}; !slices.Equal(notes, want) {
		t.Errorf("notes %q", notes)
	}
	var want strings.Builder
	want.WriteString(exported)
	edited := strings.NewReplacer(
		`"unit": "none", "max": 1e3`, `"unit": "ops", "max": 1e3`,
		`"size (counter)", "targets": [{"expr": "rate(size[5m])"}]`,
		`"size (gauge)", "targets": [{"expr": "size{namespace=\"$namespace\", job=\"$job\", pod=~\"$pod\"}"}]`,
	).Replace(want.String())
	var a, b struct {
		UID     string
		Refresh *string
		Panels  []json.RawMessage
	}
	for text, into := range map[string]any{string(got): &a, edited: &b} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	}
	if a.UID != "mine" || a.Refresh == nil || len(a.Panels) != len(b.Panels)+1 {
		t.Fatalf("got\n%s", got)
	}
	for i := range b.Panels {
		x, _ := indent(a.Panels[i])
		y, _ := indent(b.Panels[i])
		if string(x) != string(y) {
			t.Errorf("panel %d: got\n%s\nwant\n%s", i, x, y)
		}
	}
	var added panel
	if err := json.Unmarshal(a.Panels[len(b.Panels)], &added); err != nil {
		t.Fatal(err)
	}
	if added.ID != 42 || *added.GridPos.Y != 34 || added.Title != "wait_seconds (histogram)" || added.Targets[0].Expr != metrics[5].Query || added.FieldConfig.Defaults.Unit != "s" {
		t.Errorf("added %+v", added)
	}
	again, _, err := Dashboard(got, "unused", metrics)
	if err != nil || string(again) != string(got) {
		t.Errorf("the second time: %v\n%s", err, again)
	}
	if same, _, err := Dashboard([]byte(exported), "unused", nil); err != nil || string(same) != exported {
		t.Errorf("without metrics: %v\n%s", err, same)
	}
	windows := strings.ReplaceAll(exported, "\n", "\r\n")
	if crlf, _, err := Dashboard([]byte(windows), "unused", metrics); err != nil || string(crlf) != strings.ReplaceAll(string(got), "\n", "\r\n") {
		t.Errorf("with carriage returns: %v\n%q", err, crlf)
	}
}

// TestDashboardGrows expects the same panels whether metrics are listed at once or one by one.
func TestDashboardGrows(t *testing.T) {
	t.Parallel()
	metrics := []Metric{{Name: "a", Type: "gauge"}, {Name: "a", Type: "gauge", Query: "max(a)"}, {Name: "b", Type: "counter", Unit: "ops"}}
	whole, _, err := Dashboard(nil, "x", metrics)
	if err != nil {
		t.Fatal(err)
	}
	grown, _, err := Dashboard(nil, "x", metrics[:1])
	if err != nil {
		t.Fatal(err)
	}
	if grown, _, err = Dashboard(grown, "x", metrics); err != nil {
		t.Fatal(err)
	}
	var a, b dashboard
	if err := a.read(whole); err != nil {
		t.Fatal(err)
	}
	if err := b.read(grown); err != nil {
		t.Fatal(err)
	}
	for i := range a.parsed {
		x, y := a.parsed[i], b.parsed[i]
		if x.ID != y.ID || x.Title != y.Title || x.Targets[0] != y.Targets[0] || x.FieldConfig != y.FieldConfig {
			t.Errorf("got %+v, want %+v", y, x)
		}
	}
}

// TestDashboardProblems expects a file that is no dashboard to be named with the line.
func TestDashboardProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             DashboardFile + ":1: is not a dashboard: ",
		"[]":                           "must be an object",
		"{\n  \"a\": 1,\n  b\n}":       DashboardFile + ":3: is not a dashboard",
		`{"panels": {}}`:               "cannot unmarshal object",
		`{"panels": [{"title": 1}]}`:   "cannot unmarshal number",
		`{"panels": [{"title": "a"}]]`: "delete it to have it written anew",
	} {
		if _, _, err := Dashboard([]byte(text), "x", []Metric{{Name: "a", Type: "gauge"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzDashboard(f *testing.F) {
	f.Add([]byte(exported))
	f.Add([]byte(`{"panels": null}`))
	f.Add([]byte(`{"panels": [{"title": "a (gauge)", "targets": [null]}, null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		metrics := []Metric{{Name: "a", Type: "gauge", Query: "max(a)", Unit: "s"}, {Name: "b", Type: "counter"}}
		got, _, err := Dashboard(text, "x", metrics)
		if err != nil {
			return
		}
		again, _, err := Dashboard(got, "x", metrics)
		if err != nil || string(again) != string(got) {
			t.Errorf("%q became %q, then %q, %v", text, got, again, err)
		}
	})
}
