package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// dependents watches the objects of releases: one watch for each kind and the life of the process, of the metadata of objects with
// release.ChartLabel only. Its cache is not that of the manager, which would start to contain all objects of these kinds, and which does not
// become ready while one of them cannot be listed.
type dependents struct {
	cache cache.Cache
	log   logr.Logger

	mu        sync.Mutex
	informers map[schema.GroupVersionKind]cache.Informer
	// failed are the errors of watches that were logged.
	failed map[string]bool
}

// newDependents returns the watches of a process. Empty namespaces watch all.
func newDependents(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme, mapper meta.RESTMapper, namespaces []string, log logr.Logger) (*dependents, error) {
	ofReleases, err := labels.NewRequirement(release.ChartLabel, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	d := &dependents{log: log, informers: map[schema.GroupVersionKind]cache.Informer{}, failed: map[string]bool{}}
	options := cache.Options{
		HTTPClient: httpClient, Scheme: scheme, Mapper: mapper,
		ReaderFailOnMissingInformer: true,
		DefaultLabelSelector:        labels.NewSelector().Add(*ofReleases),
		DefaultTransform:            cache.TransformStripManagedFields(),
		DefaultWatchErrorHandler:    d.handleWatchError,
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	d.cache, err = cache.New(config, options)
	return d, err
}

// watch starts the watch of a kind, if it does not run, and adds a handler. It does not wait until objects are listed.
func (d *dependents) watch(ctx context.Context, gvk schema.GroupVersionKind, handler toolscache.ResourceEventHandler) error {
	informer, err := d.cache.GetInformer(ctx, metadataOf(gvk), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %s: %w", gvk.Kind, err)
	}
	if _, err := informer.AddEventHandler(handler); err != nil {
		return fmt.Errorf("watching %s: %w", gvk.Kind, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.informers[gvk] = informer
	return nil
}

// handleWatchError logs the first error of each kind. The watch is retried, with increasing delays, and meanwhile changes are noticed at
// the next full pass.
func (d *dependents) handleWatchError(ctx context.Context, reflector *toolscache.Reflector, err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
		return
	}
	key := err.Error()
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		key = status.Status().Details.Group + "/" + status.Status().Details.Kind
	}
	d.mu.Lock()
	logged := d.failed[key]
	d.failed[key] = true
	d.mu.Unlock()
	if !logged {
		d.log.Error(err, "cannot watch objects of releases; their changes are repaired at the reconcile period only")
	}
}

// isSpecChange reports whether an update of an object changed more than its status. Kinds without a generation have no status that
// changes often.
func isSpecChange(before, after *metav1.PartialObjectMetadata) bool {
	return before.UID != after.UID || before.Generation != after.Generation ||
		before.Generation == 0 && before.ResourceVersion != after.ResourceVersion ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
		!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
}

// Observe returns the metadata of an object for release.Observer.
func (d *dependents) Observe(gvk schema.GroupVersionKind, key types.NamespacedName) (metadata *metav1.ObjectMeta, known bool) {
	d.mu.Lock()
	informer := d.informers[gvk]
	d.mu.Unlock()
	// A read would wait for objects that are not listed.
	if informer == nil || !informer.HasSynced() {
		return nil, false
	}
	found := metadataOf(gvk)
	switch err := d.cache.Get(context.Background(), key, found); {
	case apierrors.IsNotFound(err):
		return nil, true
	case err != nil:
		return nil, false
	}
	return &found.ObjectMeta, true
}

// metadataOf returns an object that receives the metadata of objects of a kind.
func metadataOf(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(gvk)
	return m
}
