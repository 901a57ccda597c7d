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

// keychain records whether credentials were used, to explain a denied request.
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

// keyError reports a keychain that failed.
type keyError struct{ err error }

func (e *keyError) Error() string { return e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

// explain describes the error of a registry and its fix. The result contains neither the registry's text nor the URLs of
// redirects, as both may contain secrets.
func (s source) explain(err error) error {
	host := s.ref.Context().RegistryStr()
	if _, ok := errors.AsType[*limitError](err); ok || errors.Is(err, ErrNotBundle) {
		return err
	}
	if credential, ok := errors.AsType[*credentialError](err); ok {
		return fmt.Errorf("cannot read the credentials for %s: %w; correct the file, or log in again with 'docker login %s' or 'podman login %s'", host, credential, host, host)
	}
	if _, ok := errors.AsType[*keyError](err); ok {
		return fmt.Errorf("cannot read the credentials for %s; check the config.json of docker, the auth.json of podman, and their credential helpers", host)
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
		return fmt.Errorf("%s: %w where a manifest, an index or a token is expected; check that the host is a registry", host, large)
	}
	switch refused, ok := errors.AsType[*plainCredentialsError](err); {
	case ok && refused.address != "":
		return fmt.Errorf("%s requests credentials for %s, and %w", host, refused.address, refused)
	case ok && strings.Contains(err.Error(), httpResponse):
		return fmt.Errorf("%s does not serve TLS, and %w", host, refused)
	}
	response, ok := errors.AsType[*transport.Error](err)
	// A private host is contacted over plain HTTP after TLS has failed, and reports an irrelevant error then.
	certificate, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, errPlainHTTP) && strings.Contains(err.Error(), httpResponse):
		return fmt.Errorf("%s: %w: %w", host, ErrUnreachable, errPlainHTTP)
	case distrusted:
		return fmt.Errorf("%s: %w: %w", host, ErrUnreachable, &redactedError{unreachable(host, certificate), err})
	case !ok && !isNetworkError(err):
		return fmt.Errorf("%s: %w", host, redact(err))
	case !ok:
		return fmt.Errorf("%s: %w: %w", host, ErrUnreachable, &redactedError{unreachable(host, err), err})
	case s.pushing && (response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden):
		return fmt.Errorf("%s denied the push (%d); log in with 'docker login %s' or 'podman login %s' as a user who may push to %s", host, response.StatusCode, host, host, s.ref.Context().RepositoryStr())
	case s.pushing && response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: repository %s not found; correct the name, or create the repository first if the registry requires that", host, s.ref.Context().RepositoryStr())
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s has no %s; push the image first, or correct the reference", host, s.ref.Identifier())
	case (response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden) && s.keys.used.Load():
		return fmt.Errorf("%s denied access (%d) with the configured credentials; renew them with 'docker login %s' or 'podman login %s', and check that the image exists and may be read", host, response.StatusCode, host, host)
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s denied access (%d); log in with 'docker login %s' or 'podman login %s', and check that the image exists", host, response.StatusCode, host, host)
	case response.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s received too many requests (429); wait, or log in with 'docker login %s' or 'podman login %s'", host, host, host)
	}
	return fmt.Errorf("%s responded with %d %s; check that the host is a registry and works", host, response.StatusCode, http.StatusText(response.StatusCode))
}

// isNetworkError reports whether an error is one of the network.
func isNetworkError(err error) bool {
	_, request := errors.AsType[*url.Error](err)
	_, network := errors.AsType[net.Error](err)
	_, timeout := errors.AsType[*limit.TimeoutError](err)
	return request || network || timeout
}

// httpResponse is the error of net/http for a server that does not serve TLS.
const httpResponse = "server gave HTTP response to HTTPS client"

// unreachable describes the cause without secrets, and a fix.
func unreachable(host string, err error) string {
	text := withoutQueries(err)
	if _, plain, ok := strings.Cut(text, httpResponse+"; "); ok {
		text = plain // the error over plain HTTP, which the server supports
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
		return text + "; correct the host, or check the network of this machine"
	case strings.Contains(text, "stopped after 10 redirects"):
		return text + "; check that the host is a registry"
	}
	return text + "; check that the host is a registry, that it works and can be reached, and the proxy settings"
}

// A redactedError is an error whose text contains no secrets.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

func redact(err error) error { return &redactedError{withoutQueries(err), err} }

// withoutQueries returns the text of an error with neither queries nor user names in its URLs, as both may contain secrets.
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

// withoutPassword returns a reference without the user and password that a pasted URL may contain.
func withoutPassword(ref string) string {
	at := strings.LastIndex(ref, "@")
	if at < 0 || strings.Count(ref[:at], "@") == 0 && isDigest(ref[at+1:]) {
		return ref
	}
	if isDigest(ref[at+1:]) {
		return withoutPassword(ref[:at]) + ref[at:]
	}
	scheme := ""
	if before, _, ok := strings.Cut(ref, "://"); ok {
		scheme = before + "://"
	}
	return scheme + "…@" + ref[at+1:]
}

func isDigest(text string) bool {
	algorithm, hex, ok := strings.Cut(text, ":")
	return ok && strings.HasPrefix(algorithm, "sha") && !strings.ContainsAny(hex, "/@:")
}
