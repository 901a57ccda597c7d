package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/registry"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// fromRegistry fetches a chart from a registry: oci://HOST/PATH, with a tag, a digest, or the version.
func (f *fetcher) fromRegistry(ctx context.Context, reference, version string) (*fetched, error) {
	path := strings.TrimPrefix(reference, registry.OCIScheme+"://")
	host, rest, ok := strings.Cut(path, "/")
	if !ok || host == "" || strings.Trim(rest, "/") == "" || strings.ContainsAny(path, " ?#") {
		return nil, fmt.Errorf("%s: must be oci://HOST/PATH, with :TAG or @DIGEST", displayed(reference))
	}
	if strings.Contains(host, "@") {
		return nil, fmt.Errorf("%s: credentials are not supported in references; log in with 'helm registry login'", displayed(reference))
	}
	if f.offline {
		return nil, fmt.Errorf("%s: %w", reference, errOffline)
	}
	client, err := f.registryClient(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", reference, err)
	}
	tagged := strings.Contains(rest[strings.LastIndex(rest, "/")+1:], ":") || strings.Contains(rest, "@")
	switch {
	case tagged: // Fetch compares the version with the chart's
	case isExact(version):
		path += ":" + version
	default:
		if path, err = newestTag(client, path, version); err != nil {
			return nil, registryError(reference, host, err)
		}
	}
	result, err := client.Pull(path)
	if err != nil {
		if errors.Is(err, errdef.ErrNotFound) && !tagged {
			if _, tagErr := newestTag(client, strings.TrimSuffix(path, ":"+version), version); tagErr != nil {
				err = tagErr
			}
		}
		return nil, registryError(reference, host, err)
	}
	chart, err := f.fromArchive(result.Chart.Data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", reference, err)
	}
	return chart, nil
}

// newestTag returns a repository with the tag of the newest version that matches.
func newestTag(client *registry.Client, path, version string) (string, error) {
	tags, err := client.Tags(path)
	if err != nil {
		return "", err
	}
	tag, err := selectVersion(tags, version)
	if err != nil {
		return "", err
	}
	return path + ":" + tag, nil
}

// isExact reports whether a version is complete, as opposed to a constraint.
func isExact(version string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil
}

// registryError explains the error of a registry.
func registryError(reference, host string, err error) error {
	var response *errcode.ErrorResponse
	switch errors.As(err, &response); {
	case errors.Is(err, auth.ErrBasicCredentialNotFound), response != nil && (response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden):
		return fmt.Errorf("%s: access denied; log in with 'helm registry login %s' or 'docker login %[2]s'", reference, host)
	case errors.Is(err, errdef.ErrNotFound) || response != nil && response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: not found in the registry", reference)
	}
	return fmt.Errorf("%s: %w", reference, shorten(err))
}

// registryClient returns a client with the credentials of Helm, or else of docker.
func (f *fetcher) registryClient(ctx context.Context, host string) (*registry.Client, error) {
	retry := registry.NewTransport(false)
	retry.Base = &boundTransport{ctx: ctx, base: baseTransport(&tls.Config{MinVersion: tls.VersionTLS12})}
	client := &http.Client{Transport: retry, CheckRedirect: checkRedirect}
	options := []registry.ClientOption{
		registry.ClientOptCredentialsFile(f.settings.RegistryConfig),
		registry.ClientOptHTTPClient(client),
		registry.ClientOptEnableCache(true),
	}
	if isLoopback(host) && !supportsTLS(ctx, client, host) {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	created, err := registry.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("credentials of registries: %w", shorten(withoutPath(err)))
	}
	return created, nil
}

// supportsTLS reports whether a registry at a loopback address does not answer HTTPS requests with plain HTTP.
func supportsTLS(ctx context.Context, client *http.Client, host string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/v2/", http.NoBody)
	if err != nil {
		return true
	}
	response, err := client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return !errors.Is(err, http.ErrSchemeMismatch)
}

// A boundTransport binds the requests of Helm's registry client, which takes no context, to one, and limits responses.
type boundTransport struct {
	ctx  context.Context
	base http.RoundTripper
}

// RoundTrip sends a request.
func (t *boundTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(t.ctx, cancel)
	response, err := t.base.RoundTrip(request.WithContext(ctx))
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	response.Body = &boundBody{body: response.Body, remaining: maxDownload, end: func() { stop(); cancel() }}
	return response, nil
}

// A boundBody is a body of limited size.
type boundBody struct {
	body      io.ReadCloser
	remaining int64
	end       func()
}

// Read reads from the body.
func (b *boundBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if b.remaining -= int64(n); b.remaining < 0 {
		return n, fmt.Errorf("the response is larger than %d MiB", maxDownload>>20)
	}
	return n, err
}

// Close closes the body.
func (b *boundBody) Close() error {
	defer b.end()
	return b.body.Close()
}
