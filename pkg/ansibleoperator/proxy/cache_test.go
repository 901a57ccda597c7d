package proxy

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func cacheKey(namespace, name string) objectKey {
	return objectKey{schema.GroupResource{Resource: "configmaps"}, types.NamespacedName{Namespace: namespace, Name: name}}
}

func cacheResponse(version string, size int) *cachedResponse {
	return &cachedResponse{body: make([]byte, size), object: &responseObject{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}}
}

// TestCacheSize checks that the cache drops the responses that were not used for the longest time.
func TestCacheSize(t *testing.T) {
	t.Parallel()
	c := newReadCache()
	put := func(name, version string, size int) {
		key := cacheKey("a", name)
		read := c.beginRead(key)
		defer c.endRead(key, read)
		c.put(key, read, variant{}, cacheResponse(version, size))
	}
	put("large", "1", maxCached+1)
	if c.get(cacheKey("a", "large"), variant{}) != nil {
		t.Error("a large response is stored")
	}
	const n = 2 * maxCache / maxCached
	for i := range n {
		put(strconv.Itoa(i), "1", maxCached)
		c.get(cacheKey("a", "0"), variant{})
	}
	if c.size > maxCache || c.size < maxCache-2*maxCached {
		t.Errorf("size %d of %d", c.size, maxCache)
	}
	for name, want := range map[string]bool{"0": true, "1": false, strconv.Itoa(n - 1): true} {
		if got := c.get(cacheKey("a", name), variant{}) != nil; got != want {
			t.Errorf("%s is stored: %v", name, got)
		}
	}
	put("0", "2", 1)
	c.invalidateAll(schema.GroupResource{Resource: "configmaps"}, "")
	if c.size != 0 || c.recent.Len() != 0 || len(c.objects) != 0 || len(c.reads) != 0 {
		t.Errorf("%d bytes of %d objects remain", c.size, c.recent.Len())
	}
}

// TestCacheInvalidation checks what drops a stored response, and keeps the response to a read in progress from being stored.
func TestCacheInvalidation(t *testing.T) {
	t.Parallel()
	key := cacheKey("a", "b")
	configMaps := schema.GroupResource{Resource: "configmaps"}
	for name, test := range map[string]struct {
		do     func(c *readCache)
		remain bool
	}{
		"nothing":                      {func(*readCache) {}, true},
		"the same version":             {func(c *readCache) { c.observe(key, "5") }, true},
		"an older version":             {func(c *readCache) { c.observe(key, "4") }, true},
		"a newer version":              {func(c *readCache) { c.observe(key, "6") }, false},
		"a deletion":                   {func(c *readCache) { c.observe(key, "") }, false},
		"another object":               {func(c *readCache) { c.observe(cacheKey("a", "c"), "6") }, true},
		"a write":                      {func(c *readCache) { c.beginWrite(key)() }, false},
		"a write in progress":          {func(c *readCache) { c.beginWrite(key) }, false},
		"a write of another object":    {func(c *readCache) { c.beginWrite(cacheKey("a", "c")) }, true},
		"a write of all":               {func(c *readCache) { c.beginWrite(cacheKey("a", ""))() }, false},
		"a write of all everywhere":    {func(c *readCache) { c.beginWrite(cacheKey("", ""))() }, false},
		"a write of all in another":    {func(c *readCache) { c.beginWrite(cacheKey("b", "")) }, true},
		"a watch":                      {func(c *readCache) { c.beginWatch(configMaps)() }, false},
		"a watch of another resource":  {func(c *readCache) { c.beginWatch(schema.GroupResource{Resource: "secrets"}) }, true},
		"an interruption":              {func(c *readCache) { c.invalidateAll(configMaps, "") }, false},
		"an interruption of namespace": {func(c *readCache) { c.invalidateAll(configMaps, "a") }, false},
		"an interruption of another":   {func(c *readCache) { c.invalidateAll(configMaps, "b") }, true},
		"a read of another form":       {func(c *readCache) { c.invalidate(key) }, false},
	} {
		for _, during := range []bool{false, true} {
			c := newReadCache()
			read := c.beginRead(key)
			if during {
				test.do(c)
			}
			c.put(key, read, variant{}, cacheResponse("5", 1))
			c.endRead(key, read)
			if !during {
				test.do(c)
			}
			if got := c.get(key, variant{}) != nil; got != test.remain {
				t.Errorf("%s: stored %v, want %v (during the read: %v)", name, got, test.remain, during)
			}
		}
	}
	c := newReadCache()
	for _, begin := range []func() func(){
		func() func() { return c.beginWrite(key) }, func() func() { return c.beginWrite(cacheKey("a", "")) },
		func() func() { return c.beginWrite(cacheKey("", "")) }, func() func() { return c.beginWatch(configMaps) },
	} {
		end := begin()
		if c.beginRead(key) != nil {
			t.Error("want no read stored during a write or a watch")
		}
		end()
		if read := c.beginRead(key); read == nil {
			t.Error("want reads stored again")
		} else {
			c.endRead(key, read)
		}
	}
}
