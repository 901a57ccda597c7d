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

// ErrUnreachable reports that no registry responded, so that it is unknown whether an image exists.
var ErrUnreachable = errors.New("the registry cannot be reached")

// Registries configures the access to registries.
type Registries struct {
	// Transport sends the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Limits bounds the time and the size of requests.
	Limits transport.Limits
	// Notify, if not nil, is called for slow requests; see transport.Transport.
	Notify func(host, waitingFor string)
	// PlainHTTP lists hosts to contact over plain HTTP if they do not serve TLS: requests, credentials included, are not
	// encrypted then.
	PlainHTTP []string
	// SkipVerify lists hosts whose certificates are not verified. They are not contacted over plain HTTP unless they are in
	// PlainHTTP, too.
	SkipVerify []string
	// Mirrors maps hosts to the mirrors to read from first, each a host or host/path.
	Mirrors map[string]string
	// Settings are the configuration files of docker and podman.
	Settings Settings
	// Keychain has the credentials; nil means the ones in Settings.
	Keychain authn.Keychain
}

// Digest returns the digest of an image in a registry, such as sha256:….
func (r Registries) Digest(ctx context.Context, ref string) (string, error) {
	parsed, err := parse(ref, r.PlainHTTP)
	if err != nil {
		return "", imageError(ctx, ref, err)
	}
	if digest, ok := parsed.(name.Digest); ok {
		return digest.DigestStr(), nil
	}
	digest, err := fetchFirst(r, parsed, func(s source) (string, error) { return s.digest(ctx) })
	return digest, imageError(ctx, ref, err)
}

// imageError adds the reference of an image to an error that is not nil. The cause of an ended context replaces the error.
func imageError(ctx context.Context, ref string, err error) error {
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = &Error{withoutPassword(ref), err}
	}
	return err
}

// An Error is about an image in a registry.
type Error struct {
	// Ref is the reference of the image as given, without a password.
	Ref string
	Err error
}

func (e *Error) Error() string { return "image " + e.Ref + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// fetchFirst returns the result of fetch for the first source of an image that has it, or the errors of all sources.
func fetchFirst[T any](r Registries, ref name.Reference, fetch func(source) (T, error)) (result T, err error) {
	sources, err := r.sources(ref)
	if err != nil {
		return result, err
	}
	var failed error
	for _, s := range sources {
		if result, err = fetch(s); err == nil {
			return result, nil
		}
		if failed != nil {
			err = fmt.Errorf("%w; %w", failed, err)
		}
		failed = err
	}
	return result, failed
}

// parse parses an image reference. Hosts in plainHTTP are contacted over plain HTTP, too.
func parse(ref string, plainHTTP []string) (name.Reference, error) {
	if err := reference.Check(ref); err != nil {
		return nil, err
	}
	var options []name.Option
	if host, _, ok := strings.Cut(ref, "/"); ok && slices.Contains(plainHTTP, host) {
		options = append(options, name.Insecure)
	}
	// The grammar allows a repository whose name is one letter, but the library parses only longer ones: it gets the letter twice.
	long, letter := lengthen(ref)
	// name.ParseReference does not return the reason of an error.
	if HasDigest(ref) {
		digest, err := name.NewDigest(long, options...)
		if err == nil && letter != "" {
			digest = digest.Registry.Repo(letter).Digest(digest.DigestStr())
		}
		return digest, err
	}
	tag, err := name.NewTag(long, options...)
	if err == nil && letter != "" {
		tag = tag.Registry.Repo(letter).Tag(tag.TagStr())
	}
	return tag, err
}

// lengthen doubles the name of a repository that is one letter, and returns that letter. Other references are returned as they are.
func lengthen(ref string) (long, letter string) {
	start := 0
	if host, _, ok := strings.Cut(ref, "/"); ok && strings.ContainsAny(host, ".:") {
		start = len(host) + 1
	}
	if rest := ref[start:]; len(rest) == 1 || len(rest) > 1 && strings.ContainsAny(rest[1:2], ":@") {
		return ref[:start] + rest[:1] + rest, rest[:1]
	}
	return ref, ""
}

// WithDigest returns an image reference with a digest in place of its tag.
func WithDigest(ref, digest string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		ref = ref[:colon]
	}
	return ref + "@" + digest
}

// HasDigest reports whether a reference contains a digest.
func HasDigest(ref string) bool { return strings.Contains(ref, "@") }
