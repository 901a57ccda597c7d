package proxy

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// track registers a request in the cache, which may have to drop what it contains. The returned function must be called when the
// request has ended.
func (p *Proxy) track(x *exchange) (end func()) {
	switch r := x.request; {
	case !x.isResource:
	case x.target.isWatch:
		return p.cache.beginWatch(x.target.GroupResource())
	case r.Method == http.MethodGet && p.isCacheable(x):
		key, read := x.target.objectKey(), (*pendingRead)(nil)
		if p.isLive(x.target) {
			read = p.cache.beginRead(key)
		}
		if x.read = read; read != nil {
			return func() { p.cache.endRead(key, read) }
		}
	case r.Method != http.MethodGet && r.Method != http.MethodHead && !x.isDryRun && !isUpgrade(r):
		return p.cache.beginWrite(x.target.objectKey())
	}
	return func() {}
}

// isCacheable reports whether the response to a read may come from the cache. It starts the watch of the kind.
func (p *Proxy) isCacheable(x *exchange) bool {
	r, settings := x.request, x.run.settings
	if !settings.CacheReads || x.target.name == "" || x.target.subresource != "" && x.target.subresource != "status" || r.URL.RawQuery != "" || isUpgrade(r) ||
		// The API server checks the permissions of another user.
		isImpersonated(r) ||
		len(p.config.Namespaces) > 0 && x.target.namespace != "" && !slices.Contains(p.config.Namespaces, x.target.namespace) {
		return false
	}
	resource, err := p.resources.find(r.Context(), x.target.GroupVersionResource)
	if err != nil || resource == nil || !hasWatch(resource) {
		return false
	}
	gvk := gvkOf(x.target.GroupVersionResource, resource)
	if settings.isBlacklisted(gvk) || isEvent(gvk) {
		return false
	}
	p.startWatch(x.target.GroupVersionResource, gvk)
	return true
}

// isLive reports whether changes of a target are being received.
func (p *Proxy) isLive(t target) bool {
	p.mu.Lock()
	gvk, ok := p.watched[t.GroupResource()]
	p.mu.Unlock()
	return ok && p.watcher.IsLive(gvk, t.namespace)
}

// serveCached answers a read from the cache, and reports whether it did.
func (p *Proxy) serveCached(w http.ResponseWriter, x *exchange) bool {
	if x.read == nil {
		return false
	}
	response := p.cache.get(x.target.objectKey(), x.variant())
	if response == nil {
		return false
	}
	p.record(x, response.object)
	if x.reportsSecrets() {
		x.reportSecrets(response.contentType, response.body)
	}
	p.count(x.request.Method, http.StatusOK, "hit")
	header := w.Header()
	header.Set("Content-Type", response.contentType)
	header.Set("Content-Length", strconv.Itoa(len(response.body)))
	header.Set("Cache-Control", "no-cache, private")
	header.Set("X-Cache", "HIT")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(response.body)
	return true
}

// variant returns the form of the object that a request asks for.
func (x *exchange) variant() variant {
	return variant{x.target.GroupVersion().String(), x.target.subresource, strings.Join(x.request.Header.Values("Accept"), ",")}
}

// store stores the response to a read. Without object, the cache drops what it contains, which may be older than what the client reads.
func (p *Proxy) store(x *exchange, contentType string, body []byte, object *responseObject) {
	key := x.target.objectKey()
	if x.read == nil || object == nil || object.UID == "" {
		p.cache.invalidate(key)
		return
	}
	annotations := map[string]string{}
	for _, name := range []string{dependents.OwnerAnnotation, dependents.OwnerTypeAnnotation} {
		if value, ok := object.Annotations[name]; ok {
			annotations[name] = value
		}
	}
	kept := *object
	kept.Annotations = annotations
	p.cache.put(key, x.read, x.variant(), &cachedResponse{contentType, body, &kept})
}

// An observer passes what the watches receive to the cache.
type observer struct{ proxy *Proxy }

// Observe implements dependents.Observer.
func (o observer) Observe(gvk schema.GroupVersionKind, key types.NamespacedName, resourceVersion string) {
	if gr, ok := o.proxy.resourceOf(gvk); ok {
		o.proxy.cache.observe(objectKey{gr, key}, resourceVersion)
	}
}

// Interrupt implements dependents.Observer.
func (o observer) Interrupt(gvk schema.GroupVersionKind, namespace string) {
	if gr, ok := o.proxy.resourceOf(gvk); ok {
		o.proxy.cache.invalidateAll(gr, namespace)
	}
}

func (p *Proxy) resourceOf(gvk schema.GroupVersionKind) (schema.GroupResource, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gr, ok := p.watchedKinds[gvk]
	return gr, ok
}
