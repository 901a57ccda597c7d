package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// An Option configures a Reconciler.
type Option func(*Reconciler) error

// A ValueTranslator returns the values of a release for its custom resource, which it may change. It replaces the spec as the source of
// values; overrides are applied to its result. The same resource should have the same values in each pass.
type ValueTranslator func(ctx context.Context, obj *unstructured.Unstructured) (map[string]any, error)

// A Hook is called in each full pass of a custom resource that is not being deleted. Its error ends the pass; the pass is repeated
// with increasing delays.
type Hook func(ctx context.Context, request HookRequest) error

// A HookRequest describes the pass that calls a hook.
type HookRequest struct {
	// Object is a copy of the custom resource.
	Object *unstructured.Unstructured
	// Values are the values of the release, with overrides. They must not be changed.
	Values map[string]any
	// Action is what the pass does to the release: release.Install, release.Upgrade, or release.None if it is up to date.
	Action release.Action
	// Release is the deployed release; nil in hooks that are called before the release.
	Release *release.Deployed
	// Client is the manager's.
	Client client.Client
}

// WithGroupVersionKind sets the kind of the custom resources. It is required.
func WithGroupVersionKind(gvk schema.GroupVersionKind) Option {
	return func(r *Reconciler) error { return r.kind.SetGVK(gvk) }
}

// WithChart sets the chart. It or WithChartPath is required. The chart must not be changed afterwards.
func WithChart(chart *chartv2.Chart) Option {
	return func(r *Reconciler) error {
		if chart == nil {
			return errors.New("chart: must not be nil")
		}
		r.chart = &chartSource{chart: chart}
		return nil
	}
}

// WithChartPath sets the directory or archive of the chart. It is loaded at the first pass, and again after its files have changed. While
// it cannot be loaded, custom resources are Irreconcilable, but can be deleted.
func WithChartPath(path string) Option {
	return func(r *Reconciler) error {
		if path == "" {
			return errors.New("chart path: must not be empty")
		}
		r.chart = &chartSource{dir: path}
		return nil
	}
}

// WithOverrideValues sets values of all releases. They take precedence over the custom resource. Keys are paths as in "helm
// --set-string"; all values are strings. ExpandOverrideValues expands the values of a watches.yaml.
func WithOverrideValues(values map[string]string) Option {
	return func(r *Reconciler) error {
		if err := setOverrides(map[string]any{}, values); err != nil {
			return err
		}
		r.overrides = maps.Clone(values)
		return nil
	}
}

// WithTypedOverrideValues sets values of all releases, with their types. They take precedence over the custom resource: objects are
// merged, other values are replaced, and null removes the default of the chart. WithOverrideValues takes precedence over them.
func WithTypedOverrideValues(values map[string]any) Option {
	return func(r *Reconciler) (err error) {
		r.typedOverrides, err = customresource.JSONValues("typed override values", values)
		return err
	}
}

// WithSuppressOverrideValues hides override values in events. Values of keys such as password, and the contents of the release's
// Secrets, are always hidden.
func WithSuppressOverrideValues(suppress bool) Option {
	return func(r *Reconciler) error { r.suppressOverrides = suppress; return nil }
}

// WithTargetNamespace sets the namespace of the releases of cluster-scoped custom resources: a name, or the path in the custom resource of
// one, such as spec.targetNamespace. It must exist. A resource can't change it, see AnnotationTargetNamespace.
func WithTargetNamespace(name, from string) Option {
	return func(r *Reconciler) error { return r.kind.SetTarget(name, from) }
}

// WithSelector restricts the reconciler to custom resources with matching labels. A resource that no longer matches keeps its release. If
// it is deleted, the release is uninstalled nevertheless; reconcilers whose selector it matches have time to do that first.
func WithSelector(selector metav1.LabelSelector) Option {
	return func(r *Reconciler) error { return r.kind.SetSelector(selector) }
}

// WithOperatorName sets the name with which resources record the operator that finalizes them, also after their labels were changed. It
// must differ between operators of the same kind, and must not contain a colon. Without a name, their selectors tell operators apart.
func WithOperatorName(name string) Option {
	return func(r *Reconciler) error { return r.kind.SetOperator(name) }
}

// WithReconcilePeriod sets the time between two passes of a custom resource without changes; 0, the default, disables them.
// AnnotationReconcilePeriod takes precedence.
func WithReconcilePeriod(period time.Duration) Option {
	return func(r *Reconciler) error { return r.kind.SetPeriod(period) }
}

// WithTimeout limits the wait for one hook of the chart, after which an installation, upgrade or removal fails; 0, the default, means no
// limit. AnnotationTimeout takes precedence.
func WithTimeout(timeout time.Duration) Option {
	return func(r *Reconciler) error {
		return customresource.SetNotNegative(&r.timeout, "timeout", timeout)
	}
}

// WithMaxConcurrentReconciles sets the number of custom resources that are reconciled at the same time. The default is 1.
func WithMaxConcurrentReconciles(n int) Option {
	return func(r *Reconciler) error { return r.kind.SetMaxConcurrent(n) }
}

// WithMaxReleaseHistory sets the number of revisions of a release that are kept; 0 keeps all. The default is 10.
func WithMaxReleaseHistory(n int) Option {
	return func(r *Reconciler) error {
		return customresource.SetNotNegative(&r.maxHistory, "maximum of release history", n)
	}
}

// WithPreHook adds a hook that is called before a release is installed, upgraded or repaired. Hooks are called in the order in which they
// are added.
func WithPreHook(hook Hook) Option {
	return func(r *Reconciler) error { r.preHooks = append(r.preHooks, hook); return nil }
}

// WithPostHook adds a hook that is called after a release is installed, upgraded or repaired.
func WithPostHook(hook Hook) Option {
	return func(r *Reconciler) error { r.postHooks = append(r.postHooks, hook); return nil }
}

// WithValueTranslator sets the source of values. The default is the spec of the custom resource.
func WithValueTranslator(translator ValueTranslator) Option {
	return func(r *Reconciler) error { r.translator = translator; return nil }
}

// WithPostRender sets a function that changes the rendered objects of a release, hooks excepted, before they are compared and applied. It
// should change the same objects in the same way each time.
func WithPostRender(change func([]*unstructured.Unstructured) ([]*unstructured.Unstructured, error)) Option {
	return func(r *Reconciler) error { r.postRender = change; return nil }
}

// SkipDependentWatches disables the watches of objects of releases. Their drift is repaired at the reconcile period only.
func SkipDependentWatches(skip bool) Option {
	return func(r *Reconciler) error { r.skipDependents = skip; return nil }
}

// WithDryRunOption sets how the chart is rendered for the comparison with the deployed release: "", "none" and "client" without the
// cluster, "server" with the objects that "lookup" finds in it.
func WithDryRunOption(option string) Option {
	return func(r *Reconciler) error {
		if !slices.Contains([]string{"", "none", "client", "server"}, option) {
			return fmt.Errorf("dry-run option %q: must be client, none or server", option)
		}
		r.dryRun = option
		return nil
	}
}

// WithCRDs sets what happens to the CRDs in the crds directory of the chart: "create" creates missing ones before an installation or
// upgrade, "createReplace" also updates those that differ and restores deleted ones, and "skip" does neither. The default is
// "createReplace" with WithChartPath, as such a chart usually comes with the operator's image, and "create" with WithChart.
func WithCRDs(policy string) Option {
	return func(r *Reconciler) error {
		switch r.crds = release.CRDPolicy(policy); r.crds {
		case "", release.CRDsCreate, release.CRDsCreateReplace, release.CRDsSkip:
			return nil
		}
		return fmt.Errorf("crds %q: must be create, createReplace or skip", policy)
	}
}

// WithNamespaces restricts the watches of objects of releases to namespaces, as the cache of the manager is. The default is all.
func WithNamespaces(namespaces ...string) Option {
	return func(r *Reconciler) error { r.namespaces = slices.Clone(namespaces); return nil }
}

// WithStatusManifest writes the manifest of the release to status.deployedRelease.manifest, as operator-sdk's helm-operator does, but
// without the data of Secrets. A manifest with more than limit bytes is left out. The default, 0, leaves out all.
func WithStatusManifest(limit int) Option {
	return func(r *Reconciler) error {
		return customresource.SetNotNegative(&r.manifestLimit, "limit of the manifest", limit)
	}
}

// WithEventRecorder sets the recorder of events. The default is one of the manager.
func WithEventRecorder(recorder record.EventRecorder) Option {
	return func(r *Reconciler) error { r.events = recorder; return nil }
}

// WithLog sets the logger for messages outside of passes. The default is the manager's.
func WithLog(log logr.Logger) Option {
	return func(r *Reconciler) error { r.kind.Log = log; return nil }
}
