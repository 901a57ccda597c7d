package proxy

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxCache limits the size of all cached responses, and maxCached the size of one.
	maxCache  = 32 << 20
	maxCached = 1 << 20
	// entrySize is the approximate size of an entry without its body.
	entrySize = 1 << 10
)

// A readCache contains responses to reads of single objects. A response is dropped as soon as a watch reports another version of its
// object, or its watch is interrupted, or a request through the proxy can change the object or can reveal a newer version of it. So a
// client never reads a version that is older than one that it wrote or read through the proxy. A response that was on its way at that
// time is not stored at all.
type readCache struct {
	mu      sync.Mutex
	size    int
	objects map[objectKey]*list.Element
	// recent has the object that was used last in front. Its values are *cachedObject.
	recent list.List
	// reads are the requests whose responses may be stored.
	reads map[objectKey]map[*pendingRead]bool
	// writes are the requests that may be changing an object; an empty name stands for all objects in a namespace.
	writes map[objectKey]int
	// watches are the watches of clients, which reveal newer versions at any time.
	watches map[schema.GroupResource]int
}

// A cachedObject are the responses with one version of an object.
type cachedObject struct {
	key       objectKey
	version   string
	responses map[variant]*cachedResponse
	size      int
}

// A variant is a form of an object that clients can request.
type variant struct{ apiVersion, subresource, accept string }

// A cachedResponse is a successful response.
type cachedResponse struct {
	contentType string
	body        []byte
	object      *responseObject
}

// A pendingRead is a read whose response may be stored.
type pendingRead struct {
	// invalid is set if the response may not be stored, newest is the newest version of the object that a watch has reported meanwhile.
	invalid bool
	newest  uint64
}

func newReadCache() *readCache {
	return &readCache{
		objects: map[objectKey]*list.Element{}, reads: map[objectKey]map[*pendingRead]bool{}, writes: map[objectKey]int{},
		watches: map[schema.GroupResource]int{},
	}
}

// get returns a cached response; nil if there is none.
func (c *readCache) get(key objectKey, v variant) *cachedResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.objects[key]
	if element == nil || c.isChanging(key) {
		return nil
	}
	response := element.Value.(*cachedObject).responses[v]
	if response != nil {
		c.recent.MoveToFront(element)
	}
	return response
}

// isChanging reports whether an object may be changing, or a client may receive a newer version at any time.
func (c *readCache) isChanging(key objectKey) bool {
	inNamespace := objectKey{key.GroupResource, types.NamespacedName{Namespace: key.Namespace}}
	return c.writes[key] > 0 || c.writes[inNamespace] > 0 || c.writes[objectKey{GroupResource: key.GroupResource}] > 0 ||
		c.watches[key.GroupResource] > 0
}

// beginRead returns a read whose response may be stored; nil if it may not. endRead must be called with it.
func (c *readCache) beginRead(key objectKey) *pendingRead {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isChanging(key) {
		return nil
	}
	if c.reads[key] == nil {
		c.reads[key] = map[*pendingRead]bool{}
	}
	read := &pendingRead{}
	c.reads[key][read] = true
	return read
}

func (c *readCache) endRead(key objectKey, read *pendingRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reads[key], read)
	if len(c.reads[key]) == 0 {
		delete(c.reads, key)
	}
}

// put stores the response of a read, unless a newer version of the object may exist.
func (c *readCache) put(key objectKey, read *pendingRead, v variant, response *cachedResponse) {
	version := parseVersion(response.object.ResourceVersion)
	c.mu.Lock()
	defer c.mu.Unlock()
	if version == 0 || read.invalid || read.newest > version || len(response.body) > maxCached {
		// The client has seen this version.
		c.drop(key)
		return
	}
	element := c.objects[key]
	if element != nil {
		if existing := parseVersion(element.Value.(*cachedObject).version); existing > version {
			return
		} else if existing < version {
			c.remove(element)
			element = nil
		}
	}
	if element == nil {
		element = c.recent.PushFront(&cachedObject{key: key, version: response.object.ResourceVersion, responses: map[variant]*cachedResponse{}})
		c.objects[key] = element
	}
	object := element.Value.(*cachedObject)
	if object.responses[v] == nil {
		object.responses[v] = response
		object.size += len(response.body) + entrySize
		c.size += len(response.body) + entrySize
	}
	for c.size > maxCache {
		c.remove(c.recent.Back())
	}
}

func (c *readCache) remove(element *list.Element) {
	object := element.Value.(*cachedObject)
	c.recent.Remove(element)
	delete(c.objects, object.key)
	c.size -= object.size
}

// drop removes an object. c.mu must be held.
func (c *readCache) drop(key objectKey) {
	if element := c.objects[key]; element != nil {
		c.remove(element)
	}
	for read := range c.reads[key] {
		read.invalid = true
	}
}

// invalidate removes an object.
func (c *readCache) invalidate(key objectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
}

// invalidateAll removes all objects of a resource in a namespace; in all if it is empty.
func (c *readCache) invalidateAll(gr schema.GroupResource, namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropAll(gr, namespace)
}

// dropAll removes all objects of a resource in a namespace; in all if it is empty. c.mu must be held.
func (c *readCache) dropAll(gr schema.GroupResource, namespace string) {
	matches := func(key objectKey) bool {
		return key.GroupResource == gr && (namespace == "" || key.Namespace == namespace)
	}
	for key := range c.objects {
		if matches(key) {
			c.drop(key)
		}
	}
	for key := range c.reads {
		if matches(key) {
			c.drop(key)
		}
	}
}

// beginWrite prepares for a request that may change an object; all in the namespace if the name is empty. The returned function
// must be called when the request has ended.
func (c *readCache) beginWrite(key objectKey) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	drop := func() {
		if key.Name == "" {
			c.dropAll(key.GroupResource, key.Namespace)
		} else {
			c.drop(key)
		}
	}
	c.writes[key]++
	drop()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.writes[key]--; c.writes[key] == 0 {
			delete(c.writes, key)
		}
		drop()
	}
}

// beginWatch prepares for the watch of a client. The returned function must be called when it has ended.
func (c *readCache) beginWatch(gr schema.GroupResource) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watches[gr]++
	c.dropAll(gr, "")
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.watches[gr]--; c.watches[gr] == 0 {
			delete(c.watches, gr)
		}
	}
}

// observe handles a version of an object that a watch has received; "" if it is deleted.
func (c *readCache) observe(key objectKey, resourceVersion string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := parseVersion(resourceVersion)
	if version == 0 {
		c.drop(key)
		return
	}
	for read := range c.reads[key] {
		read.newest = max(read.newest, version)
	}
	// Versions older than the response have been received late.
	if element := c.objects[key]; element != nil && parseVersion(element.Value.(*cachedObject).version) < version {
		c.remove(element)
	}
}
