package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Manager is the name under which Operon owns the fields that it applies.
const Manager = "operon"

// The media types of the patches that a server takes.
const (
	ApplyPatch = "application/apply-patch+yaml"
	MergePatch = "application/merge-patch+json"
)

// Client is a connection to one API server.
type Client struct {
	// URL is the server's address, without a slash at the end.
	URL string
	// Context is the kubeconfig's context, empty where there is none, as in a pod.
	Context string
	// Namespace is what the kubeconfig's context names, or default, and in a pod its own.
	Namespace string

	http *http.Client
	// settings make further connections.
	settings *rest.Config
}

// ErrNoKubeconfig tells that there is no kubeconfig, or none with a cluster in it.
var ErrNoKubeconfig = errors.New("there is no kubeconfig")

// ConfigError is a kubeconfig that cannot be used.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return fmt.Sprintf("reading the kubeconfig: %v", e.Err) }
func (e *ConfigError) Unwrap() error { return e.Err }

// Load makes a client from kubeconfig files, which are merged as kubectl merges them: the first that
// says something wins. It opens no connection.
func Load(files ...string) (*Client, error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: files}
	if len(files) == 1 {
		// A single file must be there; of a list, some may be missing.
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: files[0]}
	}
	raw, err := rules.Load()
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	if len(raw.Clusters) == 0 && len(raw.Contexts) == 0 {
		return nil, ErrNoKubeconfig
	}
	if raw.CurrentContext == "" {
		return nil, &ConfigError{Err: errors.New("it has no current-context; choose one with 'kubectl config use-context'")}
	}
	config := clientcmd.NewNonInteractiveClientConfig(*raw, "", &clientcmd.ConfigOverrides{}, nil)
	settings, err := config.ClientConfig()
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	namespace, _, err := config.Namespace()
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	client, err := newClient(settings)
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	client.Context, client.Namespace = raw.CurrentContext, namespace
	return client, nil
}

// New makes a client from a kubeconfig's text.
func New(kubeconfig []byte) (*Client, error) {
	settings, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	client, err := newClient(settings)
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	client.Namespace = "default"
	return client, nil
}

func newClient(settings *rest.Config) (*Client, error) {
	settings.UserAgent = Manager
	server, _, err := rest.DefaultServerURL(settings.Host, "", schema.GroupVersion{}, true)
	if err != nil {
		return nil, err
	}
	transport, err := rest.HTTPClientFor(settings)
	if err != nil {
		return nil, err
	}
	return &Client{URL: strings.TrimRight(server.String(), "/"), http: transport, settings: settings}, nil
}

// StatusError is a server's refusal.
type StatusError struct {
	// Code is the HTTP status, Reason Kubernetes' word for it, like NotFound.
	Code   int
	Reason string
	// Message is the server's explanation.
	Message string
}

func (e *StatusError) Error() string {
	if e.Message != "" {
		return e.Message
	}
	return fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
}

// IsNotFound tells that an object, or its kind, is not there.
func IsNotFound(err error) bool { return hasCode(err, http.StatusNotFound) }

// IsConflict tells that an object exists already, or has changed meanwhile.
func IsConflict(err error) bool { return hasCode(err, http.StatusConflict) }

// IsForbidden tells that the user lacks rights, or is not known at all.
func IsForbidden(err error) bool {
	return hasCode(err, http.StatusForbidden) || hasCode(err, http.StatusUnauthorized)
}

// IsStatus reports whether the server rejected a request, as opposed to a failed connection.
func IsStatus(err error) bool {
	_, ok := errors.AsType[*StatusError](err)
	return ok
}

// Brief returns the text of an error on one line of at most 300 bytes: a server may list all missing permissions.
func Brief(err error) string {
	const limit = 300
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + " …"
	}
	return text
}

func hasCode(err error, code int) bool {
	status, ok := errors.AsType[*StatusError](err)
	return ok && status.Code == code
}

// Ping asks the server for its version, like v1.36.3, and waits for the answer no longer than timeout.
func (c *Client) Ping(ctx context.Context, timeout time.Duration) (version string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := c.Do(ctx, http.MethodGet, "/version", "", nil, &info); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if IsForbidden(err) {
			return "", fmt.Errorf("the cluster at %s does not know this user: %w; log in again", c.URL, err)
		}
		return "", fmt.Errorf("the cluster at %s cannot be reached: %w", c.URL, rootCause(err))
	}
	return info.GitVersion, nil
}

// rootCause leaves out what net/http says about the request.
func rootCause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// Do sends a request with a JSON body and decodes the answer into out; either may be nil. A refusal
// is a *StatusError.
func (c *Client) Do(ctx context.Context, method, path, mediaType string, body, out any) error {
	stream, err := c.open(ctx, method, path, mediaType, body, "")
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	if out == nil {
		_, err = io.Copy(io.Discard, stream)
		return err
	}
	if err := json.NewDecoder(stream).Decode(out); err != nil {
		return fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// Watch opens a stream of JSON documents, which ends with ctx or when the server likes.
func (c *Client) Watch(ctx context.Context, path string) (io.ReadCloser, error) {
	return c.open(ctx, http.MethodGet, path, "", nil, "")
}

// open sends a request; accept is what it wants but any JSON.
func (c *Client) open(ctx context.Context, method, path, mediaType string, body any, accept string) (io.ReadCloser, error) {
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, content)
	if err != nil {
		return nil, err
	}
	if accept == "" {
		accept = "application/json"
	}
	request.Header.Set("Accept", accept)
	if body != nil {
		if mediaType == "" {
			mediaType = "application/json"
		}
		request.Header.Set("Content-Type", mediaType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		defer func() { _ = response.Body.Close() }()
		return nil, refusal(response)
	}
	return response.Body, nil
}

func refusal(response *http.Response) error {
	e := &StatusError{Code: response.StatusCode}
	data, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // what cannot be read, the code stands for
	var status struct{ Reason, Message string }
	if json.Unmarshal(data, &status) == nil {
		e.Reason, e.Message = status.Reason, status.Message
	} else if text := strings.TrimSpace(string(data)); len(text) < 300 {
		e.Message = text
	}
	return e
}
