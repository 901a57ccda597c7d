package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/watches"
)

// maxWatches limits the size of watches.yaml.
const maxWatches = 1 << 20

// readWatches reads watches.yaml. The error names all invalid entries, and those whose chart does not exist.
func (o *options) readWatches() ([]watches.Watch, error) {
	name := filepath.ToSlash(filepath.Clean(o.watchesFile))
	data, err := safeyaml.ReadFile(os.DirFS(filepath.Dir(o.watchesFile)), filepath.Base(o.watchesFile), maxWatches)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{fmt.Errorf("--watches-file %q: no such file; 'create api' writes one", o.watchesFile)}
	}
	if err != nil {
		return nil, fmt.Errorf("--watches-file %q: %w", o.watchesFile, diag.Cause(err))
	}
	entries, err := watches.ParseFile(name, data)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s has no entries; 'create api' adds one", name)
	}
	var findings diag.Findings
	for _, w := range entries {
		if problem := chartProblem(w.Chart); problem != "" {
			findings.Addf(w.Position, "chart %q: %s", w.Chart, problem)
		}
	}
	return entries, findings.Err()
}

// chartProblem returns why a directory is not a chart, or "". The chart itself is read at the first pass, so that one that is not valid
// does not prevent the others.
func chartProblem(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return diag.Cause(err).Error()
	}
	if !info.IsDir() {
		return "is not a directory"
	}
	if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); err != nil {
		return "is not a chart: it has no Chart.yaml"
	}
	return ""
}

// reconcilers returns the reconcilers of the entries. The error names all entries that have none.
func (o *options) reconcilers(entries []watches.Watch, getenv func(string) string) ([]*helmoperator.Reconciler, error) {
	var result []*helmoperator.Reconciler
	var findings diag.Findings
	for _, w := range entries {
		reconciler, err := o.reconciler(w, getenv)
		if err != nil {
			findings.Addf(w.Position, "%v", err)
			continue
		}
		result = append(result, reconciler)
	}
	return result, findings.Err()
}

func (o *options) reconciler(w watches.Watch, getenv func(string) string) (*helmoperator.Reconciler, error) {
	overrides, err := helmoperator.ExpandOverrideValues(w.OverrideValues, getenv)
	if err != nil {
		return nil, err
	}
	period, concurrent := o.reconcilePeriod, o.maxConcurrent
	if w.ReconcilePeriod > 0 {
		period = w.ReconcilePeriod
	}
	if w.MaxConcurrentReconciles > 0 {
		concurrent = w.MaxConcurrentReconciles
	}
	all := []helmoperator.Option{
		helmoperator.WithGroupVersionKind(w.GroupVersionKind()),
		helmoperator.WithChartPath(w.Chart),
		helmoperator.WithOverrideValues(overrides),
		helmoperator.WithTypedOverrideValues(w.TypedOverrideValues),
		helmoperator.WithSuppressOverrideValues(o.suppressOverrides),
		helmoperator.WithReconcilePeriod(period),
		helmoperator.WithMaxConcurrentReconciles(concurrent),
		helmoperator.WithDryRunOption(w.DryRunOption),
		helmoperator.WithNamespaces(o.namespaces...),
		helmoperator.SkipDependentWatches(!w.WatchDependentResources),
	}
	if w.MaxHistory != nil {
		all = append(all, helmoperator.WithMaxReleaseHistory(*w.MaxHistory))
	}
	if w.Selector != nil {
		all = append(all, helmoperator.WithSelector(*w.Selector))
	}
	return helmoperator.New(all...)
}
