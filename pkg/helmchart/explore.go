package helmchart

import (
	"context"
	"slices"
	"strings"
)

// The release that charts are rendered for. The names are unlikely to be part of others, so that names that depend on the
// release are recognized.
const (
	renderRelease   = "zrelease"
	renderNamespace = "znamespace"
)

// A ValueSet is a set of values to render a chart with.
type ValueSet struct {
	// Name describes the values: "default values", "all switches on", or the paths of switches, such as "metrics.enabled".
	Name   string
	Values map[string]any
	// switches are the switches that are on, without the switches that enable them.
	switches []chartSwitch
}

// A RenderedSet is a rendering with a set of values.
type RenderedSet struct {
	ValueSet
	Rendering
}

// A Rendered chart has the renderings with all value sets.
type Rendered struct {
	Chart Metadata
	CRDs  []RenderedObject
	Sets  []RenderedSet
	// Builtin are the renderings for a cluster without the APIs of other operators, with the defaults and with the switches
	// that are on in the last set. Failed ones are left out.
	Builtin []RenderedSet
	// Warnings are problems of the chart and of its rendering with default values.
	Warnings []string
}

// Explore renders a chart with its default values and with its switches on. If the chart cannot be rendered with all of them, it
// is rendered with halves of them, and so on, until it is known which switches fail. Errors come from render; templates that
// fail are in the result.
func Explore(ctx context.Context, files Files, render func(context.Context, RenderRequest) (*RenderAnswer, error)) (*Rendered, error) {
	e := explorer{files: files, off: switchesOff(files), render: render}
	round := []ValueSet{{Name: defaultValues, Values: map[string]any{}}}
	if len(e.off) > 0 {
		round = append(round, e.set(allSwitches, e.off))
	}
	for len(round) > 0 {
		results, err := e.run(ctx, round, false)
		if err != nil {
			return nil, err
		}
		e.rendered.Sets = append(e.rendered.Sets, results...)
		round = e.halves(results)
	}
	if err := e.combine(ctx); err != nil {
		return nil, err
	}
	e.rendered.Warnings = append(e.rendered.Warnings, e.rendered.Sets[0].Warnings...)
	return &e.rendered, nil
}

// An explorer renders a chart with several sets of values.
type explorer struct {
	files  Files
	render func(context.Context, RenderRequest) (*RenderAnswer, error)
	// off are the switches that are off by default.
	off      []chartSwitch
	rendered Rendered
}

func (e *explorer) run(ctx context.Context, sets []ValueSet, builtin bool) ([]RenderedSet, error) {
	request := RenderRequest{
		Protocol: Protocol, Files: e.files, ReleaseName: renderRelease, Namespace: renderNamespace, BuiltinOnly: builtin,
	}
	for _, set := range sets {
		request.Values = append(request.Values, set.Values)
	}
	answer, err := e.render(ctx, request)
	if err != nil {
		return nil, err
	}
	e.rendered.Chart, e.rendered.CRDs, e.rendered.Warnings = answer.Chart, answer.CRDs, answer.Warnings
	var results []RenderedSet
	for i, rendering := range answer.Renderings {
		results = append(results, RenderedSet{sets[i], rendering})
	}
	return results, nil
}

// set returns the values with switches on, and with the switches that enable them.
func (e *explorer) set(name string, switches []chartSwitch) ValueSet {
	on := slices.Clone(switches)
	for _, s := range e.off {
		if slices.ContainsFunc(switches, s.enables) {
			on = append(on, s)
		}
	}
	return ValueSet{Name: name, Values: switchedOn(on), switches: switches}
}

// halves returns two sets for each one that fails with several switches.
func (e *explorer) halves(results []RenderedSet) []ValueSet {
	var sets []ValueSet
	for _, r := range results {
		if n := len(r.switches); r.Error != "" && n > 1 {
			for _, half := range [][]chartSwitch{r.switches[:n/2], r.switches[n/2:]} {
				sets = append(sets, e.set(names(half), half))
			}
		}
	}
	return sets
}

// combine renders all switches that do not fail together, and without the APIs of other operators.
func (e *explorer) combine(ctx context.Context) error {
	most := e.rendered.Sets[:1]
	if len(e.rendered.Sets) > 1 {
		most = e.rendered.Sets[1:2]
	}
	failed := map[string]bool{}
	for _, set := range e.rendered.Failed() {
		failed[set.Name] = true
	}
	good := slices.DeleteFunc(slices.Clone(e.off), func(s chartSwitch) bool { return failed[s.name()] })
	if most[0].Error != "" && len(good) > 0 {
		results, err := e.run(ctx, []ValueSet{e.set(names(good), good)}, false)
		if err != nil {
			return err
		}
		if most = results; most[0].Error == "" { // otherwise two switches exclude each other
			e.rendered.Sets = append(e.rendered.Sets, results...)
		}
	}
	sets := []ValueSet{e.rendered.Sets[0].ValueSet}
	if most[0].Name != sets[0].Name {
		sets = append(sets, most[0].ValueSet)
	}
	builtin, err := e.run(ctx, sets, true)
	if err != nil {
		return err
	}
	e.rendered.Builtin = slices.DeleteFunc(builtin, func(s RenderedSet) bool { return s.Error != "" })
	return nil
}

func names(switches []chartSwitch) string {
	var list []string
	for _, s := range switches {
		list = append(list, s.name())
	}
	return strings.Join(list, ", ")
}

// all returns the renderings for all clusters.
func (r *Rendered) all() []RenderedSet { return slices.Concat(r.Sets, r.Builtin) }

// The names of value sets that are not named after a switch.
const (
	defaultValues = "default values"
	allSwitches   = "all switches on"
)

func switchesOff(files Files) []chartSwitch {
	return slices.DeleteFunc(findSwitches(files), func(s chartSwitch) bool { return s.on })
}

// enables reports whether another switch has an effect only if s is on: s belongs to an outer mapping, or enables its chart.
func (s chartSwitch) enables(other chartSwitch) bool {
	outer := s.path[:len(s.path)-1]
	if len(outer) > 0 && len(outer) < len(other.path)-1 && slices.Equal(outer, other.path[:len(outer)]) {
		return true
	}
	return slices.ContainsFunc(other.needs, func(need []string) bool { return slices.Equal(need, s.path) })
}

func switchedOn(switches []chartSwitch) map[string]any {
	values := map[string]any{}
	for _, s := range switches {
		inner := values
		for _, key := range s.path[:len(s.path)-1] {
			next, ok := inner[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				inner[key] = next
			}
			inner = next
		}
		last := s.path[len(s.path)-1]
		if _, isMapping := inner[last].(map[string]any); !isMapping {
			inner[last] = true
		}
	}
	return values
}

// Failed returns the sets that the chart cannot be rendered with: the defaults, and sets with one switch.
func (r *Rendered) Failed() []RenderedSet {
	return slices.DeleteFunc(slices.Clone(r.Sets), func(s RenderedSet) bool { return s.Error == "" || len(s.switches) > 1 })
}

// DefaultError is the reason that the chart cannot be rendered with its default values, or empty.
func (r *Rendered) DefaultError() string { return r.Sets[0].Error }
