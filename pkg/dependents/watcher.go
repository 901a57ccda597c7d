package dependents

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Options are the options of a Watcher.
type Options struct {
	REST *rest.Config
	// HTTPClient is the client for REST (default: a new one).
	HTTPClient *http.Client
	Mapper     meta.RESTMapper
	// Namespaces are the watched namespaces; none for all.
	Namespaces []string
	// Selector is a label selector for the API server (default: all objects).
	Selector string
	// FieldSelector is a field selector for the API server (default: all objects). A role can limit the watch of one object, by its
	// name, to that object.
	FieldSelector string
	// Keep reports whether an object is kept, and its changes are handled; nil keeps all. It must depend on the object only.
	Keep func(obj *metav1.PartialObjectMetadata) bool
	// Reduce removes what handlers do not need of an object that is kept; nil for nothing. It is called once or more for each.
	Reduce func(obj *metav1.PartialObjectMetadata)
	// Observer is notified of all changes, also of objects that are not kept; nil for none.
	Observer Observer
	Log      logr.Logger
}

// An Observer is notified of all changes of objects of watched kinds. Its methods must not block, and must not call the Watcher.
type Observer interface {
	// Observe is called with the version of an object that a watch has received; "" if it is deleted.
	Observe(gvk schema.GroupVersionKind, key types.NamespacedName, resourceVersion string)
	// Interrupt is called when a watch ends or lists anew. Changes may be received late, or not at all if a later one follows.
	Interrupt(gvk schema.GroupVersionKind, namespace string)
}

// A Handler handles changes of kept objects. Functions may be nil, must not block, and must not call the Watcher.
type Handler struct {
	// Added is called for a new object. It is initial if it existed before the watch or before the handler was added.
	Added func(obj *metav1.PartialObjectMetadata, initial bool)
	// Updated is called for another version of an object, also for the first that is not to be kept any more.
	Updated func(before, after *metav1.PartialObjectMetadata)
	// Deleted is called with the last version of a deleted object that is known.
	Deleted func(obj *metav1.PartialObjectMetadata)
	// Listed is called after the objects in a namespace, or in all if it is empty, were listed, with the version of the list and a
	// function that reports whether an object is kept. Deleted is not called for objects that were deleted before the first list.
	Listed func(namespace, resourceVersion string, isKept func(key types.NamespacedName) bool)
}

// A Watcher watches the metadata of objects. It is a runnable of controller-runtime's manager.
type Watcher struct {
	options Options
	client  metadata.Interface

	mu    sync.Mutex
	ctx   context.Context //nolint:containedctx // The watches outlive the calls that add them.
	kinds map[schema.GroupVersionKind]*kindWatch
	group sync.WaitGroup
}

// NewWatcher returns a watcher without watches.
func NewWatcher(options Options) (*Watcher, error) {
	config := metadata.ConfigFor(options.REST)
	client := options.HTTPClient
	if client == nil {
		var err error
		if client, err = rest.HTTPClientFor(config); err != nil {
			return nil, err
		}
	}
	c, err := metadata.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	if options.Keep == nil {
		options.Keep = func(*metav1.PartialObjectMetadata) bool { return true }
	}
	return &Watcher{options: options, client: c, kinds: map[schema.GroupVersionKind]*kindWatch{}}, nil
}

// NeedLeaderElection returns false, as watches are added by what runs on the leader only.
func (w *Watcher) NeedLeaderElection() bool { return false }

// Start runs the watches until ctx ends.
func (w *Watcher) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	for _, k := range w.kinds {
		w.group.Go(func() { k.run(ctx) })
	}
	w.mu.Unlock()
	<-ctx.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.group.Wait()
	return nil
}

// Watch starts the watch of a kind, if it does not run, and adds a handler. It does not wait: a kind that does not exist, or cannot be
// listed or watched, is tried again, and reported once until all of it is watched.
func (w *Watcher) Watch(gvk schema.GroupVersionKind, handler Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.kinds[gvk]
	if k == nil {
		k = &kindWatch{watcher: w, gvk: gvk}
		w.kinds[gvk] = k
		if w.ctx != nil && w.ctx.Err() == nil {
			w.group.Go(func() { k.run(w.ctx) })
		}
	}
	k.addHandler(handler)
}

// Get returns the metadata of a kept object, nil if there is none. It is not known while objects of the kind are not listed.
func (w *Watcher) Get(gvk schema.GroupVersionKind, key types.NamespacedName) (object *metav1.PartialObjectMetadata, known bool) {
	k := w.kind(gvk)
	if k == nil {
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.stores {
		if !s.synced {
			return nil, false
		}
		if found := s.objects[key]; found != nil {
			object = found
		}
	}
	return object, len(k.stores) > 0
}

// IsLive reports whether changes of objects of a kind in a namespace are being received.
func (w *Watcher) IsLive(gvk schema.GroupVersionKind, namespace string) bool {
	k := w.kind(gvk)
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.stores, func(s *store) bool {
		return (s.namespace == namespace || s.namespace == "") && s.isLive()
	})
}

func (w *Watcher) kind(gvk schema.GroupVersionKind) *kindWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kinds[gvk]
}

// A kindWatch are the watches of one kind.
type kindWatch struct {
	watcher *Watcher
	gvk     schema.GroupVersionKind

	mu       sync.Mutex
	handlers []Handler
	stores   []*store
	// reported is set while the kind is reported as one that cannot be watched.
	reported bool
}

func (k *kindWatch) addHandler(handler Handler) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.handlers = append(k.handlers, handler)
	if handler.Added == nil {
		return
	}
	for _, s := range k.stores {
		for _, obj := range s.objects {
			handler.Added(obj, true)
		}
	}
}

func (k *kindWatch) run(ctx context.Context) {
	var mapping *meta.RESTMapping
	retry(ctx, func() error {
		var err error
		mapping, err = k.watcher.options.Mapper.RESTMapping(k.gvk.GroupKind(), k.gvk.Version)
		if err != nil {
			k.report(err)
		}
		return err
	})
	if mapping == nil {
		return
	}
	namespaces := k.watcher.options.Namespaces
	if len(namespaces) == 0 || mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespaces = []string{metav1.NamespaceAll}
	}
	var group sync.WaitGroup
	k.mu.Lock()
	for _, namespace := range namespaces {
		s := &store{kind: k, namespace: namespace}
		k.stores = append(k.stores, s)
		group.Go(func() { s.run(ctx, k.watcher.client.Resource(mapping.Resource).Namespace(namespace)) })
	}
	k.mu.Unlock()
	group.Wait()
}

// resetReport allows another error to be reported if the kind is watched in all namespaces. The caller has locked k.mu.
func (k *kindWatch) resetReport() {
	if !slices.ContainsFunc(k.stores, func(s *store) bool { return !s.isLive() }) {
		k.reported = false
	}
}

// report logs the first error of a kind.
func (k *kindWatch) report(err error) {
	k.mu.Lock()
	reported := k.reported
	k.reported = true
	k.mu.Unlock()
	if !reported {
		k.watcher.options.Log.Error(err, "cannot watch a kind; changes of its objects are noticed at the reconcile period only",
			"group", k.gvk.Group, "version", k.gvk.Version, "kind", k.gvk.Kind)
	}
}

// The delays between attempts of a watch.
const (
	minRetry = time.Second
	maxRetry = 30 * time.Second
	// reportedAttempts is the number of failures in a row after which even an error that may go away is reported.
	reportedAttempts = 3
)

// retry calls attempt until it returns nil or ctx ends, with increasing delays.
func retry(ctx context.Context, attempt func() error) {
	for delay := minRetry; ctx.Err() == nil && attempt() != nil; delay = min(2*delay, maxRetry) {
		wait(ctx, delay)
	}
}

func wait(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// metadataOf returns the metadata of an object that a reflector or its list contains.
func metadataOf(obj any) (*metav1.PartialObjectMetadata, error) {
	m, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return nil, fmt.Errorf("watching metadata: unexpected %T", obj)
	}
	return m, nil
}
