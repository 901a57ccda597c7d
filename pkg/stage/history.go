package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// A Change is a new version of an object.
type Change struct {
	// Time is when the change was seen.
	Time time.Time
	// Before is the former version, or nil if the object was created. After is the new one, or the last one if Deleted is set.
	Before, After *kube.Object
	Deleted       bool
	// Outlined means that the history only keeps the kind, the name and the version of both, since too much has changed.
	Outlined bool
}

// A History watches all objects of an API server and keeps their changes.
type History struct {
	client *kube.Client
	now    func() time.Time

	mu      sync.Mutex
	watches map[string]*watch
	current map[string]*kube.Object
	changes []Change
	kept    kept
	failure error
	running sync.WaitGroup
	stop    context.CancelFunc
	life    context.Context //nolint:containedctx // of the watches, which outlive the calls that start them
}

// A watch is the watch of a resource. synced is closed after the objects that existed before.
type watch struct {
	resource kube.Resource
	synced   chan struct{}
	once     sync.Once
}

// NewHistory starts a history with the objects that exist. The caller must call Close.
func NewHistory(ctx context.Context, client *kube.Client, now func() time.Time) (*History, error) {
	h := &History{client: client, now: now, watches: map[string]*watch{}, current: map[string]*kube.Object{}, kept: newKept()}
	h.life, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := h.Discover(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Discover watches resources that are served since the last call, such as new kinds, and waits until their objects are known.
func (h *History) Discover(ctx context.Context) error {
	resources, _, err := h.client.Resources(ctx)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		key := resource.Group() + "/" + resource.Name
		h.mu.Lock()
		if h.watches[key] == nil {
			w := &watch{resource: resource, synced: make(chan struct{})}
			h.watches[key] = w
			h.running.Go(func() { h.follow(w) })
		}
		w := h.watches[key]
		h.mu.Unlock()
		select {
		case <-w.synced:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure
}

// Close ends the watches.
func (h *History) Close() {
	h.stop()
	h.running.Wait()
}

// Changes returns the changes from number n on, in the order in which they were seen.
func (h *History) Changes(n int) []Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.changes[n:])
}

// Objects returns all objects in the order of their kinds and names.
func (h *History) Objects() []*kube.Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sorted()
}

func (h *History) sorted() []*kube.Object {
	return slices.SortedFunc(maps.Values(h.current), compareNames)
}

// retryPause is the pause before a watch that has ended is started again.
const retryPause = 100 * time.Millisecond

// follow watches a resource until the history ends.
func (h *History) follow(w *watch) {
	defer w.once.Do(func() { close(w.synced) })
	for h.life.Err() == nil {
		err := h.watch(w)
		if kube.IsNotFound(err) {
			return // the CRD was deleted
		}
		if err != nil && !errors.Is(err, io.EOF) && !kube.IsTransient(err) && h.life.Err() == nil {
			h.mu.Lock()
			h.failure = errors.Join(h.failure, fmt.Errorf("watching %s: %w", w.resource.Name, err))
			h.mu.Unlock()
			return
		}
		select {
		case <-time.After(retryPause):
		case <-h.life.Done():
		}
	}
}

// watch reads one stream, which begins with the objects that exist.
func (h *History) watch(w *watch) error {
	query := url.Values{"watch": {"true"}, "sendInitialEvents": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersionMatch": {"NotOlderThan"}}
	stream, err := h.client.Watch(h.life, w.resource.Path("")+"?"+query.Encode())
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // it was read
	known := map[string]bool{}
	decoder := json.NewDecoder(stream)
	for {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if err := decoder.Decode(&event); err != nil {
			return err
		}
		o := &kube.Object{}
		if err := o.UnmarshalJSON(event.Object); err != nil {
			return err
		}
		switch event.Type {
		case "BOOKMARK":
			if o.GetAnnotations()["k8s.io/initial-events-end"] == "true" {
				h.forget(w, known)
				w.once.Do(func() { close(w.synced) })
			}
		case "ERROR":
			return fmt.Errorf("%w: %s", io.EOF, kube.StringAt(o.Object, "message"))
		default:
			known[string(o.GetUID())] = true
			h.add(o, event.Type == "DELETED")
		}
	}
}

// add adds a version of an object, unless it is known.
func (h *History) add(o *kube.Object, deleted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	uid := string(o.GetUID())
	before := h.current[uid]
	if !deleted && before != nil && before.GetResourceVersion() == o.GetResourceVersion() {
		return
	}
	if h.current[uid] = o; deleted {
		delete(h.current, uid)
	}
	h.append(Change{Time: h.now(), Before: before, After: o, Deleted: deleted})
}

// forget removes objects of a resource that were deleted while it wasn't watched.
func (h *History) forget(w *watch, known map[string]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.sorted() {
		gvk := o.GroupVersionKind()
		if gvk.Kind != w.resource.Kind || gvk.Group != w.resource.Group() || known[string(o.GetUID())] {
			continue
		}
		delete(h.current, string(o.GetUID()))
		h.append(Change{Time: h.now(), Before: o, After: o, Deleted: true})
	}
}
