package helmoperator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// A manager with Helm-backed kinds can also run controllers in Go.
func Example() {
	database, err := helmoperator.New(
		helmoperator.WithGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Database"}),
		helmoperator.WithChartPath("helm-charts/database"),
		helmoperator.WithReconcilePeriod(time.Minute),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	start := func() error {
		mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
		if err != nil {
			return err
		}
		if err := helmoperator.Setup(mgr, database); err != nil {
			return err
		}
		return mgr.Start(ctrl.SetupSignalHandler())
	}
	fmt.Println(start != nil)
	// Output: true
}

// The main function of a project with controllers in Go and kinds in watches.yaml adds both to one manager. A kind can have options in Go,
// which have precedence over its entry.
func ExampleLoadWatches() {
	perKind := func(gvk schema.GroupVersionKind) []helmoperator.Option {
		if gvk.Kind != "Database" {
			return nil
		}
		return []helmoperator.Option{helmoperator.WithMaxReleaseHistory(3)}
	}
	namespaces := helmoperator.WatchNamespaces(os.Getenv("WATCH_NAMESPACE"))
	reconcilers, err := helmoperator.LoadWatches("testdata/watches.yaml", perKind, helmoperator.WithNamespaces(namespaces...))
	if err != nil {
		fmt.Println(err)
		return
	}
	setup := func(mgr ctrl.Manager) error { return helmoperator.Setup(mgr, reconcilers...) }
	for _, r := range reconcilers {
		fmt.Println(r.GroupVersionKind().Kind, setup != nil)
	}
	// Output:
	// Database true
}

// New reports all invalid options.
func ExampleNew() {
	_, err := helmoperator.New(helmoperator.WithReconcilePeriod(-time.Second), helmoperator.WithDryRunOption("always"))
	fmt.Println(err)
	// Output:
	// reconcile period -1s: must not be negative
	// dry-run option "always": must be client, none or server
}

// An Option can combine others.
func ExampleOption() {
	common := []helmoperator.Option{
		helmoperator.WithReconcilePeriod(5 * time.Minute),
		helmoperator.WithMaxConcurrentReconciles(4),
	}
	_, err := helmoperator.New(append(common, helmoperator.WithChartPath("helm-charts/cache"))...)
	fmt.Println(err)
	// Output: group, version and kind are required; use WithGroupVersionKind
}

// A translator gives a resource an API of its own, independent of the chart's values.
func ExampleValueTranslator() {
	var translate helmoperator.ValueTranslator = func(_ context.Context, obj *unstructured.Unstructured) (map[string]any, error) {
		size, _, err := unstructured.NestedString(obj.Object, "spec", "size")
		replicas, ok := map[string]any{"small": 1, "large": 5}[size]
		if err != nil || !ok {
			return nil, errors.New("spec.size: must be small or large")
		}
		return map[string]any{"replicaCount": replicas}, nil
	}
	values, err := translate(context.Background(), &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": "large"}}})
	fmt.Println(values, err)
	// Output: map[replicaCount:5] <nil>
}

// A hook that prepares an upgrade returns an error until the preparation is complete.
func ExampleHook() {
	var backUp helmoperator.Hook = func(_ context.Context, request helmoperator.HookRequest) error {
		if request.Action != release.Upgrade {
			return nil
		}
		return fmt.Errorf("the backup of %s is in progress", request.Object.GetName())
	}
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "orders"}}}
	fmt.Println(backUp(context.Background(), helmoperator.HookRequest{Object: object, Action: release.None}))
	fmt.Println(backUp(context.Background(), helmoperator.HookRequest{Object: object, Action: release.Upgrade}))
	// Output:
	// <nil>
	// the backup of orders is in progress
}

// Hooks that run after the release receive what is deployed.
func ExampleHookRequest() {
	report := func(_ context.Context, request helmoperator.HookRequest) error {
		fmt.Println(request.Release.Name, "revision", request.Release.Revision)
		return nil
	}
	_ = report(context.Background(), helmoperator.HookRequest{Release: &release.Deployed{Name: "orders", Revision: 3}})
	// Output: orders revision 3
}

// Setup shares the watches of several kinds; SetupWithManager adds a single one.
func ExampleReconciler() {
	var reconcilers []*helmoperator.Reconciler
	for _, kind := range []string{"Database", "Cache"} {
		r, err := helmoperator.New(
			helmoperator.WithGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind}),
			helmoperator.WithChartPath("helm-charts/"+strings.ToLower(kind)),
		)
		if err != nil {
			fmt.Println(err)
			return
		}
		reconcilers = append(reconcilers, r)
	}
	setup := func(mgr ctrl.Manager) error { return helmoperator.Setup(mgr, reconcilers...) }
	fmt.Println(len(reconcilers), setup != nil)
	// Output: 2 true
}

// Override values of a watches.yaml often contain images of a disconnected cluster.
func ExampleExpandOverrideValues() {
	environ := func(name string) string {
		if name == "RELATED_IMAGE_WEB" {
			return "registry.example/web@sha256:0123"
		}
		return os.Getenv(name)
	}
	values, err := helmoperator.ExpandOverrideValues(map[string]string{"image": "$RELATED_IMAGE_WEB", "tier": `{{ "gold" | upper }}`}, environ)
	fmt.Println(values, err)
	// Output: map[image:registry.example/web@sha256:0123 tier:GOLD] <nil>
}
