package valuesfrom

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// A Watcher watches the metadata of the sources of all kinds of a process.
type Watcher struct {
	live client.Reader
	// watches are complete before the manager starts.
	watches *dependents.Selections

	mu   sync.Mutex
	uses map[object]map[user]*use
}

func (s Source) selection() dependents.Selection {
	return dependents.Selection{GroupVersionKind: object{kind: s.Kind}.gvk(), Namespace: s.Namespace, Name: s.Name}
}

// A user is a custom resource that uses an object.
type user struct {
	reader *Reader
	key    types.NamespacedName
}

// A use is the last read of an object for a custom resource.
type use struct {
	// version is the resource version that was read; 0 if the object didn't exist.
	version uint64
	// reading is set during a read. newest is the newest version of a change in the meantime, and deleted is set by a deletion.
	reading, deleted bool
	newest           uint64
}

// NewWatcher returns a watcher for the sources in the namespaces of an operator; none are all.
func NewWatcher(mgr manager.Manager, namespaces []string, log logr.Logger) *Watcher {
	return &Watcher{
		live: mgr.GetAPIReader(),
		watches: dependents.NewSelections(dependents.Options{
			REST: mgr.GetConfig(), HTTPClient: mgr.GetHTTPClient(), Mapper: mgr.GetRESTMapper(), Namespaces: namespaces, Log: log,
		}, func(w *dependents.Watcher) error { return mgr.Add(w) }),
		uses: map[object]map[user]*use{},
	}
}

// Add returns a reader of the sources of one kind of custom resources, or nil without sources. It must be called before the manager starts.
// The subject begins error messages. After a change of an object that a custom resource has used, changed is called with its name.
// It must not block.
func (w *Watcher) Add(subject string, sources []Source, changed func(types.NamespacedName)) (*Reader, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	r := &Reader{
		watcher: w, subject: subject, sources: sources, notify: changed,
		known: map[types.NamespacedName]map[object]*content{}, changes: map[types.NamespacedName]uint64{},
	}
	for _, s := range sources {
		if err := w.watches.Add(s.selection(), w.handler(s.Kind)); err != nil {
			return nil, fmt.Errorf("%s: %w", subject, err)
		}
	}
	return r, nil
}

// handler returns the handler of changes of objects of a kind.
func (w *Watcher) handler(kind string) dependents.Handler {
	changed := func(obj *metav1.PartialObjectMetadata) { w.changed(kind, obj, false) }
	return dependents.Handler{
		Added:   func(obj *metav1.PartialObjectMetadata, _ bool) { changed(obj) },
		Updated: func(_, after *metav1.PartialObjectMetadata) { changed(after) },
		Deleted: func(obj *metav1.PartialObjectMetadata) { w.changed(kind, obj, true) },
	}
}

// changed notifies the custom resources that use an object, and don't know its version yet.
func (w *Watcher) changed(kind string, obj *metav1.PartialObjectMetadata, deleted bool) {
	version := parseVersion(obj.ResourceVersion)
	o := object{kind, types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}}
	w.mu.Lock()
	defer w.mu.Unlock()
	for user, use := range w.uses[o] {
		switch {
		case use.reading:
			use.newest, use.deleted = max(use.newest, version), use.deleted || deleted
		case use.version < version, deleted && use.version > 0:
			user.reader.changed(user.key)
		}
	}
}

// begin registers reads of an object for a custom resource, so that no later change is missed.
func (w *Watcher) begin(u user, o object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.uses[o] == nil {
		w.uses[o] = map[user]*use{}
	}
	w.uses[o][u] = &use{reading: true}
}

// end ends reads of an object. Without content, the read has failed.
func (w *Watcher) end(u user, o object, c *content) {
	w.mu.Lock()
	defer w.mu.Unlock()
	use := w.uses[o][u]
	if use == nil || c == nil {
		w.forget(u, o)
		return
	}
	use.reading, use.version = false, parseVersion(c.version)
	if use.newest > use.version || use.deleted && use.version > 0 {
		u.reader.changed(u.key)
	}
}

// forget removes a use. The caller has locked w.mu.
func (w *Watcher) forget(u user, o object) {
	delete(w.uses[o], u)
	if len(w.uses[o]) == 0 {
		delete(w.uses, o)
	}
}

// parseVersion returns a resource version as a number, as versions of one kind can be compared. An empty one is 0.
func parseVersion(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64)
	return n
}
