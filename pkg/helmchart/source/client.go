package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/operon-sdk/operon/pkg/transport"
)

// maxRedirects is the number of redirects of one request, as in package net/http.
const maxRedirects = 10

// errOffline is the error of a request that --offline forbids.
var errOffline = errors.New("network access is not allowed (--offline)")

// baseTransport returns the transport of all requests, which limits their time.
func baseTransport(config *tls.Config) http.RoundTripper {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.TLSClientConfig = config
	base.DisableCompression = true // archives are compressed already
	return &transport.Transport{Base: base}
}

// download returns the body of a URL. The entry has the credentials and the TLS configuration; nil is none.
func (f *fetcher) download(ctx context.Context, e *entry, u *url.URL) ([]byte, error) {
	where := displayed(u.String())
	if f.offline {
		return nil, fmt.Errorf("%s: %w", where, errOffline)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: unsupported scheme %q; use https, http or oci", where, u.Scheme)
	}
	config, err := e.tlsConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	bare := *u
	bare.User = nil
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("%s: not a valid URL", where)
	}
	if user, password, ok := e.credentialsFor(u); ok {
		request.SetBasicAuth(user, password)
	}
	client := &http.Client{Transport: baseTransport(config), CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if !sameHost(via[0].URL, next.URL) && !e.passesAll() {
			next.Header.Del("Authorization")
		}
		return checkRedirect(next, via)
	}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok { // its text has the URL
			err = inner.Err
		}
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("%s: %s; add the repository with its credentials ('helm repo add --username')", where, response.Status)
	default:
		return nil, fmt.Errorf("%s: %w", where, &statusError{response.StatusCode, response.Status})
	}
	data, err := readLimited(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return data, nil
}

// checkRedirect returns an error for a redirect that turns off TLS.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch last := via[len(via)-1]; {
	case len(via) > maxRedirects:
		return errors.New("too many redirects")
	case last.URL.Scheme == "https" && next.URL.Scheme != "https":
		return errors.New("redirects to a URL without TLS")
	}
	return nil
}

// A statusError is a response that is not a success.
type statusError struct {
	code   int
	status string
}

func (e *statusError) Error() string { return e.status }

// tlsConfig returns the TLS configuration of a repository. Its CA is used in addition to the system's.
func (e *entry) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if e == nil {
		return config, nil
	}
	config.InsecureSkipVerify = e.InsecureSkipTLSVerify //nolint:gosec // the user's decision, in repositories.yaml
	if e.CAFile != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		pem, err := os.ReadFile(e.CAFile)
		if err != nil {
			return nil, fmt.Errorf("certificate authority %s: %w", e.CAFile, withoutPath(err))
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authority %s: no certificate in PEM format", e.CAFile)
		}
		config.RootCAs = pool
	}
	if e.CertFile != "" || e.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(e.CertFile, e.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// credentialsFor returns the credentials for a URL: from the URL itself, or the repository's if the URL is on its host or
// the user passes them to all hosts.
func (e *entry) credentialsFor(u *url.URL) (user, password string, ok bool) {
	if u.User != nil {
		password, _ = u.User.Password()
		return u.User.Username(), password, true
	}
	if e == nil || e.Username == "" && e.Password == "" {
		return "", "", false
	}
	if base, err := url.Parse(e.URL); err != nil || !e.PassCredentialsAll && !sameHost(base, u) {
		return "", "", false
	}
	return e.Username, e.Password, true
}

func (e *entry) passesAll() bool { return e != nil && e.PassCredentialsAll }
