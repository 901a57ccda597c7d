package release

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// dryRunClient returns a client whose requests the server processes but does not store. Helm's client has no such setting for objects
// that it applies by itself.
func dryRunClient(client *http.Client) *http.Client {
	transport := client.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &http.Client{Transport: dryRunTransport{transport}, Timeout: client.Timeout}
}

type dryRunTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper. The server ignores the parameter of a deletion that has a body.
func (t dryRunTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	switch request.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		request = request.Clone(request.Context())
		query := request.URL.Query()
		query.Set("dryRun", dryRun)
		request.URL.RawQuery = query.Encode()
	default:
		return nil, fmt.Errorf("%s is not possible in a dry run", request.Method)
	}
	return t.next.RoundTrip(request)
}

// dry makes requests about an object dry runs.
func (r *Release) dry(info *resource.Info) error {
	client, err := r.factory.dryClients.get(info.Mapping.GroupVersionKind.GroupVersion())
	if err != nil {
		return err
	}
	info.Client = client
	return nil
}

// checkDelete asks the server whether an object can be deleted.
func (r *Release) checkDelete(ctx context.Context, info *resource.Info, live *unstructured.Unstructured) error {
	uid, policy := live.GetUID(), metav1.DeletePropagationBackground
	options := &metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &policy, DryRun: []string{dryRun},
	}
	client, err := r.factory.clients.get(info.Mapping.GroupVersionKind.GroupVersion())
	if err != nil {
		return err
	}
	return request(client.Delete(), info, true).Body(options).Do(ctx).Error()
}
