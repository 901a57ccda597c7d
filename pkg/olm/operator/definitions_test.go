package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// TestCleanupAwaitsConversion checks that custom resources whose operator restarts are read once it converts them again,
// and that a failed cleanup reports the cause and a fix.
func TestCleanupAwaitsConversion(t *testing.T) {
	t.Parallel()
	left := 2
	var end context.CancelCauseFunc
	timeUp := errors.New("time is up")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/apis/example.com/v2/mails":
			http.NotFound(w, r)
		case left == 0:
			fmt.Fprint(w, `{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "items": [{"metadata": {"name": "m", "namespace": "n"}}]}`)
		default:
			left--
			if left == 10 {
				end(timeUp)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500,
				"message": "conversion webhook for example.com/v1, Kind=Mail failed: no endpoints available"}`)
		}
	}))
	t.Cleanup(server.Close)
	crd := &kube.Object{Object: map[string]any{"spec": map[string]any{
		"group": "example.com", "names": map[string]any{"plural": "mails", "kind": "Mail"},
		"versions": []any{map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v2", "served": true, "storage": true}},
	}}}
	var messages []string
	c := &cleanup{CleanupOptions: CleanupOptions{Client: clientOf(t, server), Reporter: olm.Reporter{Progress: func(e olm.Event) { messages = append(messages, e.Message) }}}}
	found, err := c.resources(t.Context(), crd)
	if err != nil || len(found) != 1 || found[0].GetName() != "m" {
		t.Errorf("got %v, %v", found, err)
	}
	if !slices.ContainsFunc(messages, func(s string) bool {
		return strings.Contains(s, "waiting for the operator to convert custom resources")
	}) {
		t.Errorf("messages: %q", messages)
	}

	for _, during := range []bool{false, true} { // when the time is up: between two requests, or during the second one
		var ctx context.Context
		ctx, end = context.WithCancelCause(t.Context())
		left = 12
		c.Progress = func(olm.Event) {
			if !during {
				end(timeUp)
			}
		}
		_, err = c.resources(ctx, crd)
		if err == nil || !strings.Contains(err.Error(), "OLM then removes the conversion") {
			t.Errorf("time up during a request: %t; got error %v", during, err)
		}
	}
}
