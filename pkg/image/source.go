package image

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/operon-sdk/operon/pkg/transport"
)

// source is a location of an image: its registry, or a mirror of it.
type source struct {
	ref       name.Reference
	keys      *keychain
	transport http.RoundTripper
	// pushing reports that the image is pushed, not read.
	pushing bool
}

// sources returns the locations of an image: first r.Mirrors, then registries.conf.
func (r Registries) sources(ref name.Reference) ([]source, error) {
	rest := ref.Context().RepositoryStr() + ":" + ref.Identifier()
	if _, ok := ref.(name.Digest); ok {
		rest = ref.Context().RepositoryStr() + "@" + ref.Identifier()
	}
	host := ref.Context().RegistryStr()
	var ends []endpoint
	if mirror, ok := r.Mirrors[host]; ok {
		ends = append(ends, endpoint{ref: mirror + "/" + rest})
	}
	configuredHost := host
	if configuredHost == name.DefaultRegistry {
		configuredHost = "docker.io"
	}
	configured, err := r.Settings.endpoints(configuredHost + "/" + rest)
	if err != nil {
		return nil, err
	}
	var all []source
	for _, end := range append(ends, configured...) {
		at := r
		if host, _, _ := strings.Cut(end.ref, "/"); end.insecure {
			at.PlainHTTP, at.SkipVerify = append(slices.Clip(r.PlainHTTP), host), append(slices.Clip(r.SkipVerify), host)
		}
		parsed, err := parse(end.ref, at.PlainHTTP)
		if err != nil {
			return nil, fmt.Errorf("its mirror %s: %w", end.ref, err)
		}
		all = append(all, at.source(parsed))
	}
	return all, nil
}

func (s source) options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(s.keys), remote.WithTransport(s.transport)}
}

// digest fetches the digest of the image.
func (s source) digest(ctx context.Context) (string, error) {
	options := s.options(ctx)
	head, err := remote.Head(s.ref, options...)
	if err == nil {
		return head.Digest.String(), nil
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return "", s.explain(err)
	}
	// Some registries do not support HEAD.
	got, err := remote.Get(s.ref, options...)
	if err == nil {
		return got.Digest.String(), nil
	}
	return "", s.explain(err)
}

func (r Registries) source(ref name.Reference) source {
	keys := r.keychain()
	return source{ref: ref, keys: keys, transport: r.transport(ref.Context().RegistryStr(), keys)}
}

// transport returns the transport of requests for an image of a registry.
func (r Registries) transport(registry string, keys *keychain) http.RoundTripper {
	base := r.Transport
	if base == nil {
		base = remote.DefaultTransport
	}
	t := &registryTransport{
		registry: registry, keys: keys, skipVerify: r.SkipVerify, plainHTTP: r.PlainHTTP,
		tlsOnly:   slices.Contains(r.SkipVerify, registry) && !slices.Contains(r.PlainHTTP, registry),
		verifying: r.limited(base),
	}
	t.skipping = t.verifying
	if plain, ok := base.(*http.Transport); ok && len(r.SkipVerify) > 0 {
		skipping := plain.Clone()
		if skipping.TLSClientConfig == nil {
			skipping.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		skipping.TLSClientConfig.InsecureSkipVerify = true // only for hosts that the user has given
		t.skipping = r.limited(skipping)
	}
	return t
}

func (r Registries) limited(base http.RoundTripper) http.RoundTripper {
	return &transport.Transport{Base: base, Limits: r.Limits, IsBlob: downloadsBlob, Notify: r.Notify}
}

// downloadsBlob reports whether a request is for a blob, or was redirected from one.
func downloadsBlob(request *http.Request) bool {
	for request.Response != nil && request.Response.Request != nil {
		request = request.Response.Request
	}
	return request.Method == http.MethodGet && strings.Contains(request.URL.Path, "/blobs/")
}

// registryTransport sends the requests for the images of a registry. It does not verify the certificates of the hosts in
// skipVerify.
//
// The registry library uses plain HTTP for private hosts, and registries may redirect to it or name such URLs for tokens. For
// hosts that are not in plainHTTP, it is refused if credentials would be sent, or always with tlsOnly.
type registryTransport struct {
	registry              string
	keys                  *keychain
	skipVerify, plainHTTP []string
	tlsOnly               bool
	skipping, verifying   http.RoundTripper
}

func (t *registryTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.checkPlainHTTP(request); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	base := t.verifying
	if slices.Contains(t.skipVerify, request.URL.Host) {
		base = t.skipping
	}
	response, err := base.RoundTrip(request)
	if err != nil || request.Method != http.MethodGet || response.StatusCode != http.StatusOK || !strings.Contains(request.URL.Path, "/manifests/") {
		return response, err
	}
	data, err := io.ReadAll(response.Body)
	if err == nil {
		err = checkDocument(data, maxListed)
	}
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(data))
	return response, nil
}

func (t *registryTransport) checkPlainHTTP(request *http.Request) error {
	host := request.URL.Host
	switch {
	case request.URL.Scheme != "http" || slices.Contains(t.plainHTTP, host):
		return nil
	case t.tlsOnly:
		return errPlainHTTP
	case !t.keys.used.Load():
		return nil
	case host == t.registry:
		return &plainCredentialsError{host: host}
	case request.Header.Get("Authorization") != "" || request.Method == http.MethodPost: // OAuth has a token in the body
		return &plainCredentialsError{host: host, address: "http://" + host + request.URL.Path}
	}
	return nil
}

// plainCredentialsError reports a request that was not sent over plain HTTP because it contains credentials.
type plainCredentialsError struct {
	host string
	// address is the URL of the request if it was not for the registry.
	address string
}

func (e *plainCredentialsError) Error() string {
	return "credentials are not sent over plain HTTP; if that is intended, allow it with --insecure-registry " + e.host
}

var errPlainHTTP = errors.New("plain HTTP is not allowed by --skip-tls-verify; pass --use-http to send requests, credentials included, without encryption")
