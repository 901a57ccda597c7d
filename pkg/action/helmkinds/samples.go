package helmkinds

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
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
	objects, findings := manifest.Decode("", sample)
	if len(findings) > 0 || len(objects) == 0 {
		return nil, findings.Err()
	}
	spec, _ := objects[0].Fields["spec"].(map[string]any)
	return spec, nil
}

// requiredExamples returns examples of the values that templates fail without, for a sample that sets values: those that the sample contains,
// and those that it lacks.
func requiredExamples(ctx context.Context, p *action.Project, files helmchart.Files, set map[string]any) (map[string]any, error) {
	all, err := helmchart.RequiredValues(files)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	examples := helmchart.Examples(all, set)
	values := helmchart.CloneValues(set)
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
