package local

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// metricsOf returns a manager that serves the metrics that text points to.
func metricsOf(t *testing.T, text *string) *runner {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, *text) }))
	t.Cleanup(server.Close)
	return &runner{metrics: strings.TrimPrefix(server.URL, "http://")}
}

// TestReconciling reads the metrics of a manager: a controller is at work while it reconciles a resource, or one waits for it.
func TestReconciling(t *testing.T) {
	t.Parallel()
	text := ""
	r := metricsOf(t, &text)
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

// TestRetries counts calls of reconcilers that aren't done, by the metrics of a manager.
func TestRetries(t *testing.T) {
	t.Parallel()
	const total = "controller_runtime_reconcile_total{controller=\"%s\",result=\"%s\"} %s\n"
	success := fmt.Sprintf(total, "a", "success", "3") + fmt.Sprintf(total, "a", "error", "0")
	type retries struct {
		n     int
		known bool
	}
	text := ""
	r := metricsOf(t, &text)
	for metrics, want := range map[string]retries{
		"":      {},
		success: {0, true},
		success + fmt.Sprintf(total, "a", "requeue_after", "1") + fmt.Sprintf(total, "b", "requeue", "1e+06"): {1_000_001, true},
		fmt.Sprintf(total, "a", "error", "2") + success + fmt.Sprintf(total, "b", "error", "3"):               {5, true},
		"controller_runtime_reconcile_errors_total{controller=\"a\"} 1\n":                                     {},
		success + "rest_client_requests_total{result=\"error\"} 1\n":                                          {0, true},
		fmt.Sprintf(total, "a", "error", "x"):                                                                 {},
	} {
		text = metrics
		if n, known := r.retries(); n != want.n || known != want.known {
			t.Errorf("%s: got %d, %t", metrics, n, known)
		}
	}
	if _, known := (&runner{}).retries(); known {
		t.Error("known without metrics")
	}
}
