package ansibleoperator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
	"github.com/operon-sdk/operon/pkg/dependents"
	"github.com/operon-sdk/operon/pkg/watches"
)

// An OtherWatch selects objects that no run has created, and whose changes start runs. At least one of Name, NameFrom and Selector is
// required.
type OtherWatch struct {
	// GroupVersionKind is the kind of the objects.
	GroupVersionKind schema.GroupVersionKind
	// Namespace is where the objects are; empty for the namespace of the custom resource.
	Namespace string
	// Name is the name of the object.
	Name string
	// NameFrom is the path in the custom resource of a name or of names, such as spec.secretName. Lists on the path are searched.
	NameFrom string
	// Selector selects the objects by their labels; nil is all.
	Selector *metav1.LabelSelector
}

// WithOtherWatches makes changes of objects start a run of each custom resource that they are selected for. Only their metadata is read.
func WithOtherWatches(others ...OtherWatch) Option {
	return func(r *Reconciler) error {
		for _, other := range others {
			parsed := otherWatch{OtherWatch: other, selector: labels.Everything()}
			if other.GroupVersionKind.Version == "" || other.GroupVersionKind.Kind == "" {
				return errors.New("other watch: version and kind are required")
			}
			if other.Name == "" && other.NameFrom == "" && other.Selector == nil || other.Name != "" && other.NameFrom != "" {
				return fmt.Errorf("other watch of %s: one of Name and NameFrom, or Selector is required", other.GroupVersionKind.Kind)
			}
			if other.Selector != nil {
				var err error
				if parsed.selector, err = metav1.LabelSelectorAsSelector(other.Selector); err != nil {
					return fmt.Errorf("other watch of %s: selector: %w", other.GroupVersionKind.Kind, err)
				}
			}
			r.others = append(r.others, parsed)
		}
		return nil
	}
}

func otherWatches(others []watches.OtherResource) []OtherWatch {
	var result []OtherWatch
	for _, o := range others {
		result = append(result, OtherWatch{GroupVersionKind: o.GroupVersionKind, Namespace: o.Namespace, Name: o.Name, NameFrom: o.NameFrom, Selector: o.Selector})
	}
	return result
}

type otherWatch struct {
	OtherWatch
	selector labels.Selector
}

// mayMatch reports whether an object is selected for any custom resource.
func (o *otherWatch) mayMatch(obj *metav1.PartialObjectMetadata) bool {
	return (o.Name == "" || o.Name == obj.Name) && (o.Namespace == "" || obj.Namespace == "" || o.Namespace == obj.Namespace) &&
		o.selector.Matches(labels.Set(obj.Labels))
}

// isFor reports whether an object that may match is selected for a custom resource.
func (o *otherWatch) isFor(obj *metav1.PartialObjectMetadata, resource *unstructured.Unstructured) bool {
	if o.Namespace == "" && obj.Namespace != "" && resource.GetNamespace() != "" && obj.Namespace != resource.GetNamespace() {
		return false
	}
	return o.NameFrom == "" || containsText(resource.Object, strings.Split(o.NameFrom, "."), obj.Name)
}

// containsText reports whether a text is at a path, or an element of a list there. Lists on the path are searched.
func containsText(value any, path []string, text string) bool {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if containsText(element, path, text) {
				return true
			}
		}
	case map[string]any:
		return len(path) > 0 && containsText(v[path[0]], path[1:], text)
	case string:
		return len(path) == 0 && v == text
	}
	return false
}

// othersTimeout limits the time to find custom resources, which are in memory once they are listed.
const othersTimeout = 20 * time.Second

// others requests runs after changes of objects that others have created.
type others struct {
	resources cache.Cache
	proxy     *proxy.Proxy
	log       logr.Logger

	mu      sync.Mutex
	pending map[otherKey]otherChange
	wake    chan struct{}
}

// An otherKey is an object that has changed, with what selects it.
type otherKey struct {
	reconciler *Reconciler
	watch      int
	key        client.ObjectKey
}

// An otherChange are changes of an object that no custom resource was searched for yet.
type otherChange struct {
	obj        *metav1.PartialObjectMetadata
	statusOnly bool
}

// watchOthers adds the watches of reconcilers to a manager: one watcher for the namespaces of the operator, and one for each other namespace.
func watchOthers(mgr manager.Manager, namespaces []string, p *proxy.Proxy, reconcilers []*Reconciler) error {
	o := &others{resources: mgr.GetCache(), proxy: p, log: mgr.GetLogger().WithName("others"), pending: map[otherKey]otherChange{}, wake: make(chan struct{}, 1)}
	watchers := map[string]*dependents.Watcher{}
	for _, r := range reconcilers {
		for i, w := range r.others {
			watcher := watchers[w.Namespace]
			if watcher == nil {
				watched := namespaces
				if w.Namespace != "" {
					watched = []string{w.Namespace}
				}
				var err error
				watcher, err = dependents.NewWatcher(dependents.Options{
					REST: mgr.GetConfig(), HTTPClient: mgr.GetHTTPClient(), Mapper: mgr.GetRESTMapper(), Namespaces: watched, Log: o.log,
					Keep: keepOthers(reconcilers, w.Namespace),
					Reduce: func(obj *metav1.PartialObjectMetadata) {
						delete(obj.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
					},
				})
				if err != nil {
					return fmt.Errorf("watching other objects: %w", err)
				}
				watchers[w.Namespace] = watcher
				if err := mgr.Add(watcher); err != nil {
					return err
				}
			}
			watcher.Watch(w.GroupVersionKind, o.handler(r, i))
		}
	}
	if len(watchers) == 0 {
		return nil
	}
	return mgr.Add(o)
}

// keepOthers returns a function that reports whether the watcher of a namespace keeps an object. Its kind is not known there; handlers
// are called for objects of their own kind.
func keepOthers(reconcilers []*Reconciler, namespace string) func(*metav1.PartialObjectMetadata) bool {
	return func(obj *metav1.PartialObjectMetadata) bool {
		for _, r := range reconcilers {
			for _, w := range r.others {
				if w.Namespace == namespace && w.mayMatch(obj) {
					return true
				}
			}
		}
		return false
	}
}

// handler returns the handler of changes of objects that a watch selects. Those that exist at the start are known to the first runs.
func (o *others) handler(r *Reconciler, watch int) dependents.Handler {
	w := &r.others[watch]
	changed := func(obj *metav1.PartialObjectMetadata, statusOnly bool) {
		if w.mayMatch(obj) {
			o.add(otherKey{r, watch, client.ObjectKeyFromObject(obj)}, otherChange{obj, statusOnly})
		}
	}
	return dependents.Handler{
		Added: func(obj *metav1.PartialObjectMetadata, initial bool) {
			if !initial {
				changed(obj, false)
			}
		},
		Updated: func(before, after *metav1.PartialObjectMetadata) {
			statusOnly := !dependents.IsSpecChange(before, after)
			if !w.mayMatch(after) { // it was selected before
				after = before
			}
			changed(after, statusOnly)
		},
		Deleted: func(obj *metav1.PartialObjectMetadata) { changed(obj, false) },
	}
}

func (o *others) add(key otherKey, c otherChange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, ok := o.pending[key]; ok {
		c.statusOnly = c.statusOnly && before.statusOnly
	}
	o.pending[key] = c
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Start implements manager.Runnable. It runs on the leader only.
func (o *others) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.wake:
		}
		o.mu.Lock()
		pending := o.pending
		o.pending = map[otherKey]otherChange{}
		o.mu.Unlock()
		for key, c := range pending {
			if err := o.request(ctx, key, c); err != nil && ctx.Err() == nil {
				o.log.Error(err, "cannot find the custom resources that use an object", "kind", c.obj.Kind, "namespace", c.obj.Namespace, "name", c.obj.Name)
			}
		}
	}
}

// request requests runs of the custom resources that an object is selected for.
func (o *others) request(ctx context.Context, key otherKey, c otherChange) error {
	kind := &key.reconciler.kind
	w := &key.reconciler.others[key.watch]
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GVK.GroupVersion().WithKind(kind.GVK.Kind + "List"))
	// A kind that doesn't exist must not delay the others.
	ctx, cancel := context.WithTimeout(ctx, othersTimeout)
	defer cancel()
	if err := o.resources.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range list.Items {
		resource := &list.Items[i]
		if kind.Matches(resource) && w.isFor(c.obj, resource) {
			o.proxy.RequestRun(kind.GVK.GroupKind(), client.ObjectKeyFromObject(resource), c.statusOnly)
		}
	}
	return nil
}
