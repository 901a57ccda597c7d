package watches

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// helmFormat describes the entries of Helm operators.
func helmFormat() format[Watch] {
	return format[Watch]{
		operator: "a Helm", required: "group, version, kind and chart",
		foreignOperator: "Ansible", foreignKeys: ansibleKeys(),
		create:   func() Watch { return Watch{WatchDependentResources: true} },
		readers:  (*Watch).readers,
		check:    (*Watch).check,
		identity: func(w *Watch) (schema.GroupVersionKind, *diag.Position) { return w.GroupVersionKind(), &w.Position },
		text:     (*Watch).text,
		content:  (*Watch).text,
		dependsOn: func(w *Watch) []Dependency {
			if w.Selector != nil {
				return nil
			}
			return w.DependsOn
		},
	}
}

// helmKeys are the keys that only entries of Helm operators have.
func helmKeys() []string {
	return []string{"chart", "valuesFrom", "overrideValues", "typedOverrideValues", "maxHistory", "dryRunOption", "timeout", "crds", "driftDetection", "install", "upgrade", "takeOwnership", "test"}
}

// readers returns the functions that read the values of an entry's keys.
func (w *Watch) readers(p *parser) map[string]func(*yaml.Node) {
	readers := p.kindReaders(&w.Group, &w.Version, &w.Kind)
	maps.Copy(readers, map[string]func(*yaml.Node){
		"chart":                   p.text(&w.Chart, checkChart),
		"watchDependentResources": p.boolean(&w.WatchDependentResources),
		"dependsOn":               p.dependsOn(&w.DependsOn),
		"valuesFrom":              p.sources(&w.ValuesFrom, valuesFromFormat()),
		"overrideValues":          func(value *yaml.Node) { w.OverrideValues = p.overrideValues(value) },
		"typedOverrideValues":     func(value *yaml.Node) { w.TypedOverrideValues = p.typedValues(value, "as in a values.yaml") },
		"selector":                func(value *yaml.Node) { w.Selector = p.selector(value) },
		"reconcilePeriod":         func(value *yaml.Node) { w.ReconcilePeriod = p.duration(value) },
		"timeout": func(value *yaml.Node) {
			if timeout := p.duration(value); !p.isVariable(value) {
				w.Timeout = &timeout
			}
		},
		"maxHistory":              p.number(0, func(n int) { w.MaxHistory = &n }),
		"maxConcurrentReconciles": p.number(1, func(n int) { w.MaxConcurrentReconciles = n }),
		"dryRunOption":            p.choice(&w.DryRunOption, dryRunClient, dryRunNone, dryRunServer),
		"crds":                    p.choice(&w.CRDs, CRDsCreate, CRDsCreateReplace, CRDsSkip),
		"driftDetection":          p.driftDetection(&w.DriftDetection),
		"takeOwnership":           p.choice(&w.TakeOwnership, ownershipEnabled, ownershipReport, ownershipDisabled),
		"test":                    p.test(&w.Test),
		"outputs":                 p.outputs(&w.Outputs, helmOutputs()),
		"install":                 p.remediation(&w.Install, strategyUninstall, strategyNone),
		"upgrade":                 p.remediation(&w.Upgrade, strategyRollback, strategyUninstall, strategyNone),
		"rollout":                 p.rollout(&w.Rollout),
	})
	w.TargetNamespace.addReaders(p, readers)
	return readers
}

// check adds findings about an entry as a whole.
func (w *Watch) check(p *parser, node *yaml.Node) {
	p.require(node, "version", w.Version)
	p.require(node, "kind", w.Kind)
	p.require(node, "chart", w.Chart)
	w.TargetNamespace.check(p, node)
}

// kindReaders returns the functions that read group, version and kind.
func (p *parser) kindReaders(group, version, kind *string) map[string]func(*yaml.Node) {
	return map[string]func(*yaml.Node){
		"group":   p.text(group, validation.IsDNS1123Subdomain),
		"version": p.text(version, validation.IsDNS1035Label),
		"kind":    p.text(kind, func(kind string) []string { return validation.IsDNS1035Label(strings.ToLower(kind)) }),
	}
}

// text returns a function that reads a text, which may be empty or else has to pass a check.
func (p *parser) text(into *string, check func(string) []string) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if value.Kind != yaml.ScalarNode {
			p.addf(value, "must be a string")
			return
		}
		if *into = value.Value; value.Value == "" || p.isVariable(value) {
			return
		}
		for _, problem := range check(value.Value) {
			problem, _, _ = strings.Cut(problem, " (e.g.") // and a regular expression
			p.addf(value, "%q: %s", value.Value, problem)
		}
	}
}

// choice returns a function that reads one of some strings, or an empty one.
func (p *parser) choice(into *string, valid ...string) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if *into = value.Value; value.Kind == yaml.ScalarNode && (value.Value == "" || slices.Contains(valid, value.Value)) {
			return
		}
		last := len(valid) - 1
		problem := fmt.Sprintf("%q: must be %s or %s", value.Value, strings.Join(valid[:last], ", "), valid[last])
		if near, ok := diag.Nearest(value.Value, valid); ok {
			problem += fmt.Sprintf("; did you mean %q?", near)
		}
		p.addf(value, "%s", problem)
	}
}

// boolean returns a function that reads true or false.
func (p *parser) boolean(into *bool) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if !p.isVariable(value) && (value.Kind != yaml.ScalarNode || value.Decode(into) != nil) {
			p.addf(value, "must be true or false")
		}
	}
}

func (p *parser) number(least int, set func(int)) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if p.isVariable(value) {
			return
		}
		if n, err := strconv.Atoi(value.Value); err != nil || value.Kind != yaml.ScalarNode || n < least || n > math.MaxInt32 {
			p.addf(value, "must be a whole number, at least %d", least)
		} else {
			set(n)
		}
	}
}

// isVariable reports whether a value contains variables that are not expanded, so that it cannot be checked.
func (p *parser) isVariable(value *yaml.Node) bool {
	return p.lenient && value.Kind == yaml.ScalarNode && reference.MatchString(value.Value)
}

// checkChart rejects sources of charts that only create api reads.
func checkChart(chart string) []string {
	if strings.Contains(chart, "://") {
		return []string{"must be a directory; add the chart to the project with 'operon create api --helm-chart'"}
	}
	return nil
}

func (p *parser) selector(node *yaml.Node) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if p.isVariable(node) {
		return selector
	}
	data, err := yaml.Marshal(node)
	if err == nil {
		err = safeyaml.UnmarshalStrict(data, selector)
	}
	if err == nil {
		_, err = metav1.LabelSelectorAsSelector(selector)
	}
	if err != nil {
		p.addf(node, "must be a label selector: %s", syntaxProblem(err))
		return nil
	}
	return selector
}

func (p *parser) duration(node *yaml.Node) time.Duration {
	if p.isVariable(node) {
		return 0
	}
	d, err := time.ParseDuration(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode || d < 0 {
		p.addf(node, "%q: must be a duration that is not negative, such as 1m30s", node.Value)
		return 0
	}
	return d
}

// syntaxProblem returns the text of an error of a YAML parser in one line, without its prefixes.
func syntaxProblem(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "json: ", "yaml: ", "unmarshal errors:"} {
		text = strings.TrimPrefix(text, prefix)
	}
	return strings.Join(strings.Fields(text), " ")
}
