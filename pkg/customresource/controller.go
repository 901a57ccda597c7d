package customresource

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/operon-sdk/operon/pkg/buildinfo"
)

// controllerName returns a name that is unique among all kinds, for metrics and logs.
func controllerName(gvk schema.GroupVersionKind) string {
	parts := []string{strings.ToLower(gvk.Kind), gvk.Version, gvk.Group}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ".")
}

// A Queue is the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// unsynced is a source of custom resources for which the controller does not wait until they are listed, as the manager stops if
// one of its controllers cannot list them: it hides the method WaitForSync.
type unsynced struct {
	gvk     schema.GroupVersionKind
	primary source.Source
	started func(context.Context, Queue)
}

// Start implements source.Source.
func (s unsynced) Start(ctx context.Context, queue Queue) error {
	s.started(ctx, queue)
	return s.primary.Start(ctx, queue)
}

func (s unsynced) String() string { return "custom resources of " + s.gvk.String() }

// Namespaces returns the sorted namespaces of a comma-separated list, the form of the environment variable WATCH_NAMESPACE. Blanks and
// empty elements are ignored. An empty list, which means all namespaces, returns nil.
func Namespaces(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Register registers a collector, or replaces it with the one that is registered already.
func Register[C prometheus.Collector](registry prometheus.Registerer, c *C) error {
	var existing prometheus.AlreadyRegisteredError
	switch err := registry.Register(*c); {
	case errors.As(err, &existing):
		registered, ok := existing.ExistingCollector.(C)
		if !ok {
			return err
		}
		*c = registered
		return nil
	default:
		return err
	}
}

// RegisterBuildInfo registers a metric with the commit and version of the program as labels. Its value is 1.
func RegisterBuildInfo(registry prometheus.Registerer, name string) error {
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: "Build information of the operator; the value is 1"}, []string{"commit", "version"})
	if err := Register(registry, &build); err != nil {
		return err
	}
	info := buildinfo.Read()
	build.WithLabelValues(info.Commit, info.Version).Set(1)
	return nil
}
