package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestWaitEstablished expects a definition to be served only when the API server also lists its kind, in all versions that are served.
func TestWaitEstablished(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/customresourcedefinitions/greetings.example.com"):
			fmt.Fprint(w, `{"spec":{"group":"example.com","names":{"kind":"Greeting"},"versions":[{"name":"v1","served":true},{"name":"v2","served":true},{"name":"v0","served":false}]},
"status":{"conditions":[{"type":"Established","status":"True"}]}}`)
		case r.URL.Path == "/apis/example.com/v1":
			fmt.Fprint(w, `{"resources":[{"name":"greetings/status","kind":"Greeting","namespaced":true},{"name":"greetings","kind":"Greeting","namespaced":true}]}`)
		case r.URL.Path == "/apis/example.com/v2" && asked.Add(1) > 2:
			fmt.Fprint(w, `{"resources":[{"name":"greetings","kind":"Greeting","namespaced":true}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	client, err := New(fmt.Appendf(nil, "{clusters: [{name: a, cluster: {server: %s}}], contexts: [{name: a, context: {cluster: a}}], current-context: a}", server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.WaitEstablished(t.Context(), "greetings.example.com", time.Minute); err != nil || asked.Load() != 3 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
}
