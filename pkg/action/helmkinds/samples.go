package helmkinds

import (
	"context"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// updateSamples merges the values of the charts into the samples that create api wrote. What the user has set stays.
func updateSamples(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, kinds []chartKind) error {
	for _, kind := range kinds {
		name := scaffold.SampleFile(kind.resource)
		current, err := tree.ReadOptional(name)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(current), "\n")
		if !kind.own || !sampleNote.MatchString(first) {
			continue
		}
		spec := sampleSpec(config, kind.resource, kind.Files, strings.HasPrefix(first, fullSampleNote))
		set, err := specOf(current)
		if err != nil {
			continue // the user is editing it
		}
		if spec.Examples, err = requiredExamples(ctx, p, kind.Files, set); err != nil {
			return fmt.Errorf("%s: %w", kind.Dir, err)
		}
		wanted, err := helmchart.Sample(spec)
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(kind.Dir, "values.yaml"), err)
		}
		if updated := mergeSample(current, wanted, spec.Full); string(updated) != string(current) {
			tree.WriteFile(name, updated, worktree.FileMode)
		}
	}
	return nil
}

// fullSampleNote begins a sample with all values.
const fullSampleNote = "# spec contains all default values of the chart "

// sampleNote matches the comments at the start of samples.
var sampleNote = lazyregexp.New(`^# (?:spec overrides the default values of the chart |spec contains all default values of the chart |` +
	`The chart .* has no default values\.$|Values that are removed have the default of the chart\.$|To change some, |` +
	`The chart requires values that have no default; replace these examples: )`)

// specOf returns the spec of a sample.
func specOf(sample []byte) (map[string]any, error) {
	var object struct{ Spec map[string]any }
	err := safeyaml.UnmarshalJSON(sample, &object)
	return object.Spec, err
}

// requiredExamples returns examples of the values that templates fail without, for a sample that sets values: those that the sample contains,
// and those that it lacks.
func requiredExamples(ctx context.Context, p *action.Project, files helmchart.Files, set map[string]any) (map[string]any, error) {
	all, err := helmchart.RequiredValues(files)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	examples := helmchart.Examples(all, set)
	values, _ := cloneValues(set).(map[string]any)
	for range all {
		answer, err := p.Charts.Render(ctx, helmchart.RenderRequest{Files: files, ReleaseName: "sample", Namespace: "default", Values: []map[string]any{values}})
		if err != nil {
			return nil, err
		}
		missing, ok := helmchart.MissingValue(all, answer.Renderings[0].Error, values)
		if !ok {
			break
		}
		missing.SetExample(values)
		missing.SetExample(examples)
	}
	return examples, nil
}

// sampleLike returns the sample as create api writes it, with those examples of values that templates require that another one contains.
func sampleLike(content []byte, spec helmchart.SampleSpec) ([]byte, error) {
	all, err := helmchart.RequiredValues(spec.Chart)
	if err != nil {
		return nil, err
	}
	if set, err := specOf(content); err == nil {
		spec.Examples = helmchart.Examples(all, set)
	}
	return helmchart.Sample(spec)
}

// cloneValues returns a copy of values, in which mappings can be changed.
func cloneValues(value any) any {
	fields, ok := value.(map[string]any)
	if !ok && value != nil {
		return value
	}
	clone := map[string]any{}
	for key, field := range fields {
		if inner, isMapping := field.(map[string]any); isMapping {
			field = cloneValues(inner)
		}
		clone[key] = field
	}
	return clone
}

// A sampleFile is a sample in parts.
type sampleFile struct {
	// notes are the comments that create api writes, head is the rest up to spec.
	notes, head []string
	// set are the values before the first comment in spec, rest is what follows.
	set, rest []string
}

func splitSample(text []byte) sampleFile {
	lines := slices.Collect(strings.Lines(string(text)))
	var s sampleFile
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "spec:") })
	if at < 0 {
		return sampleFile{head: lines}
	}
	for _, line := range lines[:at] {
		if sampleNote.MatchString(strings.TrimRight(line, "\r\n")) {
			s.notes = append(s.notes, line)
		} else {
			s.head = append(s.head, line)
		}
	}
	body := lines[at+1:]
	first := slices.IndexFunc(body, func(line string) bool { return !isSet(line) })
	if first < 0 {
		first = len(body)
	}
	s.set, s.rest = body[:first], body[first:]
	return s
}

// isSet reports whether a line of spec is neither blank nor a comment.
func isSet(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && line[0] != '#'
}

// mergeSample returns the sample that the user may have edited with the comments and examples of the wanted one. full samples have the defaults
// of an earlier chart, which can't be told from edits, so that only examples are added.
func mergeSample(current, wanted []byte, full bool) []byte {
	ours, theirs := splitSample(current), splitSample(wanted)
	set, err := specOf(current)
	if err != nil || ours.notes == nil {
		return current
	}
	missing := missingKeys(theirs.set, set)
	rest := ours.rest
	if !full {
		base := make([]string, len(ours.rest))
		for i, line := range ours.rest {
			if base[i] = line; isSet(line) {
				base[i] = "  # " + strings.TrimPrefix(line, "  ")
			}
		}
		merged, _ := merge.Lines(joined(base), joined(ours.rest), joined(theirs.rest), merge.Options{Side: merge.Ours})
		rest = []string{string(merged)}
	}
	for _, attempt := range [][]string{rest, ours.rest} {
		spec := "spec:\n"
		if body := string(joined(ours.set, missing, attempt)); !slices.ContainsFunc(slices.Collect(strings.Lines(body)), isSet) {
			spec = "spec: {}\n"
		}
		updated := joined(theirs.notes, ours.head, []string{spec}, ours.set, missing, attempt)
		if now, err := specOf(updated); err == nil && containsValues(now, set) {
			return updated
		}
	}
	return current
}

func joined(parts ...[]string) []byte {
	return []byte(strings.Join(slices.Concat(parts...), ""))
}

// missingKeys returns the lines of the keys at the top of spec that values lack.
func missingKeys(lines []string, values map[string]any) []string {
	var missing []string
	add := false
	for _, line := range lines {
		if name, _, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(line, "  ") && line[2] != ' ' && line[2] != '-' {
			_, exists := values[strings.Trim(strings.TrimSpace(name), `"'`)]
			add = !exists
		}
		if add {
			missing = append(missing, line)
		}
	}
	return missing
}

// containsValues reports whether all values are among others.
func containsValues(all, some map[string]any) bool {
	for name := range maps.Keys(some) {
		inner, isMapping := some[name].(map[string]any)
		other, both := all[name].(map[string]any)
		if isMapping && both && !containsValues(other, inner) || !(isMapping && both) && !reflect.DeepEqual(all[name], some[name]) {
			return false
		}
	}
	return true
}
