package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Manager is the field manager of Apply.
const Manager = "operon"

// The media types of patches.
const (
	ApplyPatch = "application/apply-patch+yaml"
	MergePatch = "application/merge-patch+json"
)

// Client is a connection to one API server.
type Client struct {
	// URL is the server's address, without a trailing slash.
	URL string
	// Context is the kubeconfig's context; empty in a pod.
	Context string
	// Namespace is the namespace of the kubeconfig's context (default: default), or the pod's.
	Namespace string

	rest     *rest.RESTClient
	settings *rest.Config
}

// errNoKubeconfig means that there is no kubeconfig, or none with a cluster.
var errNoKubeconfig = errors.New("there is no kubeconfig")

// A configError reports an invalid kubeconfig.
type configError struct{ Err error }

func (e *configError) Error() string { return fmt.Sprintf("reading the kubeconfig: %v", e.Err) }
func (e *configError) Unwrap() error { return e.Err }

// Load returns a client for the current context of kubeconfig files, which are merged as by kubectl. A single file must exist; of
// several, some may be missing. It opens no connection.
func Load(files ...string) (*Client, error) { return loadContext("", files) }

// loadContext is like Load for a context by name, unless that is empty.
func loadContext(name string, files []string) (*Client, error) {
	raw, err := mergeFiles(files)
	if err != nil {
		return nil, err
	}
	if name != "" {
		if raw.Contexts[name] == nil {
			return nil, unknownContext(name, slices.Sorted(maps.Keys(raw.Contexts)))
		}
		raw.CurrentContext = name
	}
	if raw.CurrentContext == "" {
		return nil, &configError{Err: errors.New("current-context is required; set it with 'kubectl config use-context'")}
	}
	config := clientcmd.NewNonInteractiveClientConfig(*raw, "", &clientcmd.ConfigOverrides{}, nil)
	settings, err := config.ClientConfig()
	if err != nil {
		return nil, &configError{Err: err}
	}
	namespace, _, err := config.Namespace()
	if err != nil {
		return nil, &configError{Err: err}
	}
	client, err := newClient(settings)
	if err != nil {
		return nil, &configError{Err: err}
	}
	client.Context, client.Namespace = raw.CurrentContext, namespace
	return client, nil
}

// mergeFiles reads kubeconfig files as Load does.
func mergeFiles(files []string) (*api.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: files}
	if len(files) == 1 {
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: files[0]}
	}
	raw, err := rules.Load()
	if err != nil {
		return nil, &configError{Err: err}
	}
	if len(raw.Clusters) == 0 && len(raw.Contexts) == 0 {
		return nil, errNoKubeconfig
	}
	return raw, nil
}

// unknownContext returns the finding about a value of --context.
func unknownContext(name string, contexts []string) error {
	f := diag.Finding{Field: "--context", Value: name, Problem: "the kubeconfig has no such context, only " + strings.Join(contexts, ", ")}
	if len(contexts) == 0 {
		f.Problem = "the kubeconfig has no contexts"
	}
	f.Suggestion, _ = diag.Nearest(name, contexts)
	return f
}

// New returns a client for the content of a kubeconfig. It opens no connection.
func New(kubeconfig []byte) (*Client, error) {
	settings, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, &configError{Err: err}
	}
	client, err := newClient(settings)
	if err != nil {
		return nil, &configError{Err: err}
	}
	client.Namespace = "default"
	return client, nil
}

// newClient returns a client that leaves the speed of requests to the server.
func newClient(settings *rest.Config) (*Client, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // for errors, which are decoded as metav1.Status
	settings.UserAgent, settings.QPS, settings.WarningHandler = Manager, -1, rest.NoWarnings{}
	settings.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(settings)
	if err != nil {
		return nil, err
	}
	return &Client{URL: strings.TrimRight(client.Get().AbsPath().URL().String(), "/"), rest: client, settings: settings}, nil
}

// Transport returns a transport that sends requests with the user's credentials.
func (c *Client) Transport() (http.RoundTripper, error) { return rest.TransportFor(c.settings) }

// errorCode returns the HTTP status of a server's error response; 0 for other errors.
func errorCode(err error) int {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return 0
	}
	return int(status.Status().Code)
}

// IsStatus reports whether the server rejected a request, as opposed to a failed connection.
func IsStatus(err error) bool { return errorCode(err) != 0 }

// RejectedField returns the path of the first field that the server rejects, such as spec.size, or "".
func RejectedField(err error) string {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return ""
	}
	if status.ErrStatus.Details != nil {
		for _, cause := range status.ErrStatus.Details.Causes {
			if cause.Field != "" {
				return cause.Field
			}
		}
	}
	// Server-side apply names the fields of objects that don't have the types of the schema only in the message.
	if match := applyField.FindStringSubmatch(status.ErrStatus.Message); match != nil {
		return match[1]
	}
	return ""
}

// applyField matches a field in a message of server-side apply.
var applyField = lazyregexp.New(`(?m)(?:^|\s)\.([A-Za-z][^\s:]*): `)

// IsServerError reports whether the server failed to handle a request.
func IsServerError(err error) bool { return errorCode(err) >= http.StatusInternalServerError }

// IsNotFound reports whether an object or its kind does not exist.
func IsNotFound(err error) bool { return errorCode(err) == http.StatusNotFound }

// IsConflict reports whether an object already exists, or was changed concurrently.
func IsConflict(err error) bool { return errorCode(err) == http.StatusConflict }

// IsForbidden reports whether the user lacks permissions or is not authenticated.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// Brief returns the text of an error on one line of at most 300 bytes: a server may list all missing permissions.
func Brief(err error) string {
	const limit = 300
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + " …"
	}
	return text
}

// Ping returns the server's version, such as v1.36.3. It fails if there is no response within timeout.
func (c *Client) Ping(ctx context.Context, timeout time.Duration) (version string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response within %s", timeout))
	defer cancel()
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := c.Do(ctx, http.MethodGet, "/version", "", nil, &info); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if IsForbidden(err) {
			return "", fmt.Errorf("the cluster at %s rejects this user: %w; log in again", c.URL, err)
		}
		return "", fmt.Errorf("the cluster at %s cannot be reached: %w", c.URL, rootCause(err))
	}
	return info.GitVersion, nil
}

// rootCause returns err without the description of the request by net/http.
func rootCause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// Do sends a request with a JSON body and decodes the response into out; both may be nil. An error response is a
// *apierrors.StatusError.
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
		return fmt.Errorf("reading the response to %s %s: %w", method, path, err)
	}
	return nil
}

// Watch opens a stream of JSON documents, which ctx or the server ends.
func (c *Client) Watch(ctx context.Context, path string) (io.ReadCloser, error) {
	return c.open(ctx, http.MethodGet, path, "", nil, "")
}

// open sends a request. mediaType describes the body, accept the response (default: JSON).
func (c *Client) open(ctx context.Context, method, path, mediaType string, body any, accept string) (io.ReadCloser, error) {
	request := c.rest.Verb(method).RequestURI(path).SetHeader("Accept", cmp.Or(accept, runtime.ContentTypeJSON))
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		request.Body(data).SetHeader("Content-Type", cmp.Or(mediaType, runtime.ContentTypeJSON))
	}
	return request.Stream(ctx)
}
