package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
)

var (
	cacheSeed  = flag.Uint64("cache.seed", 1, "seed of TestCachedReadsAreNotOlder")
	cacheSteps = flag.Int("cache.steps", 400, "steps of each client in TestCachedReadsAreNotOlder")
)

// A reader sends requests through a proxy.
type reader struct {
	*env
	host   string
	client *http.Client
}

func (e *env) newReader(settings proxy.Settings) *reader {
	e.Helper()
	config, _ := e.register(e.owner, settings)
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		e.Fatal(err)
	}
	return &reader{e, config.Host, c}
}

// A reply is what a test uses of a response.
type reply struct {
	code     int
	hit      bool
	body     string
	Kind     string
	Metadata metav1.ObjectMeta
	Data     map[string]string
}

func (r *reader) do(method, path, contentType, body string, header ...string) *reply {
	request, err := http.NewRequestWithContext(r.Context(), method, r.host+path, strings.NewReader(body))
	if err != nil {
		r.Error(err)
		return &reply{}
	}
	request.Header.Set("Accept", "application/json")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.Error(err)
		return &reply{}
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		r.Error(err)
	}
	result := &reply{code: response.StatusCode, hit: response.Header.Get("X-Cache") == "HIT", body: string(data)}
	if err := json.Unmarshal(data, result); err != nil {
		r.Errorf("%s %s: %v: %s", method, path, err, data)
	}
	return result
}

func (r *reader) get(path string, header ...string) *reply {
	return r.do(http.MethodGet, path, "", "", header...)
}

// waitHit reads a path until the response comes from the cache.
func (r *reader) waitHit(path string) *reply {
	r.Helper()
	var got *reply
	r.eventually("a cached response", func() error {
		if got = r.get(path); !got.hit {
			return errors.New("it is not cached")
		}
		return nil
	})
	return got
}

// TestCachedReads checks which reads are answered from the cache.
func TestCachedReads(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	registry := prometheus.NewRegistry()
	e.proxy = e.startProxy(func(c *proxy.Config) { c.Namespaces, c.Registry = []string{e.namespace}, registry })
	other := e.namespace + "-other"
	e.createNamespace(other)
	for _, namespace := range []string{e.namespace, other} {
		e.create(e.client, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}, data: {a: one}}", namespace))
		e.create(e.client, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: %s}}", namespace))
	}
	cached := proxy.Settings{CacheReads: true, Blacklist: []schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}}}
	r := e.newReader(cached)
	list := "/api/v1/namespaces/" + e.namespace + "/configmaps"
	path := list + "/a"
	first := r.get(path)
	got := r.waitHit(path)
	if got.body != first.body || got.Data["a"] != "one" {
		t.Errorf("the cache contains %s, the API server %s", got.body, first.body)
	}
	if app := "/apis/example.com/v1alpha1/namespaces/" + e.namespace + "/apps/one"; r.waitHit(app).Kind != "App" || r.waitHit(app+"/status").Kind != "App" {
		t.Error("want the kind App")
	} else if v1 := r.waitHit(strings.Replace(app, "v1alpha1", "v1", 1)); !strings.Contains(v1.body, `"example.com/v1"`) {
		t.Errorf("another version: %s", v1.body)
	}
	if !r.waitHit("/api/v1/namespaces/" + e.namespace).hit {
		t.Error("want a cluster-scoped object cached")
	}
	metrics, err := registry.Gather()
	if err != nil || len(metrics) != 1 || metrics[0].GetName() != "ansible_operator_proxy_requests_total" || !strings.Contains(metrics[0].String(), `"hit"`) {
		t.Errorf("metrics %v (%v)", metrics, err)
	}
	// Other forms are not mixed up.
	if got := r.get(path, "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"); got.hit || got.Kind != "PartialObjectMetadata" {
		t.Errorf("metadata: %v", got)
	}
	r.waitHit(path)

	without := e.newReader(proxy.Settings{})
	for range 3 {
		for what, got := range map[string]*reply{
			"another namespace": r.get("/api/v1/namespaces/" + other + "/configmaps/a"),
			"the blacklist":     r.get("/api/v1/namespaces/" + e.namespace + "/secrets/a"),
			"a list":            r.get(list),
			"a parameter":       r.get(path + "?pretty=true"),
			"a missing object":  r.get(list + "/missing"),
			"another user":      r.get(path, "Impersonate-User", "system:admin", "Impersonate-Group", "system:masters"),
			"discovery":         r.get("/api/v1"),
			"a scale":           r.get("/apis/apps/v1/namespaces/" + e.namespace + "/deployments/missing/scale"),
			"another watch":     without.get(path),
		} {
			if got.hit {
				t.Errorf("%s: cached", what)
			}
		}
	}

	// Own writes are read at once, other writes soon.
	for i, write := range []func(value string) int{
		func(value string) int {
			return r.do(http.MethodPatch, path, "application/merge-patch+json", `{"data":{"a":"`+value+`"}}`).code
		},
		func(value string) int {
			return r.do(http.MethodPut, path, "application/json", `{"metadata":{"name":"a"},"data":{"a":"`+value+`"}}`).code
		},
		func(value string) int {
			return r.do(http.MethodPatch, path+"?fieldManager=x&force=true", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"`+value+`"}}`).code
		},
		func(value string) int {
			r.do(http.MethodDelete, path, "", "")
			return r.do(http.MethodPost, list, "application/json", `{"metadata":{"name":"a"},"data":{"a":"`+value+`"}}`).code - 1
		},
	} {
		r.waitHit(path)
		if code := write(strconv.Itoa(i)); code != http.StatusOK {
			t.Errorf("write %d: %d", i, code)
		}
		if got := r.get(path); got.Data["a"] != strconv.Itoa(i) || got.hit {
			t.Errorf("after write %d: %v", i, got.Data)
		}
	}
	r.waitHit(path)
	e.merge(e.client, e.configMap("a"), `{"data":{"a":"other"}}`)
	e.eventually("the write of another client", func() error {
		if got := r.get(path); got.Data["a"] != "other" {
			return errors.New(got.body)
		}
		return nil
	})
	r.waitHit(path)
	if err := e.client.Delete(t.Context(), e.configMap("a")); err != nil {
		t.Fatal(err)
	}
	e.eventually("the deletion by another client", func() error {
		if got := r.get(path); got.code != http.StatusNotFound {
			return errors.New(got.body)
		}
		return nil
	})
}

// TestCacheDuringList checks that reads are not answered from the cache while a watch that was interrupted lists all objects again.
func TestCacheDuringList(t *testing.T) {
	t.Parallel()
	var interrupted atomic.Bool
	interrupt, listing, listed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	list := sync.OnceFunc(func() { close(listing) })
	e := newEnv(t, through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		query := r.URL.Query()
		switch {
		case r.URL.Path != "/api/v1/configmaps" || !query.Has("watch"):
			return next.RoundTrip(r)
		case !interrupted.Load():
			ctx, cancel := context.WithCancel(r.Context())
			go func() {
				<-interrupt
				cancel()
			}()
			return next.RoundTrip(r.WithContext(ctx))
		case !query.Has("sendInitialEvents"):
			return status(r, http.StatusGone), nil
		}
		response, err := next.RoundTrip(r)
		if err == nil {
			list()
			response.Body = heldBody{response.Body, listed}
		}
		return response, err
	}))
	e.create(e.client, e.configMapText("a"))
	r := e.newReader(proxy.Settings{CacheReads: true})
	path := "/api/v1/namespaces/" + e.namespace + "/configmaps/a"
	r.waitHit(path)
	interrupted.Store(true)
	close(interrupt)
	<-listing
	for _, value := range []string{"one", "two", "three"} {
		e.merge(e.client, e.configMap("a"), `{"data":{"a":"`+value+`"}}`)
		if got := r.get(path); got.hit || got.Data["a"] != value {
			t.Errorf("cached: %v, data %v, want %s", got.hit, got.Data, value)
		}
	}
	close(listed)
	r.waitHit(path)
}

// heldBody holds back the content of a response.
type heldBody struct {
	io.ReadCloser
	released <-chan struct{}
}

func (h heldBody) Read(p []byte) (int, error) {
	<-h.released
	return h.ReadCloser.Read(p)
}

// A historian checks that a client does not read what is older than what it wrote or read before.
type historian struct {
	*reader
	versions map[string]uint64    // the newest version that was seen, by name
	uids     map[string]types.UID // its object
	gone     map[types.UID]bool   // objects that did not exist any more
	hits     *atomic.Int64
}

// saw checks the version of an object, and records it.
func (h *historian) saw(what, name string, m metav1.ObjectMeta) {
	version, err := strconv.ParseUint(m.ResourceVersion, 10, 64)
	if err != nil {
		h.Errorf("%s: %v", what, err)
		return
	}
	if version < h.versions[name] {
		h.Errorf("%s of %s returns version %d after %d", what, name, version, h.versions[name])
	}
	if h.gone[m.UID] {
		h.Errorf("%s of %s returns a deleted object", what, name)
	}
	h.versions[name], h.uids[name] = max(version, h.versions[name]), m.UID
}

func (h *historian) isGone(name string) { h.gone[h.uids[name]] = true }

// step sends one random request.
func (h *historian) step(random *rand.Rand, list string) {
	name := fmt.Sprintf("object-%d", random.IntN(3))
	path := list + "/" + name
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"a":"%d"}}`, name, random.IntN(1000))
	var got *reply
	what := "read"
	switch n := random.IntN(100); {
	case n < 70:
		if got = h.get(path); got.hit {
			h.hits.Add(1)
		}
	case n < 72:
		h.list(list)
		return
	case n < 76:
		what, got = "merge", h.do(http.MethodPatch, path, "application/merge-patch+json", body)
	case n < 80:
		what, got = "apply", h.do(http.MethodPatch, path+"?fieldManager=x&force=true", "application/apply-patch+yaml", body)
	case n < 84:
		what, got = "replace", h.do(http.MethodPut, path, "application/json", body)
	case n < 88:
		what, got = "create", h.do(http.MethodPost, list, "application/json", body)
	case n < 91:
		// The response contains the last version, of which the client has seen a newer one if the deletion is repeated.
		if got = h.do(http.MethodDelete, path, "", ""); got.code == http.StatusOK {
			var status metav1.Status
			if json.Unmarshal([]byte(got.body), &status) == nil && status.Details != nil {
				h.gone[status.Details.UID] = true
			}
		}
		return
	default:
		what, got = "read", h.get(path, "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	}
	switch got.code {
	case http.StatusOK, http.StatusCreated:
		h.saw(what, name, got.Metadata)
	case http.StatusNotFound:
		h.isGone(name)
	case http.StatusConflict:
	default:
		h.Errorf("%s: %s", what, got.body)
	}
}

// list lists all objects.
func (h *historian) list(list string) {
	var items struct {
		Items []struct{ Metadata metav1.ObjectMeta }
	}
	if err := json.Unmarshal([]byte(h.get(list).body), &items); err != nil {
		h.Error(err)
	}
	for _, item := range items.Items {
		if strings.HasPrefix(item.Metadata.Name, "object-") {
			h.saw("list", item.Metadata.Name, item.Metadata)
		}
	}
}

// lateWatches delays what watches receive, as a slow network does.
type lateWatches struct{ http.RoundTripper }

func (l lateWatches) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Has("watch") {
		response.Body = lateBody{response.Body}
	}
	return response, err
}

type lateBody struct{ io.ReadCloser }

func (l lateBody) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	time.Sleep(rand.N(40 * time.Millisecond))
	return n, err
}

// TestCachedReadsAreNotOlder sends random requests of several clients through the proxy while others write directly: no read through the
// proxy returns a version that is older than what the same client wrote or read through it before.
func TestCachedReadsAreNotOlder(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *proxy.Config) {
		client := *c.HTTPClient
		client.Transport = lateWatches{client.Transport}
		c.HTTPClient = &client
	})
	list := "/api/v1/namespaces/" + e.namespace + "/configmaps"
	e.create(e.client, e.configMapText("object-0"))
	var hits atomic.Int64
	e.newReader(proxy.Settings{CacheReads: true}).waitHit(list + "/object-0")
	var clients, direct sync.WaitGroup
	for i := range 4 {
		h := &historian{e.newReader(proxy.Settings{CacheReads: true}), map[string]uint64{}, map[string]types.UID{}, map[types.UID]bool{}, &hits}
		random := rand.New(rand.NewPCG(*cacheSeed, uint64(i)))
		clients.Go(func() {
			for range *cacheSteps {
				if h.step(random, list); t.Failed() {
					return
				}
			}
		})
	}
	done := make(chan struct{})
	direct.Go(func() {
		random := rand.New(rand.NewPCG(*cacheSeed, 100))
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: fmt.Sprintf("object-%d", random.IntN(3))}, Data: map[string]string{"d": strconv.Itoa(i)}}
			var err error
			switch random.IntN(8) {
			case 0:
				err = client.IgnoreNotFound(e.client.Delete(t.Context(), object))
			case 1:
				err = client.IgnoreAlreadyExists(e.client.Create(t.Context(), object))
			default:
				err = client.IgnoreNotFound(e.client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{"d":"%d"}}`, i))))
			}
			if err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
		}
	})
	clients.Wait()
	close(done)
	direct.Wait()
	if n := hits.Load(); n == 0 {
		t.Error("no read was answered from the cache")
	} else {
		t.Logf("%d of %d steps were answered from the cache", n, 4**cacheSteps)
	}
}
