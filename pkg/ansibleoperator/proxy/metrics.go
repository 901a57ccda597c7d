package proxy

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-sdk/operon/pkg/customresource"
)

// newRequestCounter returns the number of requests. It is registered, unless registry is nil; several proxies of a process share it.
func newRequestCounter(registry prometheus.Registerer) (*prometheus.CounterVec, error) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ansible_operator_proxy_requests_total",
		Help: "Number of requests of runs to the API server",
	}, []string{"method", "code", "cache"})
	if registry == nil {
		return counter, nil
	}
	return counter, customresource.Register(registry, &counter)
}

// count counts a response. Methods that no API server supports are counted as one.
func (p *Proxy) count(method string, code int, cache string) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	p.requests.WithLabelValues(method, strconv.Itoa(code), cache).Inc()
}
