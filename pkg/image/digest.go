package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ErrUnreachable tells that no registry answered, so that nothing is known of an image.
var ErrUnreachable = errors.New("the registry cannot be reached")

// Registries is how registries are reached.
type Registries struct {
	// Transport carries the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Insecure are hosts that may speak plain HTTP. Mirrors are asked before the registry that they
	// stand in for: host → host, or host/path.
	Insecure []string
	Mirrors  map[string]string
}

// Digest asks a registry for the digest of an image, such as sha256:…. The credentials are those of
// docker and podman on this machine.
func (r Registries) Digest(ctx context.Context, ref string) (string, error) {
	parsed, err := r.parse(ref)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", ref, err)
	}
	if digest, ok := parsed.(name.Digest); ok {
		return digest.DigestStr(), nil
	}
	var failures []error
	for _, source := range r.sources(parsed) {
		digest, err := r.ask(ctx, source)
		if err == nil {
			return digest, nil
		}
		failures = append(failures, err)
	}
	return "", fmt.Errorf("image %s: %w", ref, errors.Join(failures...))
}

func (r Registries) parse(ref string) (name.Reference, error) {
	var options []name.Option
	if host, _, ok := strings.Cut(ref, "/"); ok && slices.Contains(r.Insecure, host) {
		options = append(options, name.Insecure)
	}
	return name.ParseReference(ref, options...)
}

// sources are where an image may be: in the registry's mirror, and in the registry.
func (r Registries) sources(ref name.Reference) []name.Reference {
	var sources []name.Reference
	if mirror, ok := r.Mirrors[ref.Context().RegistryStr()]; ok {
		if mirrored, err := r.parse(mirror + "/" + ref.Context().RepositoryStr() + ":" + ref.Identifier()); err == nil {
			sources = append(sources, mirrored)
		}
	}
	return append(sources, ref)
}

func (r Registries) ask(ctx context.Context, ref name.Reference) (string, error) {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if r.Transport != nil {
		options = append(options, remote.WithTransport(r.Transport))
	}
	head, err := remote.Head(ref, options...)
	if err == nil {
		return head.Digest.String(), nil
	}
	// Some registries do not answer HEAD.
	got, err := remote.Get(ref, options...)
	if err == nil {
		return got.Digest.String(), nil
	}
	host := ref.Context().RegistryStr()
	answer, ok := errors.AsType[*transport.Error](err)
	switch {
	case !ok:
		return "", fmt.Errorf("%s: %w: %w", host, ErrUnreachable, err)
	case answer.StatusCode == http.StatusNotFound:
		return "", fmt.Errorf("%s has no %s; push the image first, or correct the reference", host, ref.Identifier())
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		return "", fmt.Errorf("%s refuses access (%d); log in with 'docker login %s' or 'podman login %s', and see whether the image exists", host, answer.StatusCode, host, host)
	}
	return "", fmt.Errorf("%s: %w", host, err)
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

// reference is how an image is written: host, path, tag and digest.
var reference = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/)?[a-z0-9]+(?:(?:[._]|__|-+|/)[a-z0-9]+)*` +
	`(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`)

// IsReference tells whether a text is a reference of an image.
func IsReference(ref string) bool { return reference.MatchString(ref) }
