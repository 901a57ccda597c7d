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
)

// ErrUnreachable tells that no registry answered, so that nothing is known of an image.
var ErrUnreachable = errors.New("the registry cannot be reached")

// Registries is how registries are reached.
type Registries struct {
	// Transport carries the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Insecure are hosts that may speak plain HTTP, or show any certificate. Mirrors are asked before the registry that they
	// stand in for: host → host, or host/path.
	Insecure []string
	Mirrors  map[string]string
	// Keychain has the credentials; nil is those of docker and podman on this machine.
	Keychain authn.Keychain
}

// Digest asks a registry for the digest of an image, such as sha256:…. The credentials are those of
// docker and podman on this machine.
func (r Registries) Digest(ctx context.Context, ref string) (string, error) {
	parsed, err := r.parse(ref)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", withoutPassword(ref), err)
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
		if ctx.Err() != nil {
			return "", fmt.Errorf("image %s: %w", withoutPassword(ref), context.Cause(ctx))
		}
		failures = append(failures, err)
	}
	return "", fmt.Errorf("image %s: %w", withoutPassword(ref), inOneLine(failures))
}

func (r Registries) parse(ref string) (name.Reference, error) {
	shown := withoutPassword(ref)
	switch {
	case strings.Contains(ref, "://"):
		return nil, fmt.Errorf("must be written without %s://, as registry/name:tag", ref[:strings.Index(ref, "://")])
	case shown != ref:
		return nil, errors.New("must hold no user and password; log in with 'docker login' or 'podman login' instead")
	}
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
		separator := ":"
		if _, ok := ref.(name.Digest); ok {
			separator = "@"
		}
		if mirrored, err := r.parse(mirror + "/" + ref.Context().RepositoryStr() + separator + ref.Identifier()); err == nil {
			sources = append(sources, mirrored)
		}
	}
	return append(sources, ref)
}

func (r Registries) ask(ctx context.Context, ref name.Reference) (string, error) {
	keys := r.keychain()
	options := r.options(ctx, keys)
	head, err := remote.Head(ref, options...)
	if err == nil {
		return head.Digest.String(), nil
	}
	// Some registries do not answer HEAD.
	got, err := remote.Get(ref, options...)
	if err == nil {
		return got.Digest.String(), nil
	}
	return "", keys.explain(ref, err)
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

// ValidReference tells whether a text is well-formed as a reference of an image.
func ValidReference(ref string) bool { return reference.MatchString(ref) }
