package image

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// pull finds an image in a registry.
func (r Registries) pull(ctx context.Context, ref string, limits Limits) (*found, error) {
	parsed, err := r.parse(ref)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, source := range r.sources(parsed) {
		image, err := r.get(ctx, source)
		if err == nil {
			return image, nil
		}
		failures = append(failures, err)
	}
	return nil, inOneLine(failures)
}

// inOneLine joins what a mirror and its registry say.
func inOneLine(failures []error) error {
	joined := failures[0]
	for _, err := range failures[1:] {
		joined = fmt.Errorf("%w; %w", joined, err)
	}
	return joined
}

func (r Registries) get(ctx context.Context, ref name.Reference) (*found, error) {
	keys := r.keychain()
	options := r.options(ctx, keys)
	fail := func(err error) error { return keys.explain(ref, err) }
	got, err := remote.Get(ref, options...)
	if err != nil {
		return nil, fail(err)
	}
	var image v1.Image
	switch {
	case got.MediaType.IsIndex():
		index, err := got.ImageIndex()
		if err != nil {
			return nil, fail(err)
		}
		if image, err = fromIndex(index, 0); err != nil {
			return nil, fail(err)
		}
	case got.MediaType.IsImage():
		if image, err = got.Image(); err != nil {
			return nil, fail(err)
		}
	default:
		return nil, fmt.Errorf("%w: %s holds a %q under that name", ErrNoBundle, ref.Context().RegistryStr(), got.MediaType)
	}
	return fromImage(image, fail)
}

// fromImage lists the layers of an image; fail explains what its source says.
func fromImage(image v1.Image, fail func(error) error) (*found, error) {
	m, err := image.Manifest()
	if err != nil {
		return nil, fail(err)
	}
	if m.Config.Size > maxDocument {
		return nil, fmt.Errorf("its configuration is larger than %s, which no image needs", size(maxDocument))
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fail(err)
	}
	digest, err := image.Digest()
	if err != nil {
		return nil, fail(err)
	}
	f := &found{config: config, digest: digest.String()}
	for _, layer := range m.Layers {
		if len(layer.URLs) > 0 || !layer.MediaType.IsDistributable() {
			return nil, fmt.Errorf("%w: its layer %s is kept somewhere else, which no bundle needs", ErrNoBundle, short(layer.Digest.String()))
		}
		f.layers = append(f.layers, blob{name: layer.Digest.String(), open: func() (io.ReadCloser, error) {
			l, err := image.LayerByDigest(layer.Digest)
			if err != nil {
				return nil, fail(err)
			}
			r, err := l.Compressed()
			if err != nil {
				return nil, fail(err)
			}
			return r, nil
		}})
	}
	return f, nil
}

// maxNesting is how deep indexes may lie in indexes.
const maxNesting = 3

// fromIndex takes the image of an index that fits: bundles hold no programs, so any platform will do,
// and linux/amd64 is the one that exists everywhere.
func fromIndex(index v1.ImageIndex, depth int) (v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	candidates := imagesOf(m.Manifests)
	if len(candidates) == 0 || depth > maxNesting {
		return nil, fmt.Errorf("%w: its index lists no image", ErrNoBundle)
	}
	chosen := forPlatform(candidates)
	if chosen.MediaType.IsIndex() {
		inner, err := index.ImageIndex(chosen.Digest)
		if err != nil {
			return nil, err
		}
		return fromIndex(inner, depth+1)
	}
	return index.Image(chosen.Digest)
}

// imagesOf leaves out what builders add to an index, such as attestations.
func imagesOf(all []v1.Descriptor) []v1.Descriptor {
	return slices.DeleteFunc(slices.Clone(all), func(d v1.Descriptor) bool {
		return d.Annotations["vnd.docker.reference.type"] != "" || d.Platform != nil && d.Platform.OS == "unknown" ||
			!d.MediaType.IsImage() && !d.MediaType.IsIndex()
	})
}

func forPlatform(candidates []v1.Descriptor) v1.Descriptor {
	for _, d := range candidates {
		if d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64" {
			return d
		}
	}
	return candidates[0]
}

func (r Registries) options(ctx context.Context, keys authn.Keychain) []remote.Option {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(keys)}
	if t := r.transport(); t != nil {
		options = append(options, remote.WithTransport(t))
	}
	return options
}

// transport does not ask insecure hosts for a certificate that somebody vouches for.
func (r Registries) transport() http.RoundTripper {
	plain, ok := r.Transport.(*http.Transport)
	if r.Transport == nil {
		plain, ok = remote.DefaultTransport.(*http.Transport)
	}
	if !ok || len(r.Insecure) == 0 {
		return r.Transport
	}
	trusting := plain.Clone()
	if trusting.TLSClientConfig == nil {
		trusting.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	trusting.TLSClientConfig.InsecureSkipVerify = true // of the hosts that the user names only
	return byHost{insecure: r.Insecure, trusting: trusting, rest: plain}
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

// keychain remembers whether this machine has credentials for a registry, to explain a refusal.
type keychain struct {
	authn.Keychain
	used atomic.Bool
}

func (r Registries) keychain() *keychain {
	if r.Keychain != nil {
		return &keychain{Keychain: r.Keychain}
	}
	return &keychain{Keychain: authn.DefaultKeychain}
}

func (k *keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return k.ResolveContext(context.Background(), target)
}

func (k *keychain) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	auth, err := authn.Resolve(ctx, k.Keychain, target)
	if err != nil {
		return nil, &keyError{err}
	}
	k.used.Store(auth != authn.Anonymous)
	return auth, nil
}

// keyError is a file of credentials, or a program that keeps them, that does not work.
type keyError struct{ err error }

func (e *keyError) Error() string { return e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

// explain says what a registry's answer means and what to do. It repeats neither what the registry wrote
// nor the addresses it redirects to: both may hold secrets.
func (k *keychain) explain(ref name.Reference, err error) error {
	host := ref.Context().RegistryStr()
	if errors.Is(err, ErrNoBundle) {
		return err
	}
	if _, ok := errors.AsType[*keyError](err); ok {
		return fmt.Errorf("the credentials for %s cannot be read; see the config.json of docker, the auth.json of podman, and their credential helpers", host)
	}
	answer, ok := errors.AsType[*transport.Error](err)
	switch {
	case !ok && reached(err):
		return fmt.Errorf("%s: %s", host, withoutQueries(err))
	case !ok:
		return fmt.Errorf("%s: %w: %s", host, ErrUnreachable, unreachable(host, err))
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s has no %s; push the image first, or correct the reference", host, ref.Identifier())
	case (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) && k.used.Load():
		return fmt.Errorf("%s refuses access (%d) with the credentials that this machine has for it; renew them with 'docker login %s' or 'podman login %s', and see whether the image exists and may be read", host, answer.StatusCode, host, host)
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s refuses access (%d); log in with 'docker login %s' or 'podman login %s', and see whether the image exists", host, answer.StatusCode, host, host)
	case answer.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s has had too many requests (429); wait, or log in with 'docker login %s' or 'podman login %s'", host, host, host)
	}
	return fmt.Errorf("%s answers %d %s; see whether that host is a registry and works", host, answer.StatusCode, http.StatusText(answer.StatusCode))
}

// reached tells an answer that makes no sense from none.
func reached(err error) bool {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "error verifying") || strings.Contains(text, "manifest digest") || strings.Contains(text, "unmarshal") || strings.Contains(text, "invalid character")
}

// unreachable names the cause without addresses, and what to do about certificates.
func unreachable(host string, err error) string {
	text := withoutQueries(err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	if unknown || other || strings.Contains(text, "x509:") || strings.Contains(text, "server gave HTTP response to HTTPS client") {
		text += "; where that is as it should be, allow it with --insecure-registry " + host
	}
	return text
}

// withoutQueries is an error's text whose addresses have neither queries nor user names: registries sign
// addresses there.
func withoutQueries(err error) string {
	words := strings.Fields(err.Error())
	for i, word := range words {
		scheme, rest, ok := strings.Cut(word, "://")
		if !ok {
			continue
		}
		end := ""
		if cut := strings.IndexAny(rest, `"'`); cut >= 0 {
			rest, end = rest[:cut], rest[cut:]
		}
		rest, _, _ = strings.Cut(rest, "?")
		rest, _, _ = strings.Cut(rest, "#")
		authority, path, slash := strings.Cut(rest, "/")
		if at := strings.LastIndex(authority, "@"); at >= 0 {
			authority = authority[at+1:]
		}
		if slash {
			authority += "/"
		}
		words[i] = scheme + "://" + authority + path + end
	}
	return strings.Join(words, " ")
}

// withoutPassword is a reference as it may be shown: people paste addresses with user and password.
func withoutPassword(ref string) string {
	at := strings.LastIndex(ref, "@")
	if at < 0 || strings.Count(ref[:at], "@") == 0 && looksLikeDigest(ref[at+1:]) {
		return ref
	}
	if looksLikeDigest(ref[at+1:]) {
		return withoutPassword(ref[:at]) + ref[at:]
	}
	scheme := ""
	if before, _, ok := strings.Cut(ref, "://"); ok {
		scheme = before + "://"
	}
	return scheme + "…@" + ref[at+1:]
}

func looksLikeDigest(text string) bool {
	algorithm, hex, ok := strings.Cut(text, ":")
	return ok && strings.HasPrefix(algorithm, "sha") && !strings.ContainsAny(hex, "/@:")
}
