package image

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	limit "github.com/operon-sdk/operon/pkg/transport"
)

// keychain remembers whether this machine has credentials for a registry, to explain a refusal.
type keychain struct {
	authn.Keychain
	used atomic.Bool
}

func (r Registries) keychain() *keychain {
	if r.Keychain != nil {
		return &keychain{Keychain: r.Keychain}
	}
	return &keychain{Keychain: credentialFiles{r.Settings}}
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
func (s source) explain(err error) error {
	host := s.ref.Context().RegistryStr()
	if _, ok := errors.AsType[*LimitError](err); ok || errors.Is(err, ErrNoBundle) {
		return err
	}
	if known, ok := errors.AsType[*credentialError](err); ok {
		return fmt.Errorf("the credentials for %s cannot be read: %w; correct the file, or log in again with 'docker login %s' or 'podman login %s'", host, known, host, host)
	}
	if _, ok := errors.AsType[*keyError](err); ok {
		return fmt.Errorf("the credentials for %s cannot be read; see the config.json of docker, the auth.json of podman, and their credential helpers", host)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if request, ok := errors.AsType[*url.Error](err); ok {
			err = request.Err
		}
		return fmt.Errorf("%s: %w", host, err)
	}
	if document, ok := errors.AsType[*DocumentError](err); ok {
		return fmt.Errorf("%s: %w", host, document)
	}
	if large, ok := errors.AsType[*limit.SizeError](err); ok {
		return fmt.Errorf("%s: %w where a manifest, an index or a token was expected, which no registry sends; see whether that host is a registry", host, large)
	}
	switch refused, ok := errors.AsType[*plainCredentialsError](err); {
	case ok && refused.address != "":
		return fmt.Errorf("%s requests credentials for %s, and %w", host, refused.address, refused)
	case ok && strings.Contains(err.Error(), httpResponse):
		return fmt.Errorf("%s does not serve TLS, and %w", host, refused)
	}
	answer, ok := errors.AsType[*transport.Error](err)
	// A private host is asked without TLS after that has failed, and has no good answer to it.
	certificate, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, errPlainHTTP) && strings.Contains(err.Error(), httpResponse):
		return fmt.Errorf("%s: %w: %w", host, ErrUnreachable, errPlainHTTP)
	case distrusted:
		return fmt.Errorf("%s: %w: %w", host, ErrUnreachable, &redactedError{unreachable(host, certificate), err})
	case !ok && reached(err):
		return fmt.Errorf("%s: %w", host, redact(err))
	case !ok:
		return fmt.Errorf("%s: %w: %w", host, ErrUnreachable, &redactedError{unreachable(host, err), err})
	case s.pushing && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden):
		return fmt.Errorf("%s refuses the push (%d); log in with 'docker login %s' or 'podman login %s' as somebody who may push to %s", host, answer.StatusCode, host, host, s.ref.Context().RepositoryStr())
	case s.pushing && answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s does not know %s; see whether the name is right, and create the repository there first where the registry asks for that", host, s.ref.Context().RepositoryStr())
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s has no %s; push the image first, or correct the reference", host, s.ref.Identifier())
	case (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) && s.keys.used.Load():
		return fmt.Errorf("%s refuses access (%d) with the credentials that this machine has for it; renew them with 'docker login %s' or 'podman login %s', and see whether the image exists and may be read", host, answer.StatusCode, host, host)
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s refuses access (%d); log in with 'docker login %s' or 'podman login %s', and see whether the image exists", host, answer.StatusCode, host, host)
	case answer.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s has had too many requests (429); wait, or log in with 'docker login %s' or 'podman login %s'", host, host, host)
	}
	return fmt.Errorf("%s answers %d %s; see whether that host is a registry and works", host, answer.StatusCode, http.StatusText(answer.StatusCode))
}

// reached reports whether an error is not one of the network.
func reached(err error) bool {
	_, request := errors.AsType[*url.Error](err)
	_, network := errors.AsType[net.Error](err)
	_, timeout := errors.AsType[*limit.TimeoutError](err)
	return !request && !network && !timeout
}

// httpResponse is how net/http reports a server that does not serve TLS.
const httpResponse = "server gave HTTP response to HTTPS client"

// unreachable names the cause without addresses, and what to do about certificates.
func unreachable(host string, err error) string {
	text := withoutQueries(err)
	if _, plain, ok := strings.Cut(text, httpResponse+"; "); ok {
		text = plain // how plain HTTP failed, which the server does speak
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	_, missing := errors.AsType[*net.DNSError](err)
	switch {
	case unknown || other || strings.Contains(text, "x509:") || strings.Contains(text, httpResponse):
		return text + "; if that is intended, allow it with --insecure-registry " + host
	case strings.Contains(text, "--insecure-registry"):
		return text
	case missing:
		return text + "; correct the host, or see whether this machine has a network"
	case strings.Contains(text, "stopped after 10 redirects"):
		return text + "; see whether that host is a registry"
	}
	return text + "; see whether that host is a registry, works, and can be reached from here, and which proxy is set"
}

// A redactedError is an error with a text that holds no secrets.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

func redact(err error) error { return &redactedError{withoutQueries(err), err} }

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
