package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/dependents"
)

const (
	// headerTimeout is the time that a client has to send the header of a request.
	headerTimeout = 30 * time.Second
	// drainTimeout is the time that open requests have when the proxy stops. Runs have ended by then.
	drainTimeout = time.Second
)

// Config are the settings of a Proxy.
type Config struct {
	// REST is how the operator accesses the API server. Requests are forwarded with its credentials.
	REST *rest.Config
	// HTTPClient is the client for REST (default: a new one).
	HTTPClient *http.Client
	// Mapper maps kinds to resources.
	Mapper meta.RESTMapper
	// Port is the port on 127.0.0.1; 0 for any that is free.
	Port int
	// Namespaces are the namespaces that the operator watches; none for all.
	Namespaces []string
	// OwnerKinds are the kinds of custom resources that have runs (default: the kinds of the runs so far).
	OwnerKinds []schema.GroupKind
	// InjectOwnerReferences adds the owner to objects that a run creates.
	InjectOwnerReferences bool
	// Registry receives the metrics; nil for none.
	Registry prometheus.Registerer
	// Log receives refused requests and failed watches. It never receives tokens or bodies.
	Log logr.Logger
}

// A Proxy is an HTTPS server on 127.0.0.1 that forwards requests of runs to the API server. The documentation of the package describes
// what it changes. It is a runnable of controller-runtime's manager.
type Proxy struct {
	config   Config
	base     *url.URL
	listener net.Listener
	identity *identity

	// transport sends requests. upgrade sends requests that change the protocol of their connection, which HTTP/2 cannot do.
	transport, upgrade http.RoundTripper
	forwarder          *httputil.ReverseProxy
	resources          *resources
	watcher            *dependents.Watcher
	cache              *readCache
	requests           *prometheus.CounterVec
	now                func() time.Time
	ownerKinds         atomic.Pointer[map[schema.GroupKind]bool]

	mu     sync.Mutex
	runs   map[tokenHash]*run
	kinds  map[schema.GroupKind]ownerKind
	owners map[ownerKey]*ownerState
	// watched are the resources with a watch, and the version that it uses.
	watched      map[schema.GroupResource]schema.GroupVersionKind
	watchedKinds map[schema.GroupVersionKind]schema.GroupResource
}

// New returns a proxy that listens, but serves only after Start.
func New(config Config) (*Proxy, error) {
	base, _, err := rest.DefaultServerUrlFor(config.REST)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	p := &Proxy{
		config: config, base: base, now: time.Now, runs: map[tokenHash]*run{}, kinds: map[schema.GroupKind]ownerKind{},
		owners: map[ownerKey]*ownerState{}, watched: map[schema.GroupResource]schema.GroupVersionKind{},
		watchedKinds: map[schema.GroupVersionKind]schema.GroupResource{}, cache: newReadCache(),
	}
	p.ownerKinds.Store(&map[schema.GroupKind]bool{})
	p.addOwnerKinds(config.OwnerKinds...)
	if config.HTTPClient != nil {
		p.transport = config.HTTPClient.Transport
	} else if p.transport, err = rest.TransportFor(config.REST); err != nil {
		return nil, err
	}
	if p.transport == nil {
		p.transport = http.DefaultTransport
	}
	upgrade := rest.CopyConfig(config.REST)
	upgrade.NextProtos = []string{"http/1.1"}
	if p.upgrade, err = rest.TransportFor(upgrade); err != nil {
		return nil, err
	}
	if p.identity, err = newIdentity(); err != nil {
		return nil, fmt.Errorf("creating the certificate of the proxy: %w", err)
	}
	p.watcher, err = dependents.NewWatcher(dependents.Options{
		REST: config.REST, HTTPClient: config.HTTPClient, Mapper: config.Mapper, Namespaces: config.Namespaces, Keep: p.isKept, Observer: observer{p},
		// It is a copy of the object, which can be large and secret.
		Reduce: func(obj *metav1.PartialObjectMetadata) { delete(obj.Annotations, corev1.LastAppliedConfigAnnotation) },
		Log:    config.Log,
	})
	if err != nil {
		return nil, err
	}
	if p.requests, err = newRequestCounter(config.Registry); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	p.resources = newResources(p.get)
	p.forwarder = p.newForwarder()
	p.listener, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(config.Port)))
	if err != nil {
		return nil, fmt.Errorf("listening on port %d of 127.0.0.1: %w; choose another one with --proxy-port, or 0 for any", config.Port, err)
	}
	return p, nil
}

// Port returns the port on which the proxy listens.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// NeedLeaderElection returns false: the proxy serves the runs of the process, wherever they come from.
func (p *Proxy) NeedLeaderElection() bool { return false }

// Start serves until ctx ends.
func (p *Proxy) Start(ctx context.Context) error {
	server := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          log.New(io.Discard, "", 0),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{p.identity.certificate}, MinVersion: tls.VersionTLS12},
		// Clients must be able to upgrade connections, and HTTP/2 has no use within a machine.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	var group sync.WaitGroup
	group.Go(func() { p.watcher.Start(ctx) }) //nolint:errcheck // It returns nil when ctx ends.
	group.Go(func() {
		<-ctx.Done()
		drained, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if server.Shutdown(drained) != nil {
			server.Close()
		}
	})
	if err := server.ServeTLS(p.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("proxy: %w", err)
	}
	group.Wait()
	return nil
}
