package valuesfrom

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Reader reads the sources of the custom resources of one kind. A nil Reader has no sources.
type Reader struct {
	watcher *Watcher
	subject string
	sources []Source
	notify  func(types.NamespacedName)

	// These are guarded by watcher.mu. known are the contents that a custom resource used last, and changes counts those that were
	// reported to it.
	known   map[types.NamespacedName]map[object]*content
	changes map[types.NamespacedName]uint64
}

// changed notifies a custom resource. The caller has locked the watcher.
func (r *Reader) changed(key types.NamespacedName) {
	r.changes[key]++
	r.notify(key)
}

// Changes returns the number of changes that were reported for a custom resource.
func (r *Reader) Changes(key types.NamespacedName) uint64 {
	if r == nil {
		return 0
	}
	r.watcher.mu.Lock()
	defer r.watcher.mu.Unlock()
	return r.changes[key]
}

// Read returns the values for a custom resource, in the order of the sources. If a source is missing or not valid, the error is an *Error,
// and the other values are returned nevertheless. The content must not be changed.
func (r *Reader) Read(ctx context.Context, resource *unstructured.Unstructured) ([]Value, error) {
	if r == nil {
		return nil, nil
	}
	objects := make([]object, len(r.sources))
	failed := make([]*Error, len(r.sources))
	for i, s := range r.sources {
		objects[i], failed[i] = s.objectFor(resource)
	}
	contents, err := r.contents(ctx, client.ObjectKeyFromObject(resource), objects)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.subject, err)
	}
	problem := &Error{subject: r.subject, missing: true}
	var values []Value
	for i, s := range r.sources {
		var v Value
		if failed[i] == nil {
			v, failed[i] = s.value(objects[i], contents[objects[i]])
		}
		switch {
		case failed[i] == nil:
			v.subject = r.subject
			values = append(values, v)
		case !s.Optional || !failed[i].missing:
			problem.missing = problem.missing && failed[i].missing
			problem.add(failed[i])
		}
	}
	if len(problem.problems) > 0 {
		return values, problem
	}
	return values, nil
}

// contents returns what a custom resource needs of the objects of the sources, which are empty if they are not known.
func (r *Reader) contents(ctx context.Context, key types.NamespacedName, objects []object) (map[object]*content, error) {
	w, u := r.watcher, user{r, key}
	w.mu.Lock()
	known := r.known[key]
	w.mu.Unlock()
	contents := map[object]*content{}
	var errs []error
	for i, o := range objects {
		if o == (object{}) || contents[o] != nil {
			continue
		}
		c := known[o]
		if c == nil || !w.isCurrent(r.sources[i], o, c) {
			w.begin(u, o)
			var err error
			if c, err = r.get(ctx, o, objects); err != nil {
				errs = append(errs, err)
			}
			w.end(u, o, c)
		}
		if c != nil {
			contents[o] = c
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r.known[key] = contents
	for o := range known {
		if contents[o] == nil {
			w.forget(u, o)
		}
	}
	return contents, errors.Join(errs...)
}

// isCurrent reports whether a watch confirms that an object still has a content.
func (w *Watcher) isCurrent(s Source, o object, c *content) bool {
	watcher := w.watches.Get(s.selection())
	if !watcher.IsLive(o.gvk(), o.Namespace) {
		return false
	}
	found, known := watcher.Get(o.gvk(), o.NamespacedName)
	return known && (found == nil && !c.exists || found != nil && c.exists && found.ResourceVersion == c.version)
}

// get reads an object from the API server, and returns the keys of it that sources need.
func (r *Reader) get(ctx context.Context, o object, objects []object) (*content, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.gvk())
	switch err := r.watcher.live.Get(ctx, o.NamespacedName, live); {
	case apierrors.IsNotFound(err):
		return &content{}, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", o, err)
	}
	keys := map[string]bool{}
	for i, s := range r.sources {
		if objects[i] == o {
			keys[s.Key] = true
		}
	}
	c, err := contentOf(live, func(key string) bool { return keys[key] })
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", o, err)
	}
	return c, nil
}

// Drop removes what is kept of a custom resource that no longer exists.
func (r *Reader) Drop(key types.NamespacedName) {
	if r == nil {
		return
	}
	r.watcher.mu.Lock()
	defer r.watcher.mu.Unlock()
	for o := range r.known[key] {
		r.watcher.forget(user{r, key}, o)
	}
	delete(r.changes, key)
	delete(r.known, key)
}
