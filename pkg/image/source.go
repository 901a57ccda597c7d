package image

import (
	"context"
	"crypto/tls"
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
		insecure := r.Insecure
		if host, _, _ := strings.Cut(end.ref, "/"); end.insecure {
			insecure = append(slices.Clip(insecure), host)
		}
		parsed, err := parse(end.ref, insecure)
		if err != nil {
			return nil, fmt.Errorf("its mirror %s: %w", end.ref, err)
		}
		all = append(all, source{ref: parsed, keys: r.keychain(), transport: r.transport(insecure)})
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

// transport does not ask insecure hosts for a certificate that somebody vouches for.
func (r Registries) transport(insecure []string) http.RoundTripper {
	plain, ok := r.Transport.(*http.Transport)
	if r.Transport == nil {
		plain, ok = remote.DefaultTransport.(*http.Transport)
	}
	if !ok || len(insecure) == 0 {
		return r.Transport
	}
	trusting := plain.Clone()
	if trusting.TLSClientConfig == nil {
		trusting.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	trusting.TLSClientConfig.InsecureSkipVerify = true // of the hosts that the user names only
	return byHost{insecure: insecure, trusting: trusting, rest: plain}
}

type byHost struct {
	insecure       []string
	trusting, rest http.RoundTripper
}

func (b byHost) RoundTrip(request *http.Request) (*http.Response, error) {
	if slices.Contains(b.insecure, request.URL.Host) {
		return b.trusting.RoundTrip(request)
	}
	return b.rest.RoundTrip(request)
}
