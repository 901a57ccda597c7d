package ansibleoperator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// DefaultMetricsAddress is the address that the module osdk_metric of the collection operator_sdk.util sends metrics to.
const DefaultMetricsAddress = "127.0.0.1:5050"

const (
	// maxUserMetrics limits the number of metrics that runs create.
	maxUserMetrics     = 1000
	maxUserMetricBytes = 64 << 10
	userMetricTimeout  = 10 * time.Second
)

var metricName = lazyregexp.New(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// userMetrics is a server on the local host that adds metrics of runs to a registry.
type userMetrics struct {
	address  string
	registry prometheus.Registerer
	log      logr.Logger

	mu         sync.Mutex
	collectors map[string]userCollector
}

// A userCollector is a metric with its type. The interfaces of types have methods in common.
type userCollector struct {
	kind      string
	collector prometheus.Collector
}

func newUserMetrics(address string, registry prometheus.Registerer, log logr.Logger) *userMetrics {
	if address == "" {
		address = DefaultMetricsAddress
	}
	return &userMetrics{address: address, registry: registry, log: log, collectors: map[string]userCollector{}}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (u *userMetrics) NeedLeaderElection() bool { return false }

// Start serves until ctx ends. An address in use is logged only, as few roles have metrics.
func (u *userMetrics) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", u.address)
	if err != nil {
		u.log.Info("tasks with osdk_metric will fail or reach another operator, as its address cannot be used", "address", u.address, "problem", err.Error())
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /metrics", u.serve)
	server := &http.Server{Handler: mux, ReadTimeout: userMetricTimeout, WriteTimeout: userMetricTimeout}
	go func() {
		<-ctx.Done()
		_ = server.Close() // the runs have ended
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics of runs: %w", err)
	}
	return nil
}

// A userMetric is a request of osdk_metric: one of the four types and what to do with the value.
type userMetric struct {
	Name      string         `json:"name"`
	Help      string         `json:"description"`
	Counter   *userCounter   `json:"counter"`
	Gauge     *userGauge     `json:"gauge"`
	Histogram *userObserver  `json:"histogram"`
	Summary   *userObserver  `json:"summary"`
	Labels    map[string]any `json:"labels"`
}

type userCounter struct {
	Increment bool    `json:"increment"`
	Add       float64 `json:"add"`
}

type userGauge struct {
	SetToCurrentTime bool     `json:"set_to_current_time"`
	Set              *float64 `json:"set"`
	Increment        bool     `json:"increment"`
	Decrement        bool     `json:"decrement"`
	Add              float64  `json:"add"`
	Subtract         float64  `json:"subtract"`
}

type userObserver struct {
	Observe *float64 `json:"observe"`
}

func (u *userMetrics) serve(w http.ResponseWriter, r *http.Request) {
	var metric userMetric
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxUserMetricBytes)).Decode(&metric)
	if err == nil {
		err = u.apply(metric)
	}
	if err != nil {
		u.log.Info("rejected a metric", "name", metric.Name, "problem", err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// apply creates or changes a metric.
func (u *userMetrics) apply(m userMetric) error {
	if !metricName.MatchString(m.Name) {
		return fmt.Errorf("name %q: must be a metric name of letters, digits, underscores and colons", m.Name)
	}
	given := 0
	for _, is := range []bool{m.Counter != nil, m.Gauge != nil, m.Histogram != nil, m.Summary != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("exactly one of counter, gauge, histogram and summary is required")
	case len(m.Labels) > 0:
		return errors.New("labels are not supported")
	case m.Help == "":
		return errors.New("description is required")
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case m.Counter != nil:
		return u.count(m)
	case m.Gauge != nil:
		return u.gauge(m)
	case m.Histogram != nil:
		histogram, err := collector(u, "histogram", m.Name, func() prometheus.Histogram {
			return prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.Name, Help: m.Help})
		})
		return observe(histogram, m.Histogram, err)
	default:
		summary, err := collector(u, "summary", m.Name, func() prometheus.Summary {
			return prometheus.NewSummary(prometheus.SummaryOpts{Name: m.Name, Help: m.Help})
		})
		return observe(summary, m.Summary, err)
	}
}

// collector returns the metric with a name, which it creates and registers if there is none.
func collector[C prometheus.Collector](u *userMetrics, kind, name string, create func() C) (C, error) {
	if existing, ok := u.collectors[name]; ok {
		typed, ok := existing.collector.(C)
		if !ok || existing.kind != kind {
			return typed, fmt.Errorf("metric %s is a %s", name, existing.kind)
		}
		return typed, nil
	}
	created := create()
	if len(u.collectors) >= maxUserMetrics {
		return created, fmt.Errorf("metric %s: there are %d metrics already", name, maxUserMetrics)
	}
	if err := u.registry.Register(created); err != nil {
		return created, fmt.Errorf("metric %s is one of the operator; choose another name", name)
	}
	u.collectors[name] = userCollector{kind, created}
	return created, nil
}

func (u *userMetrics) count(m userMetric) error {
	if m.Counter.Add < 0 {
		return fmt.Errorf("counter %s: must not decrease", m.Name)
	}
	counter, err := collector(u, "counter", m.Name, func() prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: m.Name, Help: m.Help})
	})
	if err != nil {
		return err
	}
	if m.Counter.Increment {
		counter.Inc()
	}
	counter.Add(m.Counter.Add)
	return nil
}

func (u *userMetrics) gauge(m userMetric) error {
	gauge, err := collector(u, "gauge", m.Name, func() prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: m.Help})
	})
	if err != nil {
		return err
	}
	if m.Gauge.Set != nil {
		gauge.Set(*m.Gauge.Set)
	}
	if m.Gauge.SetToCurrentTime {
		gauge.SetToCurrentTime()
	}
	if m.Gauge.Increment {
		gauge.Inc()
	}
	if m.Gauge.Decrement {
		gauge.Dec()
	}
	gauge.Add(m.Gauge.Add)
	gauge.Sub(m.Gauge.Subtract)
	return nil
}

func observe(o prometheus.Observer, value *userObserver, err error) error {
	if err == nil && value.Observe != nil {
		o.Observe(*value.Observe)
	}
	return err
}
