// Package grafana writes the Grafana dashboard of a project's own metrics.
//
// ReadConfig reads grafana/custom-metrics/config.yaml, in the format of kubebuilder's plugin grafana/v1-alpha, and
// Dashboard writes a panel for each of its metrics. The format of dashboards is Grafana's dashboard JSON model
// (https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/).
//
// # What belongs to whom
//
// The file of metrics determines title, query and unit of its panels. Everything else in a dashboard belongs to the user, who may
// have edited it or exported it from Grafana: Dashboard keeps it byte for byte, apart from white space.
package grafana

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const (
	// ConfigFile lists the metrics of a project.
	ConfigFile = "grafana/custom-metrics/config.yaml"
	// DashboardFile is the dashboard of these metrics.
	DashboardFile = "grafana/custom-metrics/custom-metrics-dashboard.json"
)

// A Metric is an item of the list of metrics.
type Metric struct {
	// Name is a name that Prometheus accepts. Type is counter, gauge or histogram.
	Name, Type string
	// Query is in PromQL; empty is the default of the type. Unit is a Grafana unit, such as s or bytes; empty means none.
	Query, Unit string
}

// title returns the title of the metric's panel, which identifies it. Kubebuilder's panels have the same titles.
func (m Metric) title() string { return m.Name + " (" + m.Type + ")" }

// metricName is the form of names that need no quotes in PromQL.
var metricName = lazyregexp.New(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

func metricTypes() []string { return []string{"counter", "gauge", "histogram"} }

// ReadConfig returns the metrics of ConfigFile with the given content, and findings about keys that have no effect, which kubebuilder
// ignores. The error has all other findings.
func ReadConfig(content []byte) (metrics []Metric, unknown diag.Findings, err error) {
	var document yaml.Node
	if err := safeyaml.Unmarshal(content, &document); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	if len(document.Content) == 0 {
		return nil, nil, nil
	}
	r := &configReader{}
	r.read(document.Content[0])
	return r.metrics, r.unknown, r.findings.Err()
}

// A configReader collects the metrics and the problems of a file.
type configReader struct {
	metrics           []Metric
	findings, unknown diag.Findings
}

// addf adds a finding about a node.
func (r *configReader) addf(at *yaml.Node, format string, args ...any) {
	r.findings.Addf(diag.Position{File: ConfigFile, Line: at.Line, Column: at.Column}, format, args...)
}

func (r *configReader) read(root *yaml.Node) {
	const key = "customMetrics"
	if root.Kind != yaml.MappingNode {
		if root.Tag != "!!null" {
			r.addf(root, "must be a mapping with the key %s", key)
		}
		return
	}
	for name, list := range safeyaml.Fields(root) {
		switch {
		case name.Value != key:
			r.addUnknown(name, []string{key})
		case list.Kind == yaml.SequenceNode:
			for _, item := range list.Content {
				r.readItem(item)
			}
		case list.Tag != "!!null":
			r.addf(list, "%s must be a list of metrics", key)
		}
	}
}

// addUnknown adds a finding about a key that has no effect.
func (r *configReader) addUnknown(key *yaml.Node, known []string) {
	hint := "known are " + strings.Join(known, ", ")
	if nearest, ok := diag.Nearest(key.Value, known); ok {
		hint = fmt.Sprintf("did you mean %q?", nearest)
	}
	r.unknown.Addf(diag.Position{File: ConfigFile, Line: key.Line, Column: key.Column}, "the key %q has no effect; %s", key.Value, hint)
}

func (r *configReader) readItem(item *yaml.Node) {
	if item.Kind != yaml.MappingNode {
		r.addf(item, "an item of customMetrics must be a mapping with the keys metric and type")
		return
	}
	problems := len(r.findings)
	var m Metric
	texts := map[string]*string{"metric": &m.Name, "type": &m.Type, "expr": &m.Query, "unit": &m.Unit}
	for key, value := range safeyaml.Fields(item) {
		text, ok := texts[key.Value]
		switch {
		case !ok:
			r.addUnknown(key, []string{"metric", "type", "expr", "unit"})
		case value.Kind == yaml.ScalarNode && value.Tag != "!!null":
			*text = strings.TrimSpace(value.Value)
		case value.Kind != yaml.ScalarNode:
			r.addf(value, "%s must be a string", key.Value)
		}
	}
	if len(r.findings) > problems {
		return
	}
	at := func(key string) *yaml.Node {
		if value := safeyaml.Child(item, key); value != nil {
			return value
		}
		return item
	}
	switch {
	case m.Name == "" && safeyaml.Child(item, "name") != nil:
		r.addf(at("name"), "metric is required: the key of the name is metric")
	case m.Name == "":
		r.addf(at("metric"), "metric is required: the name of the metric")
	case !metricName.MatchString(m.Name):
		r.addf(at("metric"), "metric %q: must be the name of a metric: letters, digits, _ and :, and no digit at the start", m.Name)
	}
	m.Type = strings.ToLower(m.Type)
	switch {
	case slices.Contains(metricTypes(), m.Type):
	case m.Type == "":
		r.addf(at("type"), "type is required: counter, gauge or histogram")
	case m.Type == "summary":
		r.addf(at("type"), "type %q: must be counter, gauge or histogram; list a summary as a gauge, and its series _sum and _count as counters", m.Type)
	default:
		r.addf(at("type"), "type %q: must be counter, gauge or histogram", m.Type)
	}
	if m.Query = unescape(m.Query); len(r.findings) == problems {
		r.metrics = append(r.metrics, m)
	}
}

// unescape returns the query that an escaped one means: kubebuilder copies queries into JSON, so that its users write \" for each
// quote. A query with other quotes is not escaped.
func unescape(query string) string {
	var text string
	if strings.Contains(query, `\"`) && json.Unmarshal([]byte(`"`+query+`"`), &text) == nil {
		return text
	}
	return query
}
