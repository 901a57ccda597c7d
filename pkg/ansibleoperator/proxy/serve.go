package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// maxBody is the limit of bodies that the proxy reads. API servers accept 3 MiB.
	maxBody  = 8 << 20
	jsonType = "application/json"
)

// errTooLarge is the error of a body with more than maxBody bytes.
var errTooLarge = fmt.Errorf("the body has more than %d MiB", maxBody>>20)

func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err == nil && len(data) > maxBody {
		err = errTooLarge
	}
	return data, err
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	run := p.authenticate(r)
	if run == nil {
		p.config.Log.Info("refused a request without the token of a current run", "method", r.Method, "path", r.URL.Path, "from", r.RemoteAddr)
		p.writeStatus(w, r.Method, apierrors.NewUnauthorized("the proxy of the operator requires the token of a current run; use the kubeconfig of the run (KUBECONFIG, K8S_AUTH_KUBECONFIG)"))
		return
	}
	if p.config.REST.Impersonate.UserName != "" && isImpersonated(r) {
		// The headers would replace or extend the user that the configuration of the operator selects.
		p.writeStatus(w, r.Method, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("the operator itself impersonates a user; no other can be impersonated")))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(run.ctx, cancel)()
	x := &exchange{run: run, request: r.WithContext(ctx)}
	x.target, x.isResource = parseTarget(r.URL.Path)
	x.target.isWatch = x.target.isWatch || isWatch(r)
	var err error
	if x.isDryRun, err = isDryRun(x); err == nil {
		err = p.reportSent(x)
	}
	if err == nil {
		err = p.edit(x)
	}
	if err != nil {
		p.writeStatus(w, r.Method, err)
		return
	}
	p.prepare(x)
	defer p.track(x)()
	if p.serveCached(w, x) {
		return
	}
	p.forwarder.ServeHTTP(w, x.request.WithContext(context.WithValue(ctx, exchangeKey{}, x)))
}

// isImpersonated reports whether a request is one of another user or group.
func isImpersonated(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// An exchange is a request of a run and its response.
type exchange struct {
	run     *run
	request *http.Request
	// target is set if isResource is.
	target     target
	isResource bool
	// isDryRun is set if the request changes nothing.
	isDryRun bool
	// observed is set if the response is read by the proxy.
	observed bool
	// read is set if the response may be stored in the cache.
	read *pendingRead
}

// exchangeKey is the key of the exchange in the context of a request.
type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// newForwarder returns a handler that forwards requests to the API server.
func (p *Proxy) newForwarder() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.base)
			// The address of the API server must not depend on the proxy's.
			r.Out.Host = ""
			// The operator's credentials replace the run's. Impersonation is kept: the API server decides whether the operator is
			// permitted to impersonate, and without it, the request would have more permissions than the client asked for.
			r.Out.Header.Del("Authorization")
			// The server of the proxy has answered it, or does when the body is read; a second answer of the API server would follow.
			r.Out.Header.Del("Expect")
			for name := range r.Out.Header {
				if strings.HasPrefix(name, "X-Remote-") {
					r.Out.Header.Del(name)
				}
			}
		},
		Transport:      roundTripper(p.roundTrip),
		ModifyResponse: p.observe,
		FlushInterval:  -1,
		ErrorLog:       log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				// The client has closed the connection, or its run has ended.
				p.writeStatus(w, r.Method, apierrors.NewUnauthorized("the run has ended"))
				return
			}
			p.config.Log.Info("cannot forward a request", "method", r.Method, "path", r.URL.Path, "error", err.Error())
			p.writeStatus(w, r.Method, unreachable(err))
		},
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (p *Proxy) roundTrip(r *http.Request) (*http.Response, error) {
	if isUpgrade(r) {
		return p.upgrade.RoundTrip(r)
	}
	return p.transport.RoundTrip(r)
}

// get sends a request of the proxy itself.
func (p *Proxy) get(ctx context.Context, path, accept string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base.JoinPath(path).String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	return p.transport.RoundTrip(request)
}

// unreachable returns the error of requests that the API server does not answer.
func unreachable(err error) *apierrors.StatusError {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("the proxy of the operator cannot reach the API server: %v", err))
}

// writeStatus writes an error as the API server does. An error that is not one of its kind is caused by the request.
func (p *Proxy) writeStatus(w http.ResponseWriter, method string, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewBadRequest(err.Error())
	}
	s := status.Status()
	s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	p.count(method, int(s.Code), "")
	w.Header().Set("Content-Type", jsonType)
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(s.Code))
	_, _ = w.Write(body.Bytes())
}
