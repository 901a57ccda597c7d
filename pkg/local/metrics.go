package local

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// metricsTimeout is the timeout of a request for the metrics of the manager, and maxMetrics the size of the answer that is read.
const (
	metricsTimeout = 2 * time.Second
	maxMetrics     = 4 << 20
)

// These match metrics of controller-runtime.
var (
	// working is a resource that is being reconciled, or waits for it.
	working = lazyregexp.New(`^(?:controller_runtime_active_workers|workqueue_depth)\{(?:.*,)?controller="([^"]*)".*\} [1-9]`)
	// results counts how calls of a reconciler ended.
	results = lazyregexp.New(`^controller_runtime_reconcile_total\{(?:.*,)?result="([^"]*)".*\} (\S+)$`)
)

// reconciling says which controller of the manager is at work, by its metrics, or "". It is "", too, if there are none.
func (r *runner) reconciling() string {
	controller := ""
	r.eachMetric(func(line []byte) {
		if m := working.FindSubmatch(line); m != nil && controller == "" {
			controller = string(m[1])
		}
	})
	if controller == "" {
		return ""
	}
	return fmt.Sprintf("the controller %s is at work", controller)
}

// retries returns how many calls of reconcilers have failed or asked for another call, and whether the metrics say so.
func (r *runner) retries() (n int, known bool) {
	r.eachMetric(func(line []byte) {
		m := results.FindSubmatch(line)
		if m == nil {
			return
		}
		count, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return
		}
		known = true
		if string(m[1]) != "success" {
			n += int(count)
		}
	})
	return n, known
}

// eachMetric calls a function with each line of the manager's metrics, if it serves them.
func (r *runner) eachMetric(do func(line []byte)) {
	if r.metrics == "" {
		return
	}
	client := &http.Client{Timeout: metricsTimeout}
	answer, err := client.Get("http://" + r.metrics + "/metrics")
	if err != nil {
		return
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	lines := bufio.NewScanner(io.LimitReader(answer.Body, maxMetrics))
	for lines.Scan() {
		do(lines.Bytes())
	}
}
