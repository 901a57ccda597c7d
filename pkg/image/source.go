package image

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// source is a place where an image may be: its registry, or a mirror of it.
type source struct {
	ref       name.Reference
	keys      *keychain
	transport http.RoundTripper
	// pushing tells that the image is not read, but written.
	pushing bool
}

// sources are where an image may be: in the mirrors that the caller names, then where registries.conf says.
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
	known := host
	if known == name.DefaultRegistry {
		known = "docker.io"
	}
	configured, err := r.Settings.endpoints(known + "/" + rest)
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
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(s.keys)}
	if s.transport != nil {
		options = append(options, remote.WithTransport(s.transport))
	}
	return options
}

// digest asks for the digest of the image.
func (s source) digest(ctx context.Context) (string, error) {
	options := s.options(ctx)
	head, err := remote.Head(s.ref, options...)
	if err == nil {
		return head.Digest.String(), nil
	}
	// Some registries do not answer HEAD.
	got, err := remote.Get(s.ref, options...)
	if err == nil {
		return got.Digest.String(), nil
	}
	return "", s.explain(err)
}

func (r Registries) source(ref name.Reference) source {
	return source{ref: ref, keys: r.keychain(), transport: r.transport(ref.Context().RegistryStr())}
}

// transport carries the requests about an image of a registry.
func (r Registries) transport(registry string) http.RoundTripper {
	if len(r.SkipVerify) == 0 {
		return r.Transport
	}
	verifying := r.Transport
	if verifying == nil {
		verifying = remote.DefaultTransport
	}
	t := &skipVerifyTransport{
		hosts: r.SkipVerify, plainHTTP: r.PlainHTTP, tlsOnly: slices.Contains(r.SkipVerify, registry) && !slices.Contains(r.PlainHTTP, registry),
		skipping: verifying, verifying: verifying,
	}
	if plain, ok := verifying.(*http.Transport); ok {
		skipping := plain.Clone()
		if skipping.TLSClientConfig == nil {
			skipping.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		skipping.TLSClientConfig.InsecureSkipVerify = true // of the hosts that the user names only
		t.skipping = skipping
	}
	return t
}

// skipVerifyTransport does not verify the certificates of some hosts. With tlsOnly it refuses plain HTTP, which
// the registry library tries with private hosts and redirects may lead to, but for the hosts in plainHTTP.
type skipVerifyTransport struct {
	hosts, plainHTTP    []string
	tlsOnly             bool
	skipping, verifying http.RoundTripper
}

func (t *skipVerifyTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.tlsOnly && request.URL.Scheme == "http" && !slices.Contains(t.plainHTTP, request.URL.Host) {
		return nil, errPlainHTTP
	}
	if slices.Contains(t.hosts, request.URL.Host) {
		return t.skipping.RoundTrip(request)
	}
	return t.verifying.RoundTrip(request)
}

var errPlainHTTP = errors.New("plain HTTP is not allowed by --skip-tls-verify; give --use-http to send requests, credentials included, without encryption")
