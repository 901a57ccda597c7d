package grafana

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/templates"
)

// A panel is what Dashboard reads from a panel of a dashboard.
type panel struct {
	ID      int
	Title   string
	GridPos struct {
		H int
		Y *int
	}
	Targets     []struct{ Expr string }
	FieldConfig struct{ Defaults struct{ Unit string } }
	// Panels are those in a collapsed row.
	Panels []panel
}

// shows reports whether a query of a panel, or of one in it, uses a metric.
func (p panel) shows(name *regexp.Regexp) bool {
	for _, target := range p.Targets {
		if name.MatchString(target.Expr) {
			return true
		}
	}
	return slices.ContainsFunc(p.Panels, func(inner panel) bool { return inner.shows(name) })
}

// Dashboard returns DashboardFile with panels for metrics: current, or a new dashboard of a project if current is nil. The notes name panels
// of metrics that are no longer listed, and metrics that panels of the user show; neither changes.
func Dashboard(current []byte, project string, metrics []Metric) (content []byte, notes []string, err error) {
	content, err = render(project, metrics)
	if err != nil || current == nil {
		return content, nil, err
	}
	var wanted struct{ Panels []json.RawMessage }
	if err := json.Unmarshal(content, &wanted); err != nil {
		return nil, nil, err
	}
	d := &dashboard{}
	if err := d.read(current); err != nil {
		return nil, nil, err
	}
	var shown []string
	for i, at := range d.match(metrics) {
		switch {
		case at >= 0:
			err = d.update(at, metrics[i], wanted.Panels[i])
		case d.shows(metrics[i].Name):
			shown = append(shown, metrics[i].Name)
		default:
			err = d.add(wanted.Panels[i])
		}
		if err != nil {
			return nil, nil, inDashboard(current, err)
		}
	}
	if len(shown) > 0 {
		d.notes = append(d.notes, "no panels were added for metrics that panels with other titles show: "+strings.Join(shown, ", "))
	}
	content, err = d.write(current)
	return content, d.notes, err
}

// render returns a new dashboard.
func render(project string, metrics []Metric) ([]byte, error) {
	type data struct {
		ID, X, Y                      int
		Name, Type, Title, Expr, Unit string // Title, Expr and Unit are JSON
	}
	all := make([]data, len(metrics))
	for i, m := range metrics {
		all[i] = data{ID: i + 1, X: i % 2 * 12, Y: i / 2 * 8, Name: m.Name, Type: m.Type}
		unit := m.Unit
		if unit == "" {
			unit = "none"
		}
		for into, text := range map[*string]string{&all[i].Title: m.title(), &all[i].Expr: m.Query, &all[i].Unit: unit} {
			if text == "" {
				continue
			}
			encoded, err := encode(text)
			if err != nil {
				return nil, err
			}
			*into = string(encoded)
		}
	}
	content, err := templates.Execute("grafana/custom-metrics-dashboard.json.tmpl", map[string]any{"Project": project, "Metrics": all})
	if err != nil {
		return nil, err
	}
	return indent(content)
}

// indent returns JSON with the white space of generated dashboards.
func indent(data []byte) ([]byte, error) {
	var b bytes.Buffer
	err := json.Indent(&b, data, "", "  ")
	return append(bytes.TrimSpace(b.Bytes()), '\n'), err
}

// A dashboard is an existing file.
type dashboard struct {
	members object
	// panels and parsed are the same panels.
	panels []json.RawMessage
	parsed []panel
	notes  []string
	edited bool
}

// read parses a file.
func (d *dashboard) read(content []byte) error {
	if err := json.Unmarshal(content, &d.members); err != nil {
		return inDashboard(content, err)
	}
	for _, m := range d.members {
		if m.key != "panels" {
			continue
		}
		if err := errors.Join(json.Unmarshal(m.value, &d.panels), json.Unmarshal(m.value, &d.parsed)); err != nil {
			return inDashboard(content, err)
		}
	}
	return nil
}

// inDashboard returns a problem of the file as a finding, at its line if that is known.
func inDashboard(content []byte, err error) error {
	f := diag.Finding{
		Position: diag.Position{File: DashboardFile}, Problem: "is not a dashboard: " + err.Error(),
		Fix: "correct it, or delete it to have it written anew",
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		f.Line = 1 + bytes.Count(content[:min(int(syntax.Offset), len(content))], []byte("\n"))
	}
	return f
}

// generatedTitle is the form of the titles of generated panels.
var generatedTitle = lazyregexp.New(`^[a-zA-Z_:][a-zA-Z0-9_:]* \((?i:` + strings.Join(metricTypes(), "|") + `)\)$`)

// match returns the index of the panel of each metric, or -1 if there is none: the panel with its title, or else the panel of the metric with
// another type.
func (d *dashboard) match(metrics []Metric) []int {
	found := slices.Repeat([]int{-1}, len(metrics))
	taken := map[int]bool{}
	for _, fits := range []func(m Metric, title string) bool{
		func(m Metric, title string) bool { return strings.EqualFold(title, m.title()) },
		func(m Metric, title string) bool {
			return strings.HasPrefix(title, m.Name+" (") && generatedTitle.MatchString(title)
		},
	} {
		for i, m := range metrics {
			for j := 0; j < len(d.parsed) && found[i] < 0; j++ {
				if !taken[j] && fits(m, d.parsed[j].Title) {
					found[i], taken[j] = j, true
				}
			}
		}
	}
	for j, p := range d.parsed {
		if !taken[j] && generatedTitle.MatchString(p.Title) {
			d.notes = append(d.notes, fmt.Sprintf("the panel %q stays, although %s does not list its metric; delete it if you no longer need it", p.Title, ConfigFile))
		}
	}
	return found
}

// shows reports whether a panel that was not generated shows a metric.
func (d *dashboard) shows(metric string) bool {
	name := regexp.MustCompile(`(^|[^a-zA-Z0-9_:])` + metric + `(_bucket|_sum|_count)?($|[^a-zA-Z0-9_:])`)
	return slices.ContainsFunc(d.parsed, func(p panel) bool { return !generatedTitle.MatchString(p.Title) && p.shows(name) })
}

// update sets what the file of metrics determines of a panel: with another type, also the default query.
func (d *dashboard) update(at int, m Metric, rendered json.RawMessage) error {
	var wanted panel
	if err := json.Unmarshal(rendered, &wanted); err != nil {
		return err
	}
	current := d.parsed[at]
	retyped := !strings.EqualFold(current.Title, m.title())
	if retyped {
		if err := d.put(at, m.title(), "title"); err != nil {
			return err
		}
	}
	query := wanted.Targets[0].Expr
	if (m.Query != "" || retyped) && len(current.Targets) > 0 && current.Targets[0].Expr != query {
		if err := d.put(at, query, "targets", "0", "expr"); err != nil {
			return err
		}
	}
	if m.Unit != "" && current.FieldConfig.Defaults.Unit != m.Unit {
		return d.put(at, m.Unit, "fieldConfig", "defaults", "unit")
	}
	return nil
}

// put sets a value of a panel.
func (d *dashboard) put(at int, value any, path ...string) error {
	changed, err := put(d.panels[at], value, path...)
	if err == nil {
		d.panels[at], d.edited = changed, true
	}
	return err
}

// add adds a panel below all others.
func (d *dashboard) add(rendered json.RawMessage) error {
	bottom, id := 0, 0
	for _, p := range d.parsed {
		y := bottom // where Grafana puts a panel without a place
		if p.GridPos.Y != nil {
			y = *p.GridPos.Y
		}
		bottom, id = max(bottom, y+p.GridPos.H), max(id, p.ID)
	}
	at := len(d.panels)
	d.panels = append(d.panels, rendered)
	for _, set := range []struct {
		value int
		path  []string
	}{{id + 1, []string{"id"}}, {0, []string{"gridPos", "x"}}, {bottom, []string{"gridPos", "y"}}} {
		if err := d.put(at, set.value, set.path...); err != nil {
			return err
		}
	}
	var added panel
	err := json.Unmarshal(d.panels[at], &added)
	d.parsed = append(d.parsed, added)
	return err
}

// write returns the file, which is the current one if nothing was edited.
func (d *dashboard) write(current []byte) ([]byte, error) {
	if !d.edited {
		return current, nil
	}
	panels, err := encode(d.panels)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(d.members, func(m member) bool { return m.key == "panels" }); i >= 0 {
		d.members[i].value = panels
	} else {
		d.members = append(d.members, member{"panels", panels})
	}
	compact, err := encode(d.members)
	if err != nil {
		return nil, err
	}
	content, err := indent(compact)
	if bytes.Contains(current, []byte("\r\n")) {
		content = bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
	}
	return content, err
}
