package dependson

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// A Watcher watches the dependencies of all kinds of a process.
type Watcher struct {
	live      client.Reader
	mapper    meta.RESTMapper
	discovery discovery.DiscoveryInterface
	// watches are complete before the manager starts.
	watches *dependents.Selections

	mu sync.Mutex
	// waits are the resources that wait, by themselves, and told is what they know of the objects that they wait for. The text is
	// empty during a read.
	waits map[node]*wait
	told  map[object]map[*wait]string
	// changed are the objects that have changed since they were read, and wake has an element if there are some.
	changed map[object]bool
	wake    chan struct{}
}

func (d Dependency) selection() dependents.Selection {
	return dependents.Selection{GroupVersionKind: d.GroupVersionKind, Namespace: d.Namespace, Name: d.Name}
}

// NewWatcher returns a watcher for dependencies in the namespaces of an operator; none are all.
func NewWatcher(mgr manager.Manager, namespaces []string, log logr.Logger) (*Watcher, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("watching dependencies: %w", err)
	}
	w := &Watcher{
		live: mgr.GetAPIReader(), mapper: mgr.GetRESTMapper(), discovery: client,
		watches: dependents.NewSelections(dependents.Options{
			REST: mgr.GetConfig(), HTTPClient: mgr.GetHTTPClient(), Mapper: mgr.GetRESTMapper(), Namespaces: namespaces, Log: log,
		}, func(w *dependents.Watcher) error { return mgr.Add(w) }),
		waits: map[node]*wait{}, told: map[object]map[*wait]string{}, changed: map[object]bool{}, wake: make(chan struct{}, 1),
	}
	return w, mgr.Add(w)
}

// Add returns a checker of the dependencies of a kind of custom resources, or nil without dependencies. It must be called before the
// manager starts. After a change that matters to a custom resource that waits, changed is called with its name. It must not block.
func (w *Watcher) Add(kind schema.GroupKind, dependencies []Dependency, changed func(types.NamespacedName)) (*Checker, error) {
	if len(dependencies) == 0 {
		return nil, nil
	}
	for _, d := range dependencies {
		if err := w.watches.Add(d.selection(), w.handler(d.GroupVersionKind)); err != nil {
			return nil, fmt.Errorf("watching dependencies: %w", err)
		}
	}
	return &Checker{watcher: w, kind: kind, dependencies: dependencies, notify: changed}, nil
}

// handler returns the handler of changes of objects of a kind.
func (w *Watcher) handler(gvk schema.GroupVersionKind) dependents.Handler {
	changed := func(obj *metav1.PartialObjectMetadata) {
		key := types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}
		w.change(func(o object) bool { return o.GroupVersionKind == gvk && o.NamespacedName == key })
	}
	return dependents.Handler{
		Added:   func(obj *metav1.PartialObjectMetadata, _ bool) { changed(obj) },
		Updated: func(_, after *metav1.PartialObjectMetadata) { changed(after) },
		Deleted: changed,
		// The kind may be new, and objects may have been deleted before.
		Listed: func(string, string, func(types.NamespacedName) bool) {
			w.change(func(o object) bool { return o.GroupVersionKind == gvk })
		},
	}
}

// change notes that objects have changed, if resources wait for them.
func (w *Watcher) change(isChanged func(object) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for o := range w.told {
		if isChanged(o) {
			w.changed[o] = true
		}
	}
	if len(w.changed) == 0 {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Start implements manager.Runnable: it reads objects that have changed. Resources wait on the leader only.
func (w *Watcher) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		}
		w.mu.Lock()
		changed := w.changed
		w.changed = map[object]bool{}
		w.mu.Unlock()
		for o := range changed {
			w.reconsider(ctx, o)
		}
	}
}

// reconsider notifies the resources that wait for an object and know another state. An error is the problem of their next pass.
func (w *Watcher) reconsider(ctx context.Context, o object) {
	w.mu.Lock()
	isAwaited := len(w.told[o]) > 0
	w.mu.Unlock()
	if !isAwaited {
		return
	}
	s, err := w.read(ctx, o)
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for wait, text := range w.told[o] {
		if err != nil || text != s.text {
			wait.notify()
		}
	}
}
