package olm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestWaitDeletedDuringRead checks that what is being deleted is named if the time is up while it is read again.
func TestWaitDeletedDuringRead(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	reads := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1":
			fmt.Fprint(w, `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "namespaces", "kind": "Namespace"}]}`)
		case "/api/v1/namespaces/olm":
			if reads++; reads == 2 {
				end(errors.New("time is up"))
				<-r.Context().Done()
				return
			}
			fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "olm", "deletionTimestamp": "2026-01-01T00:00:00Z"}}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	in := &installation{InstallOptions: InstallOptions{Client: clientOf(t, server), Release: &Release{Objects: []*kube.Object{
		{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "olm"}}},
	}}}}
	err := in.waitDeleted(ctx)
	if want := "namespace olm has been terminating since 2026-01-01T00:00:00Z and still exists (time is up)"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// clientOf returns a client of a server that replaces a cluster.
func clientOf(t *testing.T, server *httptest.Server) *kube.Client {
	t.Helper()
	client, err := kube.New(fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"+
		"clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\nusers: [{name: u}]\n", server.URL))
	if err != nil {
		t.Fatal(err)
	}
	return client
}
