package local

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestReconciling reads the metrics of a manager: a controller is at work while it reconciles a resource, or one waits for it.
func TestReconciling(t *testing.T) {
	t.Parallel()
	text := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
	defer server.Close()
	r := &runner{metrics: strings.TrimPrefix(server.URL, "http://")}
	for metrics, want := range map[string]string{
		"": "",
		"# TYPE workqueue_depth gauge\ncontroller_runtime_active_workers{controller=\"a\"} 0\nworkqueue_depth{controller=\"a\",name=\"a\",priority=\"0\"} 0\n": "",
		"controller_runtime_active_workers{controller=\"a\"} 0\ncontroller_runtime_active_workers{controller=\"b\"} 1\n":                                       "the controller b is at work",
		"workqueue_depth{controller=\"a\",name=\"x\",priority=\"\"} 12\n":                                                                                      "the controller a is at work",
		"controller_runtime_max_concurrent_reconciles{controller=\"a\"} 1\n":                                                                                   "",
	} {
		text = metrics
		if got := r.reconciling(); got != want {
			t.Errorf("%s: got %q, want %q", metrics, got, want)
		}
	}
	if got := (&runner{}).reconciling(); got != "" {
		t.Errorf("without metrics: %q", got)
	}
}
