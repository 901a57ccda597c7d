package proxy_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var memory = flag.Bool("memory", false, "measure the memory of the proxy with 5,000 foreign Secrets and ConfigMaps")

// heap returns the used memory of the heap in KiB.
func heap() int {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc >> 10)
}

// resident returns the resident memory of the process in KiB, after what is free was returned to the system; 0 if it is not known.
func resident() int {
	debug.FreeOSMemory()
	data, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[0])
	return n
}

// createForeign creates n ConfigMaps and n Secrets that belong to no owner.
func (e *env) createForeign(n int, annotations map[string]string, data string) {
	e.Helper()
	work := make(chan int)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for i := range work {
				meta := metav1.ObjectMeta{Namespace: e.namespace, Name: fmt.Sprintf("foreign-%d", i), Annotations: annotations}
				err := errors.Join(
					e.client.Create(e.Context(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"data": data}}),
					e.client.Create(e.Context(), &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"data": data}}))
				if err != nil {
					e.Error(err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	group.Wait()
}

// watchAll starts watches of ConfigMaps and Secrets, for dependents and for cached reads, and waits until they have received all.
func (e *env) watchAll() (*reader, *requeues) {
	e.Helper()
	r := &requeues{namespace: e.namespace}
	settings := r.settings()
	settings.CacheReads = true
	c := e.newReader(settings)
	for _, kind := range []string{"ConfigMap", "Secret"} {
		path := "/api/v1/namespaces/" + e.namespace + "/" + strings.ToLower(kind) + "s"
		if got := c.do(http.MethodPost, path, "application/json", `{"metadata":{"name":"owned"}}`); got.code != http.StatusCreated {
			e.Fatal(got.body)
		}
		c.waitHit(path + "/owned")
	}
	return c, r
}

// TestForeignObjectsAreNotKept checks that the memory does not grow with objects that belong to no owner, whether they exist before the
// watches or not. It must run alone.
func TestForeignObjectsAreNotKept(t *testing.T) {
	e := newEnv(t)
	const n, size = 60, 200 << 10
	annotations := map[string]string{"example.com/large": strings.Repeat("x", size)}
	e.createForeign(n, annotations, "")
	before := heap()
	reads, _ := e.watchAll()
	e.namespace += "-more"
	e.createNamespace(e.namespace)
	e.createForeign(n, annotations, "")
	// Its watch has received what precedes it.
	e.create(e.client, e.configMapText("last"))
	reads.waitHit("/api/v1/namespaces/" + e.namespace + "/configmaps/last")
	if growth, limit := heap()-before, n*size>>10; growth > limit {
		t.Errorf("the heap grows by %d KiB, want at most %d: all objects have %d", growth, limit, 4*n*size>>10)
	}
	runtime.KeepAlive(reads)
}

// TestMemory measures the memory of watches with 5,000 Secrets and ConfigMaps of others, and of a cache of whole objects.
func TestMemory(t *testing.T) {
	if !*memory {
		t.Skip("-memory is not given")
	}
	e := newEnv(t)
	const n = 5000
	e.createForeign(n, nil, strings.Repeat("x", 4<<10))
	heapBefore, residentBefore := heap(), resident()
	reads, _ := e.watchAll()
	for i := range 200 {
		reads.get(fmt.Sprintf("/api/v1/namespaces/%s/secrets/foreign-%d", e.namespace, i))
	}
	growth := heap() - heapBefore
	t.Logf("proxy: heap %d KiB more, resident %d KiB more", growth, resident()-residentBefore)
	if limit := 8 << 10; growth > limit {
		t.Errorf("the heap grows by %d KiB, want at most %d", growth, limit)
	}

	heapBefore, residentBefore = heap(), resident()
	c, err := cache.New(e.config, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.Start(t.Context()) }()
	for _, obj := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
		if _, err := c.GetInformer(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	c.WaitForCacheSync(t.Context())
	t.Logf("a cache of whole objects: heap %d KiB more, resident %d KiB more", heap()-heapBefore, resident()-residentBefore)
	runtime.KeepAlive(c)
	runtime.KeepAlive(reads)
}
