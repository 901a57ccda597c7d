package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// A dryBackend is an API server that keeps what it gets, and answers with objects.
type dryBackend struct {
	mu       sync.Mutex
	requests []string
	writes   []DryWrite
}

func (b *dryBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // incomplete bodies fail the comparison
	query, _ := url.QueryUnescape(r.URL.RawQuery)
	b.mu.Lock()
	b.requests = append(b.requests, strings.TrimSpace(fmt.Sprintf("%s %s?%s %s", r.Method, r.URL.Path, query, body)))
	b.mu.Unlock()
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	fmt.Fprintf(w, `{"kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"1","annotations":{"accept":%q}}}`, r.Header.Get("Accept"))
}

// take returns the requests to the API server since the last call, and the writes that were reported.
func (b *dryBackend) take() (requests []string, writes []DryWrite) {
	b.mu.Lock()
	defer b.mu.Unlock()
	requests, writes = b.requests, b.writes
	b.requests, b.writes = nil, nil
	return requests, writes
}

// startDry returns a gateway whose program is called with its handler, before a backend.
func startDry(t *testing.T, refuse func(Request) string) (*Gateway, *dryBackend) {
	t.Helper()
	b := &dryBackend{}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	g, err := Start(Options{URL: server.URL, Transport: http.DefaultTransport, DryRun: &DryRun{Refuse: refuse, Wrote: func(w DryWrite) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.writes = append(b.writes, w)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Stop)
	g.SetTokens("good")
	return g, b
}

// call sends a request to a gateway and returns its answer.
func call(g *Gateway, r *http.Request) *httptest.ResponseRecorder {
	r.Header.Set("Authorization", "Bearer good")
	w := httptest.NewRecorder()
	g.serve(w, r)
	return w
}

// TestDryRun checks what the API server gets for each write.
func TestDryRun(t *testing.T) {
	t.Parallel()
	g, b := startDry(t, func(r Request) string {
		if r.Group == "remote.example.com" {
			return "it is remote"
		}
		return ""
	})
	const one = configMaps + "/x"
	for _, tc := range []struct {
		method, path, body string
		// want are the requests that reach the API server; none if the write is refused.
		want []string
	}{
		{"GET", one, "", []string{"GET " + one + "?"}},
		{"HEAD", one, "", []string{"HEAD " + one + "?"}},
		{"POST", configMaps + "?fieldManager=m", `{"metadata":{"name":"x"}}`, []string{"POST " + configMaps + `?dryRun=All&fieldManager=m {"metadata":{"name":"x"}}`}},
		{"POST", configMaps + "?dryRun=", `{}`, []string{"POST " + configMaps + `?dryRun=All {}`}},
		{"POST", configMaps + "?dryRun=None&dryRun=All", `{}`, []string{"POST " + configMaps + `?dryRun=All {}`}},
		{"PUT", one, `{"a":1}`, []string{"GET " + one + "?", "PUT " + one + `?dryRun=All {"a":1}`}},
		{"PATCH", one + "?force=true", `a: 1`, []string{"GET " + one + "?", "PATCH " + one + `?dryRun=All&force=true a: 1`}},
		{"PUT", one + "/status", `{}`, []string{"GET " + one + "/status?", "PUT " + one + `/status?dryRun=All {}`}},
		{"PATCH", one + "/scale", `{}`, []string{"GET " + one + "/scale?", "PATCH " + one + `/scale?dryRun=All {}`}},
		{"PUT", "/api/v1/namespaces/a/finalize", `{}`, []string{"GET /api/v1/namespaces/a?", "PUT /api/v1/namespaces/a/finalize?dryRun=All {}"}},
		{"POST", "/api/v1/namespaces/a/pods/x/eviction", `{}`, []string{"GET /api/v1/namespaces/a/pods/x?", "POST /api/v1/namespaces/a/pods/x/eviction?dryRun=All {}"}},
		{"DELETE", one, "", []string{"GET " + one + "?", "DELETE " + one + "?dryRun=All"}},
		{"DELETE", one, `{"propagationPolicy":"Orphan","dryRun":["None"]}`, []string{"GET " + one + "?", "DELETE " + one + `?dryRun=All {"dryRun":["All"],"propagationPolicy":"Orphan"}`}},
		{"DELETE", configMaps + "?labelSelector=a=b", `{}`, []string{"GET " + configMaps + "?labelSelector=a=b", "DELETE " + configMaps + `?dryRun=All&labelSelector=a=b {"dryRun":["All"]}`}},
		// Reviews change nothing; a dry run doesn't matter.
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{}`, []string{"POST /apis/authorization.k8s.io/v1/subjectaccessreviews?dryRun=All {}"}},

		{"DELETE", one, "propagationPolicy: Orphan", nil},
		{"DELETE", one, "null", nil},
		{"DELETE", one, `{"dryRun":["All"]`, nil},
		{"DELETE", one + "/status", "", nil},
		{"PUT", one + "/proxy", "", nil},
		{"PUT", one + "/unknown", "", nil},
		{"POST", one + "/status", "", nil},
		{"POST", "/api/v1/namespaces/a/pods/x/exec?command=rm", "", nil},
		{"GET", "/api/v1/namespaces/a/pods/x/exec?command=rm", "", nil},
		{"GET", "/api/v1/namespaces/a/pods/x/attach", "", nil},
		{"POST", "/api/v1/namespaces/a/pods/x/portforward", "", nil},
		{"GET", "/api/v1/namespaces/a/services/x/proxy/delete", "", nil},
		{"GET", "/api/v1/nodes/x/proxy/run", "", nil},
		{"POST", "/api/v1/namespaces/a/serviceaccounts/x/token", "{}", nil},
		{"POST", "/api/v1/namespaces/a/pods/x/binding", "{}", nil},
		{"POST", "/api/v1/namespaces/a/bindings", "{}", nil},
		{"POST", "/apis/remote.example.com/v1/namespaces/a/things", "{}", nil},
		{"POST", "/debug/pprof", "", nil},
		{"PURGE", one, "", nil},
		{"POST", "/api/v1/namespaces/a//serviceaccounts/x/token", "{}", nil},
		{"GET", "/api/v1/namespaces/a/pods/y/../x/exec", "", nil},
		{"GET", "/api/v1/namespaces/a/pods%2Fx%2Fexec", "", nil},
	} {
		w := call(g, httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body)))
		requests, writes := b.take()
		if !slices.Equal(requests, tc.want) {
			t.Errorf("%s %s %s: the API server gets %q, want %q", tc.method, tc.path, tc.body, requests, tc.want)
		}
		if refused := tc.want == nil; refused != (w.Code == http.StatusForbidden) || refused && (len(writes) != 1 || writes[0].Refused == "") {
			t.Errorf("%s %s %s: %d %s; %v", tc.method, tc.path, tc.body, w.Code, w.Body, writes)
		}
	}
	r := httptest.NewRequest("GET", one, nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	if w := call(g, r); w.Code != http.StatusForbidden {
		t.Errorf("a websocket: %d", w.Code)
	}
	if requests, _ := b.take(); len(requests) > 0 {
		t.Errorf("a websocket: %v", requests)
	}
}

// TestDryRunResults checks that writes are reported with JSON, whatever a program accepts, and that others aren't.
func TestDryRunResults(t *testing.T) {
	t.Parallel()
	g, b := startDry(t, nil)
	const partial = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	for accept, want := range map[string]string{
		"": "application/json",
		"application/vnd.kubernetes.protobuf, */*;q=0.5":                                                 "application/json",
		"application/vnd.kubernetes.protobuf" + partial + ",application/json" + partial:                  "application/json; as=PartialObjectMetadata; g=meta.k8s.io; v=v1",
		"application/vnd.kubernetes.protobuf" + partial + ",application/vnd.kubernetes.protobuf,garbage": "application/json; as=PartialObjectMetadata; g=meta.k8s.io; v=v1,application/json",
	} {
		r := httptest.NewRequest("PUT", configMaps+"/x", strings.NewReader("{}"))
		r.Header.Set("Accept", accept)
		call(g, r)
		_, writes := b.take()
		if len(writes) != 1 {
			t.Fatalf("%s: %v", accept, writes)
		}
		w, object := writes[0], fmt.Sprintf(`{"kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"1","annotations":{"accept":%q}}}`, want)
		if w.Verb != "update" || w.ServerCode != http.StatusOK || string(w.Live) != object || string(w.Result) != object {
			t.Errorf("%s: %s\n%s\n%s", accept, w.Request, w.Live, w.Result)
		}
	}
	call(g, httptest.NewRequest("PUT", configMaps+"/x?dryRun=All", strings.NewReader("{}")))
	call(g, httptest.NewRequest("POST", "/apis/authentication.k8s.io/v1/tokenreviews", strings.NewReader("{}")))
	if _, writes := b.take(); len(writes) > 0 {
		t.Errorf("reported: %v", writes)
	}
}

// TestDryOptions checks that DeleteOptions in other encodings are dry runs.
func TestDryOptions(t *testing.T) {
	t.Parallel()
	g, b := startDry(t, nil)
	grace := int64(5)
	options := v1.DeleteOptions{GracePeriodSeconds: &grace, Preconditions: v1.NewUIDPreconditions("u")}
	raw, err := options.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	message, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	inCBOR, err := direct.Marshal(map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 5, "preconditions": map[string]any{"uid": "u"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"protobuf": "k8s\x00" + string(message), "CBOR": "\xd9\xd9\xf7" + strings.TrimPrefix(string(inCBOR), "\xd9\xd9\xf7")} {
		call(g, httptest.NewRequest("DELETE", configMaps+"/x", strings.NewReader(body)))
		want := "DELETE " + configMaps + `/x?dryRun=All {"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":5,"kind":"DeleteOptions","preconditions":{"uid":"u"}}`
		if requests, _ := b.take(); len(requests) != 2 || requests[1] != want {
			t.Errorf("%s: %q, want %q", name, requests, want)
		}
	}
}

// TestDryRunElection checks that a program becomes the leader, whoever is the leader in the cluster.
func TestDryRunElection(t *testing.T) {
	t.Parallel()
	g, b := startDry(t, nil)
	const leases = "/apis/coordination.k8s.io/v1/namespaces/a/leases"
	for _, step := range []struct {
		method, path, body, want string
		code                     int
	}{
		{"GET", leases + "/x", "", "not found", http.StatusNotFound},
		{"POST", leases, `{"metadata":{"name":"x"}}`, `{"metadata":{"name":"x"}}`, http.StatusCreated},
		{"PUT", leases + "/x", `{"renewed":1}`, `{"renewed":1}`, http.StatusOK},
		{"GET", leases + "/x", "", `{"renewed":1}`, http.StatusOK},
		{"GET", leases + "/y", "", "not found", http.StatusNotFound},
	} {
		r := httptest.NewRequest(step.method, step.path, strings.NewReader(step.body))
		r.Header.Set("User-Agent", "manager/v1 (linux/amd64)/leader-election")
		if w := call(g, r); w.Code != step.code || !strings.Contains(w.Body.String(), step.want) {
			t.Errorf("%s %s: %d %s", step.method, step.path, w.Code, w.Body)
		}
	}
	if requests, writes := b.take(); len(requests) > 0 || len(writes) > 0 {
		t.Errorf("the API server gets %v, and reported are %v", requests, writes)
	}
	call(g, httptest.NewRequest("POST", leases, strings.NewReader("{}"))) // another lease
	if requests, _ := b.take(); !slices.Equal(requests, []string{"POST " + leases + "?dryRun=All {}"}) {
		t.Errorf("the API server gets %v", requests)
	}
}

// TestGuard checks that what isn't a dry run doesn't leave a gateway.
func TestGuard(t *testing.T) {
	t.Parallel()
	g, b := startDry(t, nil)
	for _, query := range []string{"", "?dryRun=", "?dryRun=all", "?dryRun=All&dryRun=None"} {
		r, err := http.NewRequest("POST", g.backend.String()+configMaps+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := g.transport.RoundTrip(r); err == nil {
			_ = answer.Body.Close() // only its existence counts
			t.Errorf("%q was forwarded", query)
		}
	}
	if requests, _ := b.take(); len(requests) > 0 {
		t.Errorf("the API server gets %v", requests)
	}
}
