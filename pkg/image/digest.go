package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/operon-sdk/operon/pkg/image/reference"
	"github.com/operon-sdk/operon/pkg/transport"
)

// ErrUnreachable tells that no registry answered, so that nothing is known of an image.
var ErrUnreachable = errors.New("the registry cannot be reached")

// Registries is how registries are reached.
type Registries struct {
	// Transport carries the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Limits bounds the time and the size of requests.
	Limits transport.Limits
	// Notify, if not nil, is called for requests that take long, with the host and what it is to do.
	Notify func(host, waiting string)
	// PlainHTTP are hosts to contact over plain HTTP where they do not serve TLS: requests, credentials
	// included, are not encrypted then.
	PlainHTTP []string
	// SkipVerify are hosts whose certificates are not verified. They are never contacted over plain HTTP
	// unless they are in PlainHTTP, too.
	SkipVerify []string
	// Mirrors are asked before the registry that they stand in for: host → host, or host/path.
	Mirrors map[string]string
	// Settings are what docker and podman know of registries.
	Settings Settings
	// Keychain has the credentials; nil is those of Settings.
	Keychain authn.Keychain
}

// Digest asks a registry for the digest of an image, such as sha256:….
func (r Registries) Digest(ctx context.Context, ref string) (string, error) {
	parsed, err := parse(ref, r.PlainHTTP)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", withoutPassword(ref), err)
	}
	if digest, ok := parsed.(name.Digest); ok {
		return digest.DigestStr(), nil
	}
	sources, err := r.sources(parsed)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", ref, err)
	}
	var failures []error
	for _, s := range sources {
		digest, err := s.digest(ctx)
		if err == nil {
			return digest, nil
		}
		if ctx.Err() != nil {
			return "", fmt.Errorf("image %s: %w", withoutPassword(ref), context.Cause(ctx))
		}
		failures = append(failures, err)
	}
	return "", fmt.Errorf("image %s: %w", withoutPassword(ref), inOneLine(failures))
}

// parse parses an image reference. Hosts in plainHTTP are tried over plain HTTP, too.
func parse(ref string, plainHTTP []string) (name.Reference, error) {
	if err := reference.Check(ref); err != nil {
		return nil, err
	}
	var options []name.Option
	if host, _, ok := strings.Cut(ref, "/"); ok && slices.Contains(plainHTTP, host) {
		options = append(options, name.Insecure)
	}
	// name.ParseReference does not return the reason of an error.
	if HasDigest(ref) {
		return name.NewDigest(ref, options...)
	}
	return name.NewTag(ref, options...)
}

// WithDigest is an image reference with a digest in the place of its tag.
func WithDigest(ref, digest string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		ref = ref[:colon]
	}
	return ref + "@" + digest
}

// HasDigest tells whether a reference names a digest.
func HasDigest(ref string) bool { return strings.Contains(ref, "@") }
