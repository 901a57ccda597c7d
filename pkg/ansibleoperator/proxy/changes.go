package proxy

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// isWatchable reports whether changes of objects of a kind matter to an owner.
func (p *Proxy) isWatchable(s Settings, gvk schema.GroupVersionKind, resource *metav1.APIResource, annotated bool) bool {
	return s.watches(gvk, annotated) && hasWatch(resource) && !isEvent(gvk)
}

// hasWatch reports whether the objects of a resource can be watched.
func hasWatch(resource *metav1.APIResource) bool {
	return slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "watch")
}

// isEvent reports whether objects of a kind are events, which the API server deletes after an hour.
func isEvent(gvk schema.GroupVersionKind) bool {
	return gvk.Kind == "Event" && (gvk.Group == "" || gvk.Group == "events.k8s.io")
}

// watchesAny reports whether changes of any objects require a run.
func (s Settings) watchesAny() bool { return s.Requeue != nil && s.WatchDependents }

// watches reports whether changes of objects of a kind, with an owner reference or annotations, require a run.
func (s Settings) watches(gvk schema.GroupVersionKind, annotated bool) bool {
	return s.watchesAny() && (!annotated || s.WatchClusterScoped) && !s.isBlacklisted(gvk)
}

// isBlacklisted reports whether a kind is on the blacklist, whatever its version.
func (s Settings) isBlacklisted(gvk schema.GroupVersionKind) bool {
	return slices.ContainsFunc(s.Blacklist, func(b schema.GroupVersionKind) bool { return b.GroupKind() == gvk.GroupKind() })
}

// startWatch watches a kind, if no version of it is watched.
func (p *Proxy) startWatch(gvr schema.GroupVersionResource, gvk schema.GroupVersionKind) {
	p.mu.Lock()
	_, watched := p.watched[gvr.GroupResource()]
	if !watched {
		p.watched[gvr.GroupResource()] = gvk
		p.watchedKinds[gvk] = gvr.GroupResource()
	}
	p.mu.Unlock()
	if !watched {
		p.watcher.Watch(gvk, p.changeHandler(gvr.GroupResource(), gvk))
	}
}

// isKept reports whether the watches keep the metadata of an object.
func (p *Proxy) isKept(obj *metav1.PartialObjectMetadata) bool {
	kinds := *p.ownerKinds.Load()
	if kind, _, ok := dependents.AnnotatedOwner(obj); ok && kinds[kind] {
		return true
	}
	return slices.ContainsFunc(obj.OwnerReferences, func(r metav1.OwnerReference) bool { return kinds[kindOf(r)] })
}

// addOwnerKinds extends the kinds of owners.
func (p *Proxy) addOwnerKinds(kinds ...schema.GroupKind) {
	existing := *p.ownerKinds.Load()
	all := map[schema.GroupKind]bool{}
	for kind := range existing {
		all[kind] = true
	}
	for _, kind := range kinds {
		all[kind] = true
	}
	if len(all) > len(existing) {
		p.ownerKinds.Store(&all)
	}
}

func kindOf(r metav1.OwnerReference) schema.GroupKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind()
}

func (p *Proxy) changeHandler(gr schema.GroupResource, gvk schema.GroupVersionKind) dependents.Handler {
	key := func(obj *metav1.PartialObjectMetadata) objectKey {
		return objectKey{gr, types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}}
	}
	return dependents.Handler{
		Added: func(obj *metav1.PartialObjectMetadata, _ bool) {
			for _, owner := range p.ownersOf(obj, gvk) {
				p.changed(owner, key(obj), change{version: obj.ResourceVersion, statusOnly: true, created: true})
			}
		},
		Updated: func(before, after *metav1.PartialObjectMetadata) {
			c := change{version: after.ResourceVersion, statusOnly: !dependents.IsSpecChange(before, after)}
			owners := p.ownersOf(after, gvk)
			for _, owner := range owners {
				p.changed(owner, key(after), c)
			}
			for _, owner := range p.ownersOf(before, gvk) {
				if !slices.Contains(owners, owner) {
					p.changed(owner, key(after), c)
					p.removeObject(owner, key(after))
				}
			}
		},
		Deleted: func(obj *metav1.PartialObjectMetadata) {
			for _, owner := range p.ownersOf(obj, gvk) {
				p.changed(owner, key(obj), change{uid: obj.UID, deleted: true})
				p.removeObject(owner, key(obj))
			}
		},
		Listed: func(namespace, resourceVersion string, isKept func(types.NamespacedName) bool) {
			for _, d := range p.unlisted(gr, namespace, parseVersion(resourceVersion), isKept) {
				p.changed(d.owner, d.key, change{uid: d.uid, deleted: true})
				p.removeObject(d.owner, d.key)
			}
		},
	}
}

// A deletion is one of an object that a run of its owner has seen.
type deletion struct {
	owner ownerKey
	key   objectKey
	uid   types.UID
}

// unlisted returns the objects that are not in a list of a resource, although runs have seen them, and only in older versions.
func (p *Proxy) unlisted(gr schema.GroupResource, namespace string, version uint64, isKept func(types.NamespacedName) bool) []deletion {
	p.mu.Lock()
	defer p.mu.Unlock()
	var deletions []deletion
	for owner, state := range p.owners {
		for key, seen := range state.objects {
			inList := key.GroupResource == gr && (namespace == "" || key.Namespace == namespace)
			if inList && seen.newest <= version && !isKept(key.NamespacedName) {
				deletions = append(deletions, deletion{owner, key, seen.uid})
			}
		}
	}
	return deletions
}

// ownersOf returns the owners of an object for which its changes matter.
func (p *Proxy) ownersOf(obj *metav1.PartialObjectMetadata, gvk schema.GroupVersionKind) []ownerKey {
	p.mu.Lock()
	defer p.mu.Unlock()
	var owners []ownerKey
	for _, reference := range obj.OwnerReferences {
		kind, ok := p.kinds[kindOf(reference)]
		if !ok || !kind.settings.watches(gvk, false) {
			continue
		}
		owner := ownerKey{kindOf(reference), types.NamespacedName{Namespace: obj.Namespace, Name: reference.Name}}
		if kind.clusterScoped {
			owner.Namespace = ""
		}
		owners = append(owners, owner)
	}
	if name, key, ok := dependents.AnnotatedOwner(obj); ok {
		if kind, ok := p.kinds[name]; ok && kind.settings.watches(gvk, true) {
			owners = append(owners, ownerKey{name, key})
		}
	}
	return owners
}

// changed requests a run of an owner if a change requires it.
func (p *Proxy) changed(owner ownerKey, key objectKey, c change) {
	p.mu.Lock()
	s := p.owners[owner]
	running := s != nil && s.runs > 0
	if running {
		s.hold(key, c)
	}
	explained := s != nil && s.explains(key, c) || s == nil && c.created
	p.mu.Unlock()
	if !running && !explained {
		p.requeue(owner, c.statusOnly)
	}
}

// endRun ends a run, and requests another one for changes that it has not seen.
func (p *Proxy) endRun(owner ownerKey) {
	p.mu.Lock()
	s := p.state(owner)
	s.runs--
	var required, statusOnly bool
	if s.runs == 0 {
		required, statusOnly = s.release()
	}
	p.mu.Unlock()
	if required {
		p.requeue(owner, statusOnly)
	}
}

// RequestRun requests a run of a custom resource, like a change of one of its objects does, and within the same limits. It returns false
// if there was no run of the kind yet, so that nobody accepts requests.
func (p *Proxy) RequestRun(kind schema.GroupKind, key types.NamespacedName, statusOnly bool) bool {
	p.mu.Lock()
	accepts := p.kinds[kind].settings.Requeue != nil
	p.mu.Unlock()
	if accepts {
		p.requeue(ownerKey{kind, key}, statusOnly)
	}
	return accepts
}

// BeginPass answers the request of a run of a custom resource: its pass has begun, and reads what later changes change, maybe without
// a run.
func (p *Proxy) BeginPass(kind schema.GroupKind, key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.owners[ownerKey{kind, key}]; s != nil {
		s.due = time.Time{}
	}
}

func (p *Proxy) requeue(owner ownerKey, statusOnly bool) {
	p.mu.Lock()
	delay, ok := p.state(owner).request(p.now(), statusOnly)
	requeue := p.kinds[owner.GroupKind].settings.Requeue
	p.mu.Unlock()
	if !ok || requeue != nil && requeue(owner.NamespacedName, delay) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(owner).withdraw()
}

// state returns the state of an owner. p.mu must be held.
func (p *Proxy) state(owner ownerKey) *ownerState {
	s := p.owners[owner]
	if s == nil {
		s = &ownerState{}
		p.owners[owner] = s
	}
	return s
}

func (p *Proxy) removeObject(owner ownerKey, key objectKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.owners[owner]; s != nil && s.runs == 0 {
		delete(s.objects, key)
	}
}

// Remove removes what the proxy keeps of a custom resource that does not exist any more.
func (p *Proxy) Remove(gvk schema.GroupVersionKind, key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.owners[ownerKey{gvk.GroupKind(), key}]; s != nil && s.runs == 0 {
		delete(p.owners, ownerKey{gvk.GroupKind(), key})
	}
}
