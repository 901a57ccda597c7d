package local

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/project"
)

// isSample reports whether a file of a project belongs to its samples.
func isSample(name string) bool {
	return strings.HasPrefix(name, project.SamplesDir+"/") && isYAML(path.Base(name))
}

// areSamples reports whether all files are samples, so that a change of them doesn't concern the manager.
func areSamples(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !isSample(name) })
}

// applySamples applies config/samples. A sample that can't be applied doesn't end the run, since a change of the file can correct it.
func (r *runner) applySamples(ctx context.Context) error {
	objects, err := r.source().samples()
	if err == nil && len(objects) == 0 {
		r.progressf("there are no samples in %s", project.SamplesDir)
		return nil
	}
	var refused diag.Findings
	for _, o := range objects {
		if err := r.cluster.Apply(ctx, o, r.namespace); err != nil {
			refused = append(refused, r.refusal(o, explain(err)))
			continue
		}
		r.progressf("applied %s", kube.Name(o))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err = errors.Join(err, refused.Err()); err != nil {
		r.o.Report(err)
		r.progressf("the samples are applied again when a file in %s changes", project.SamplesDir)
	}
	return nil
}

// refusal is the finding about a sample that the API server refuses, at the field that it names.
func (r *runner) refusal(o *kube.Object, err error) diag.Finding {
	f := diag.Finding{Problem: fmt.Sprintf("applying %s: %v", kube.Name(o), err), Err: err}
	if r.o.Place != nil {
		f.Position = r.o.Place(o, kube.RejectedField(err))
	}
	return f
}
