package helmoperator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/outputs"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
	"github.com/operon-sdk/operon/pkg/watches"
)

// LoadWatches reads a watches.yaml and returns a reconciler for each entry, in the order of the file. A file without entries has none.
// Relative paths of charts start at the working directory of the process.
//
// Options come from three places, and later ones take precedence: defaults, the keys of the entry, and options, which is called for the
// kind of each entry and may be nil. Variables and templates in overrideValues are expanded with the environment of the process.
//
// The error names all invalid entries with their lines, and those whose chart is not a directory with a Chart.yaml. The rest of a chart is
// read at the first pass, so that a chart that is not valid does not prevent the others. If the file does not exist, the error
// wraps fs.ErrNotExist.
func LoadWatches(file string, options func(schema.GroupVersionKind) []Option, defaults ...Option) ([]*Reconciler, error) {
	return customresource.LoadWatches(file, watches.ParseFile, func(w watches.Watch) (*Reconciler, []error) {
		reconciler, err := newEntry(w, options, defaults)
		var errs []error
		if err != nil {
			errs = append(errs, err)
		}
		if reconciler == nil || reconciler.chart.dir == w.Chart { // options can set another chart
			if problem := chartProblem(w.Chart); problem != "" {
				errs = append(errs, fmt.Errorf("chart %q: %s", w.Chart, problem))
			}
		}
		return reconciler, errs
	}, func(w watches.Watch) diag.Position { return w.Position })
}

func newEntry(w watches.Watch, options func(schema.GroupVersionKind) []Option, defaults []Option) (*Reconciler, error) {
	own, err := entryOptions(w)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(defaults, own)
	if options != nil {
		all = append(all, options(w.GroupVersionKind())...)
	}
	return New(all...)
}

func entryOptions(w watches.Watch) ([]Option, error) {
	overrides, err := ExpandOverrideValues(w.OverrideValues, os.Getenv)
	if err != nil {
		return nil, err
	}
	var sources []valuesfrom.Source
	for _, source := range w.ValuesFrom {
		sources = append(sources, valuesfrom.Source(source))
	}
	var dependencies []dependson.Dependency
	for _, dependency := range w.DependsOn {
		dependencies = append(dependencies, dependson.Dependency(dependency))
	}
	options := []Option{
		WithGroupVersionKind(w.GroupVersionKind()),
		WithChartPath(w.Chart),
		WithTargetNamespace(w.TargetNamespace.Name, w.TargetNamespace.From),
		WithDependsOn(dependencies...),
		WithValuesFrom(sources...),
		WithOverrideValues(overrides),
		WithTypedOverrideValues(w.TypedOverrideValues),
		WithDryRunOption(w.DryRunOption),
		WithCRDs(w.CRDs),
		WithTakeOwnership(release.OwnershipMode(w.TakeOwnership)),
		WithOutputs(outputList(w.Outputs)...),
		SkipDependentWatches(!w.WatchDependentResources),
		WithDriftDetection(release.DriftMode(w.DriftDetection.Mode), ignoreRules(w.DriftDetection.Ignore)...),
	}
	if w.ReconcilePeriod > 0 {
		options = append(options, WithReconcilePeriod(w.ReconcilePeriod))
	}
	if w.Timeout != nil {
		options = append(options, WithTimeout(*w.Timeout))
	}
	if w.Test != (watches.Test{}) {
		options = append(options, WithTests(Tests{Enable: w.Test.Enable, IgnoreFailures: w.Test.IgnoreFailures, Timeout: w.Test.Timeout}))
	}
	if w.MaxConcurrentReconciles > 0 {
		options = append(options, WithMaxConcurrentReconciles(w.MaxConcurrentReconciles))
	}
	if w.MaxHistory != nil {
		options = append(options, WithMaxReleaseHistory(*w.MaxHistory))
	}
	if w.Selector != nil {
		options = append(options, WithSelector(*w.Selector))
	}
	return slices.Concat(options, remediationOptions(w), rolloutOptions(w)), nil
}

func outputList(list []watches.Output) []outputs.Output {
	var result []outputs.Output
	for _, o := range list {
		result = append(result, outputs.Output(o))
	}
	return result
}

func ignoreRules(rules []watches.IgnoreRule) []release.IgnoreRule {
	var result []release.IgnoreRule
	for _, rule := range rules {
		t := rule.Target
		result = append(result, release.IgnoreRule{
			Paths: rule.Paths, Group: t.Group, Version: t.Version, Kind: t.Kind, Name: t.Name, Namespace: t.Namespace, LabelSelector: t.LabelSelector,
		})
	}
	return result
}

// chartProblem returns why a directory is not a chart, or "".
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

// WatchNamespaces returns the sorted namespaces of a comma-separated list, the form of the environment variable WATCH_NAMESPACE. Blanks and
// empty elements are ignored. An empty list, which means all namespaces, returns nil.
func WatchNamespaces(list string) []string { return customresource.Namespaces(list) }
