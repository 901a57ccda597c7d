package gateway

import (
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the options of Start.
type Options struct {
	// URL is the URL of the API server, CAData its certificate authority in PEM, and Token a bearer token that it accepts.
	URL    string
	CAData []byte
	Token  string
	// Transport, if it isn't nil, sends requests to the API server instead of CAData and Token, and authenticates them.
	Transport http.RoundTripper
	// DryRun, if it isn't nil, makes each write a dry run. Rules don't apply then.
	DryRun *DryRun
	// Seed chooses the requests that rules with a share apply to.
	Seed uint64
	// Record is called for each request before the program gets the answer, by several goroutines at a time. It may be nil.
	Record func(Record)
}

// A Gateway is a running proxy.
type Gateway struct {
	// URL is the address of the gateway.
	URL string

	authority *authority
	serving   atomic.Pointer[tls.Certificate]
	server    *http.Server
	proxy     *httputil.ReverseProxy
	backend   *url.URL
	transport http.RoundTripper
	listener  *listener
	token     string
	seed      uint64
	record    func(Record)
	dryRun    *DryRun
	elections elections

	mu      sync.Mutex
	rules   []*activeRule
	tokens  []string
	watches map[*http.Request]context.CancelFunc
	// failing is the number of requests that the API server couldn't be reached for.
	failing int
}

// Start starts a gateway on a free port of 127.0.0.1, which accepts no token yet. The caller must call Stop.
func Start(o Options) (*Gateway, error) {
	backend, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		watches: map[*http.Request]context.CancelFunc{}, token: o.Token, seed: o.Seed, record: o.Record,
		backend: backend, transport: o.Transport, dryRun: o.DryRun, elections: elections{leases: map[string]lease{}},
	}
	if g.transport == nil {
		if g.transport, err = newTransport(o.CAData); err != nil {
			return nil, err
		}
	}
	if g.dryRun != nil {
		g.transport = guard{g.transport}
	}
	if g.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	if err := g.issue(); err != nil {
		return nil, err
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g.listener = &listener{Listener: tcp, open: map[*conn]bool{}}
	g.URL = "https://" + tcp.Addr().String()
	quiet := log.New(io.Discard, "", 0)
	g.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(backend)
			g.authenticate(r.Out)
			if x := exchangeOf(r.In); x.IsWrite() {
				r.Out.Header.Del("Accept-Encoding") // the gateway reads the answer
			}
		},
		ModifyResponse: func(answer *http.Response) error { return exchangeOf(answer.Request).answered(answer) },
		Transport:      g.transport,
		FlushInterval:  -1,
		ErrorLog:       quiet,
		// An API server that doesn't run refuses connections, it doesn't answer 502.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			g.mu.Lock()
			g.failing++
			g.mu.Unlock()
			panic(http.ErrAbortHandler)
		},
	}
	g.server = &http.Server{
		Handler:  http.HandlerFunc(g.serve),
		ErrorLog: quiet,
		TLSConfig: &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return g.serving.Load(), nil },
		},
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1000},
	}
	go func() { _ = g.server.ServeTLS(g.listener, "", "") }() // ends with Stop
	return g, nil
}

// newTransport returns a transport to the API server with a certificate authority.
func newTransport(ca []byte) (http.RoundTripper, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the certificate authority of the API server can't be parsed")
	}
	return &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // the program decides
		MaxIdleConnsPerHost: 100,
	}, nil
}

// authenticate replaces the program's credentials with the gateway's own, unless Options.Transport adds them.
func (g *Gateway) authenticate(r *http.Request) {
	r.Header.Del("Authorization")
	if g.token != "" {
		r.Header.Set("Authorization", "Bearer "+g.token)
	}
}

// Stop closes all connections.
func (g *Gateway) Stop() {
	_ = g.server.Close() // the listener is closed in any case
	if transport, ok := g.transport.(*http.Transport); ok {
		transport.CloseIdleConnections()
	}
}

// Add adds a rule after the others. The returned function removes it.
func (g *Gateway) Add(rule Rule) (remove func()) {
	added := &activeRule{Rule: rule, occurrences: map[string]int{}}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = append(g.rules, added)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.rules = slices.DeleteFunc(g.rules, func(r *activeRule) bool { return r == added })
	}
}

// Unreached returns the number of requests that didn't reach the API server because it wasn't running.
func (g *Gateway) Unreached() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failing
}

// CutWatches ends all watches with a reset, and returns their number.
func (g *Gateway) CutWatches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, cancel := range g.watches {
		cancel()
	}
	return len(g.watches)
}

// serve handles one request.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	request, err := parseRequest(r)
	if err != nil {
		panic(http.ErrAbortHandler) // the program has gone
	}
	x := &Exchange{Record: Record{Request: request, Start: start, UserAgent: r.UserAgent()}, gateway: g, writer: w}
	defer x.end()
	ctx := context.WithValue(r.Context(), exchangeKey{}, x)
	x.request = r.WithContext(ctx)
	if !g.authenticated(r) {
		x.reply(http.StatusUnauthorized, "Unauthorized", "Unauthorized", 0)
		return
	}
	if request.Verb == "watch" {
		ctx, cancel := context.WithCancel(ctx)
		x.request = r.WithContext(ctx)
		g.mu.Lock()
		g.watches[r] = cancel
		g.mu.Unlock()
		defer func() {
			cancel()
			g.mu.Lock()
			delete(g.watches, r)
			g.mu.Unlock()
		}()
	}
	if g.dryRun != nil {
		x.forwardDry(g.dryRun)
		return
	}
	cmp.Or(g.faultFor(request), &activeRule{Rule: Rule{Fault: (*Exchange).Forward}}).Fault(x)
}

// faultFor returns the first rule that applies, or nil.
func (g *Gateway) faultFor(request Request) *activeRule {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, rule := range g.rules {
		if rule.take(request, g.seed) {
			return rule
		}
	}
	return nil
}

func (g *Gateway) authenticated(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g.mu.Lock()
	defer g.mu.Unlock()
	return ok && slices.ContainsFunc(g.tokens, func(accepted string) bool {
		return subtle.ConstantTimeCompare([]byte(token), []byte(accepted)) == 1
	})
}

// SetTokens replaces the bearer tokens that the gateway accepts.
func (g *Gateway) SetTokens(tokens ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens = slices.Clone(tokens)
}

// Kubeconfig returns a kubeconfig for the gateway whose token is read from a file.
func (g *Gateway) Kubeconfig(tokenFile string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: gateway
clusters:
- name: gateway
  cluster: {server: %q, certificate-authority-data: %s}
contexts:
- name: gateway
  context: {cluster: gateway, user: gateway, namespace: default}
users:
- name: gateway
  user: {tokenFile: %q}
`, g.URL, g.authority.encoded(), tokenFile)
}
