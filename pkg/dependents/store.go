package dependents

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	toolscache "k8s.io/client-go/tools/cache"
)

// A store receives the objects of a kind in one namespace, or in all, from a reflector. It keeps some of them.
type store struct {
	kind      *kindWatch
	namespace string

	// These are guarded by kind.mu.
	objects map[types.NamespacedName]*metav1.PartialObjectMetadata
	synced  bool
	// open is the current watch; nil if there is none.
	open *openWatch
	// listing is set while the current watch sends the existing objects: the reflector passes on changes only after all of them.
	listing bool
}

// isLive reports whether changes are being received. The caller has locked kind.mu.
func (s *store) isLive() bool { return s.synced && s.open != nil && !s.listing }

// run lists and watches until ctx ends.
func (s *store) run(ctx context.Context, client metadata.ResourceInterface) {
	selector, fields := s.kind.watcher.options.Selector, s.kind.watcher.options.FieldSelector
	lw := &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector, options.FieldSelector = selector, fields
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector, options.FieldSelector = selector, fields
			w, err := client.Watch(ctx, options)
			if err != nil {
				return nil, err
			}
			return s.setWatch(w, options.SendInitialEvents != nil && *options.SendInitialEvents), nil
		},
	}
	reflector := toolscache.NewReflectorWithOptions(lw, &metav1.PartialObjectMetadata{}, s,
		toolscache.ReflectorOptions{TypeDescription: s.kind.gvk.String(), Name: "dependents"})
	for ctx.Err() == nil {
		attempts := 0
		retry(ctx, func() error {
			err := reflector.ListAndWatchWithContext(ctx)
			if attempts++; isPermanent(err) || err != nil && attempts >= reportedAttempts {
				s.kind.report(err)
			}
			return err
		})
		// A watch that ends at once must not be repeated at once.
		wait(ctx, minRetry)
	}
}

// isPermanent reports whether an error of a watch does not go away without a change of the cluster.
func isPermanent(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// An openWatch reports its end to its store.
type openWatch struct {
	watch.Interface
	store *store
}

// setWatch sets the current watch, which is listing if it sends the existing objects first.
func (s *store) setWatch(w watch.Interface, listing bool) watch.Interface {
	o := &openWatch{w, s}
	s.kind.mu.Lock()
	defer s.kind.mu.Unlock()
	s.open, s.listing = o, listing
	s.kind.resetReport()
	return o
}

// Stop implements watch.Interface.
func (o *openWatch) Stop() {
	o.Interface.Stop()
	o.store.kind.mu.Lock()
	defer o.store.kind.mu.Unlock()
	if o.store.open == o {
		o.store.open = nil
		o.store.interrupt()
	}
}

func (s *store) interrupt() {
	if observer := s.kind.watcher.options.Observer; observer != nil {
		observer.Interrupt(s.kind.gvk, s.namespace)
	}
}

func (s *store) observe(obj *metav1.PartialObjectMetadata, resourceVersion string) {
	if observer := s.kind.watcher.options.Observer; observer != nil {
		observer.Observe(s.kind.gvk, keyOf(obj), resourceVersion)
	}
}

// Add implements cache.ReflectorStore.
func (s *store) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *store) Update(obj any) error {
	m, err := metadataOf(obj)
	if err != nil {
		return err
	}
	s.kind.mu.Lock()
	defer s.kind.mu.Unlock()
	s.observe(m, m.ResourceVersion)
	s.put(m, false)
	return nil
}

func (s *store) put(after *metav1.PartialObjectMetadata, initial bool) {
	key := keyOf(after)
	before := s.objects[key]
	keep := s.kind.watcher.options.Keep(after)
	if before == nil && !keep {
		return
	}
	s.reduce(after)
	after.SetGroupVersionKind(s.kind.gvk)
	if s.objects == nil {
		s.objects = map[types.NamespacedName]*metav1.PartialObjectMetadata{}
	}
	if keep {
		s.objects[key] = after
	} else {
		delete(s.objects, key)
	}
	for _, h := range s.kind.handlers {
		switch {
		case before == nil && h.Added != nil:
			h.Added(after, initial)
		case before != nil && before.UID != after.UID:
			// It was deleted and created again while the watch was interrupted.
			if h.Deleted != nil {
				h.Deleted(before)
			}
			if h.Added != nil && keep {
				h.Added(after, false)
			}
		case before != nil && before.ResourceVersion != after.ResourceVersion && h.Updated != nil:
			h.Updated(before, after)
		}
	}
}

// Delete implements cache.ReflectorStore.
func (s *store) Delete(obj any) error {
	m, err := metadataOf(obj)
	if err != nil {
		return err
	}
	s.kind.mu.Lock()
	defer s.kind.mu.Unlock()
	s.observe(m, "")
	s.remove(m)
	return nil
}

// remove handles the deletion of an object. Its last version may be the first that is kept.
func (s *store) remove(last *metav1.PartialObjectMetadata) {
	key := keyOf(last)
	if s.objects[key] == nil && !s.kind.watcher.options.Keep(last) {
		return
	}
	delete(s.objects, key)
	s.reduce(last)
	last.SetGroupVersionKind(s.kind.gvk)
	for _, h := range s.kind.handlers {
		if h.Deleted != nil {
			h.Deleted(last)
		}
	}
}

// Replace implements cache.ReflectorStore.
func (s *store) Replace(list []any, resourceVersion string) error {
	s.kind.mu.Lock()
	defer s.kind.mu.Unlock()
	s.interrupt()
	listed := map[types.NamespacedName]bool{}
	var errs []error
	for _, obj := range list {
		m, err := metadataOf(obj)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.put(m, !s.synced)
		if key := keyOf(m); s.objects[key] != nil {
			listed[key] = true
		}
	}
	for key, obj := range s.objects {
		if !listed[key] {
			s.remove(obj)
		}
	}
	s.synced, s.listing = true, false
	s.kind.resetReport()
	for _, h := range s.kind.handlers {
		if h.Listed != nil {
			h.Listed(s.namespace, resourceVersion, func(key types.NamespacedName) bool { return s.objects[key] != nil })
		}
	}
	return errors.Join(errs...)
}

// Resync implements cache.ReflectorStore.
func (s *store) Resync() error { return nil }

// Transformer implements cache.TransformingStore: the reflector collects everything that it lists, and only a part of that is kept.
func (s *store) Transformer() toolscache.TransformFunc {
	return func(obj any) (any, error) {
		m, err := metadataOf(obj)
		if err != nil {
			return obj, nil
		}
		if s.kind.watcher.options.Keep(m) {
			s.reduce(m)
			return m, nil
		}
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		}}, nil
	}
}

// reduce removes what is not needed of an object that is kept. managedFields are often larger than the rest.
func (s *store) reduce(obj *metav1.PartialObjectMetadata) {
	obj.ManagedFields = nil
	if reduce := s.kind.watcher.options.Reduce; reduce != nil {
		reduce(obj)
	}
}

func keyOf(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
