package helmchart

import (
	"context"
	"slices"
)

// The release that charts are rendered for. The names are unlikely to be part of others, so that names that depend on the
// release are recognized.
const (
	RenderRelease   = "zrelease"
	RenderNamespace = "znamespace"
)

// A ValueSet is a set of values to render a chart with.
type ValueSet struct {
	// Name describes the values: "default values", "all switches on", or the path of the switch that is on, such as
	// "metrics.enabled".
	Name   string
	Values map[string]any
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
	// that are on in the last set. Those that fail are left out.
	Builtin []RenderedSet
	// Warnings are problems of the chart and of its rendering with default values.
	Warnings []string
}

// Explore renders a chart with its default values and with its switches on. If the chart cannot be rendered with all of them, it
// is rendered with each, and with all that succeed. render is called at most four times. Errors are those of render; templates
// that fail are in the result.
func Explore(ctx context.Context, files Files, render func(context.Context, RenderRequest) (*RenderAnswer, error)) (*Rendered, error) {
	rendered := &Rendered{}
	run := func(sets []ValueSet, builtin bool) ([]RenderedSet, error) {
		request := RenderRequest{
			Protocol: Protocol, Files: files, ReleaseName: RenderRelease, Namespace: RenderNamespace, BuiltinOnly: builtin,
		}
		for _, set := range sets {
			request.Values = append(request.Values, set.Values)
		}
		answer, err := render(ctx, request)
		if err != nil {
			return nil, err
		}
		rendered.Chart, rendered.CRDs, rendered.Warnings = answer.Chart, answer.CRDs, answer.Warnings
		var results []RenderedSet
		for i, rendering := range answer.Renderings {
			results = append(results, RenderedSet{sets[i], rendering})
		}
		return results, nil
	}
	for sets := ValueSets(files); len(sets) > 0; sets = rendered.further(files) {
		results, err := run(sets, false)
		if err != nil {
			return nil, err
		}
		rendered.Sets = append(rendered.Sets, results...)
	}
	sets := []ValueSet{rendered.Sets[0].ValueSet}
	if last := rendered.Sets[len(rendered.Sets)-1]; len(rendered.Sets) > 1 && last.Error == "" {
		sets = append(sets, last.ValueSet)
	}
	builtin, err := run(sets, true)
	if err != nil {
		return nil, err
	}
	rendered.Builtin = slices.DeleteFunc(builtin, func(s RenderedSet) bool { return s.Error != "" })
	rendered.Warnings = append(rendered.Warnings, rendered.Sets[0].Warnings...)
	return rendered, nil
}

// all returns the renderings for all clusters.
func (r *Rendered) all() []RenderedSet { return slices.Concat(r.Sets, r.Builtin) }

// The names of value sets.
const (
	defaultValues = "default values"
	allSwitches   = "all switches on"
	goodSwitches  = "all switches on that can be rendered alone"
)

// ValueSets returns the value sets that a chart is rendered with at first: the defaults, and all switches on.
func ValueSets(files Files) []ValueSet {
	sets := []ValueSet{{Name: defaultValues, Values: map[string]any{}}}
	if off := switchesOff(files); len(off) > 0 {
		sets = append(sets, ValueSet{Name: allSwitches, Values: switchedOn(off)})
	}
	return sets
}

// SingleValueSets returns a value set for each switch, which enables the switches that it depends on, too. A chart is rendered
// with them if it cannot be rendered with all switches on.
func SingleValueSets(files Files) []ValueSet {
	var sets []ValueSet
	off := switchesOff(files)
	for _, s := range off {
		set := []chartSwitch{s}
		for _, other := range off {
			if other.enables(s) {
				set = append(set, other)
			}
		}
		sets = append(sets, ValueSet{Name: s.name(), Values: switchedOn(set)})
	}
	return sets
}

// further returns the value sets to render after those of the chart, if any.
func (r *Rendered) further(files Files) []ValueSet {
	last := r.Sets[len(r.Sets)-1]
	switch {
	case last.Name == allSwitches && last.Error != "":
		return SingleValueSets(files)
	case last.Name == allSwitches, last.Name == defaultValues, last.Name == goodSwitches:
		return nil
	}
	failed := map[string]bool{}
	for _, set := range r.Sets[2:] {
		failed[set.Name] = set.Error != ""
	}
	good := slices.DeleteFunc(switchesOff(files), func(s chartSwitch) bool { return failed[s.name()] })
	if len(good) < 2 || len(good) == len(failed) {
		return nil
	}
	return []ValueSet{{Name: goodSwitches, Values: switchedOn(good)}}
}

// switchesOff returns the switches that are off by default.
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

// switchedOn returns values with switches on.
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

// Failed returns the sets that the chart cannot be rendered with.
func (r *Rendered) Failed() []RenderedSet {
	return slices.DeleteFunc(slices.Clone(r.Sets), func(s RenderedSet) bool { return s.Error == "" })
}

// DefaultError is the reason that the chart cannot be rendered with its default values, or empty.
func (r *Rendered) DefaultError() string { return r.Sets[0].Error }
