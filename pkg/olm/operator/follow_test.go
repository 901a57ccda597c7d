package operator

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// TestTimeUpInARequest checks that a wait reports what it has waited for also when it times out in the middle of a request.
func TestTimeUpInARequest(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		wait func(context.Context, *run) error
		want string
	}{
		"follow": {func(ctx context.Context, r *run) error { return r.follow(ctx) }, "OLM did not create an InstallPlan for the Subscription mem/sub (time is up)"},
		"catalog": {func(ctx context.Context, r *run) error {
			return r.waitCatalog(ctx, kube.Named(olm.V1Alpha1, olm.CatalogSourceKind, "mem", "c"))
		}, "OLM does not read the catalog (time is up)"},
		"registry": {func(ctx context.Context, r *run) error {
			return r.waitRegistry(ctx, kube.Named("apps/v1", "Deployment", "mem", "d"))
		}, "the registry that serves the catalog is not ready (time is up)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("time is up"))
			t.Cleanup(end)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if ctx.Err() == nil {
					<-r.Context().Done()
					return
				}
				http.NotFound(w, r)
			}))
			server.EnableHTTP2 = true // as an API server has it: with HTTP/1, requests end with the context's cause
			server.StartTLS()
			t.Cleanup(server.Close)
			r := &run{RunOptions: RunOptions{Client: clientOf(t, server), Namespace: "mem", Bundle: Bundle{Package: "p", CSV: "p.v1"}}, subscription: "sub"}
			if err := row.wait(ctx, r); err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestBrokenCatalog(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`error using catalogsource olm/operatorhubio-catalog: failed to list bundles: rpc error: code = Unavailable`: "olm operatorhubio-catalog",
		`failed to populate resolver cache from source a/b: x, error using catalogsource a/b: y`:                     "a b",
		`constraints not satisfiable: no operators found in package x`:                                               " ",
	} {
		if namespace, name := brokenCatalog(message); namespace+" "+name != want {
			t.Errorf("%s: %s %s, want %s", message, namespace, name, want)
		}
	}
}
