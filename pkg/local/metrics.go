package local

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// metricsTimeout is the timeout of a request for the metrics of the manager, and maxMetrics the size of the answer that is read.
const (
	metricsTimeout = 2 * time.Second
	maxMetrics     = 4 << 20
)

// working matches the metrics of controller-runtime for resources that are being reconciled, or wait for it.
var working = lazyregexp.New(`^(?:controller_runtime_active_workers|workqueue_depth)\{(?:.*,)?controller="([^"]*)".*\} [1-9]`)

// reconciling says which controller of the manager is at work, by its metrics, or "". It is "", too, if there are none.
func (r *runner) reconciling() string {
	if r.metrics == "" {
		return ""
	}
	client := &http.Client{Timeout: metricsTimeout}
	answer, err := client.Get("http://" + r.metrics + "/metrics")
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	lines := bufio.NewScanner(io.LimitReader(answer.Body, maxMetrics))
	for lines.Scan() {
		if m := working.FindSubmatch(lines.Bytes()); m != nil {
			return fmt.Sprintf("the controller %s is at work", m[1])
		}
	}
	return ""
}
