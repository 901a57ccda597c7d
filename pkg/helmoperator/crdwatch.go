package helmoperator

import (
	"context"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/dependents"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

var crdGVK = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// A crdWatcher watches the metadata of the CRDs in the crds directories of charts: one watch for each, which selects the CRD by its name,
// so that the operator's role can be limited to these names. They have no label of the chart, as they do not belong to a release.
type crdWatcher struct {
	options dependents.Options

	mu sync.Mutex
	//nolint:containedctx // The watches outlive the calls that add them.
	ctx    context.Context
	byName map[string]*crdWatch
	group  sync.WaitGroup
}

// A crdWatch is the watch of one CRD, with the reconcilers that handle its changes.
type crdWatch struct {
	*dependents.Watcher
	handled map[*Reconciler]bool
}

func newCRDWatcher(options dependents.Options) *crdWatcher {
	options.Selector, options.Namespaces = "", nil
	return &crdWatcher{options: options, byName: map[string]*crdWatch{}}
}

// NeedLeaderElection returns false, as watches are added by what runs on the leader only.
func (w *crdWatcher) NeedLeaderElection() bool { return false }

// Start runs the watches until ctx ends.
func (w *crdWatcher) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	for _, watch := range w.byName {
		w.run(watch)
	}
	w.mu.Unlock()
	<-ctx.Done()
	w.group.Wait()
	return nil
}

// run runs a watch. The caller has locked w.mu.
func (w *crdWatcher) run(watch *crdWatch) {
	w.group.Go(func() { _ = watch.Start(w.ctx) }) // it has no errors
}

// watch starts the watch of a CRD, if it does not run, and adds the handler of a reconciler once.
func (w *crdWatcher) watch(name string, r *Reconciler, handler dependents.Handler) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx != nil && w.ctx.Err() != nil {
		return nil
	}
	watch := w.byName[name]
	if watch == nil {
		options := w.options
		options.FieldSelector = "metadata.name=" + name
		watcher, err := dependents.NewWatcher(options)
		if err != nil {
			return err
		}
		watch = &crdWatch{watcher, map[*Reconciler]bool{}}
		w.byName[name] = watch
		if w.ctx != nil {
			w.run(watch)
		}
	}
	if !watch.handled[r] {
		watch.handled[r] = true
		watch.Watch(crdGVK, handler)
	}
	return nil
}

// observe returns the metadata of a CRD. It is not known if the CRD is not watched, or not listed yet.
func (w *crdWatcher) observe(name string) (metadata *metav1.ObjectMeta, known bool) {
	w.mu.Lock()
	watch := w.byName[name]
	w.mu.Unlock()
	if watch == nil {
		return nil, false
	}
	found, known := watch.Get(crdGVK, types.NamespacedName{Name: name})
	if found == nil {
		return nil, known
	}
	return &found.ObjectMeta, true
}

// watchCRDs watches the CRDs of the chart of a release, if they are to be repaired.
func (r *Reconciler) watchCRDs(ctx context.Context, rel *release.Release) {
	if r.skipDependents {
		return
	}
	names, err := rel.CRDNames()
	for _, name := range names {
		if err == nil {
			err = r.dependents.crds.watch(name, r, r.crdHandler())
		}
	}
	if err != nil { // the release reports an invalid CRD itself
		log.FromContext(ctx).Error(err, "cannot watch the CRDs of the chart; changes of them are noticed at the reconcile period only")
	}
}

// crdHandler returns the handler of changes of a CRD. It adds a pass of each resource; the first pass repairs the CRD: the CRD
// belongs to none of them, and all of their releases may use it.
func (r *Reconciler) crdHandler() dependents.Handler {
	changed := func(obj *metav1.PartialObjectMetadata) {
		if obj.DeletionTimestamp == nil && r.factory.IsCurrentCRD(r.kind.GVK.GroupKind(), obj) {
			return // the operator has made this change
		}
		r.requireAll()
	}
	return dependents.Handler{
		Added: func(obj *metav1.PartialObjectMetadata, _ bool) { changed(obj) },
		Updated: func(before, after *metav1.PartialObjectMetadata) {
			if dependents.IsSpecChange(before, after) {
				changed(after)
			}
		},
		Deleted: func(*metav1.PartialObjectMetadata) { r.requireAll() },
	}
}

// requireAll adds a full pass of each resource that was reconciled since the start of the process.
func (r *Reconciler) requireAll() {
	r.watched.mu.Lock()
	queue := r.watched.queue
	r.watched.mu.Unlock()
	if queue == nil {
		return
	}
	for _, key := range r.tracker.keys() {
		if r.tracker.requireFull(key) {
			queue.Add(reconcile.Request{NamespacedName: key})
		}
	}
}

// keys returns the tracked resources.
func (t *tracker) keys() []types.NamespacedName {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.resources))
}
