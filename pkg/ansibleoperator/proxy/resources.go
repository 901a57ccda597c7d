package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resources contains what the API server serves, one group and version at a time.
type resources struct {
	get func(ctx context.Context, path, accept string) (*http.Response, error)

	mu    sync.Mutex
	lists map[schema.GroupVersion]map[string]metav1.APIResource
}

func newResources(get func(ctx context.Context, path, accept string) (*http.Response, error)) *resources {
	return &resources{get: get, lists: map[schema.GroupVersion]map[string]metav1.APIResource{}}
}

// find returns a resource; nil if the API server does not serve it. The error is one that the API server could answer. A list of
// resources is read again for a resource that it does not contain.
func (s *resources) find(ctx context.Context, gvr schema.GroupVersionResource) (*metav1.APIResource, error) {
	s.mu.Lock()
	found, ok := s.lists[gvr.GroupVersion()][gvr.Resource]
	s.mu.Unlock()
	if ok {
		return &found, nil
	}
	list, err := s.read(ctx, gvr.GroupVersion())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.lists[gvr.GroupVersion()] = list
	s.mu.Unlock()
	if found, ok = list[gvr.Resource]; !ok {
		return nil, nil
	}
	return &found, nil
}

// read returns the resources of a group and version by name; none if the API server does not serve it.
func (s *resources) read(ctx context.Context, gv schema.GroupVersion) (map[string]metav1.APIResource, error) {
	path := "/apis/" + gv.String()
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	response, err := s.get(ctx, path, jsonType)
	if err != nil {
		return nil, unreachable(err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, nil
	default:
		return nil, unreadable(path, errors.New(response.Status))
	}
	data, err := readLimited(response.Body)
	if err != nil {
		return nil, unreachable(err)
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, unreadable(path, err)
	}
	found := map[string]metav1.APIResource{}
	for _, resource := range list.APIResources {
		found[resource.Name] = resource
	}
	return found, nil
}

// unreadable returns the error of requests whose resource cannot be read. Clients may repeat them after a second.
func unreadable(path string, err error) *apierrors.StatusError {
	status := apierrors.NewServiceUnavailable(fmt.Sprintf("the proxy of the operator cannot read the resources in %s: %v", path, err))
	status.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return status
}

// isVirtual reports whether objects of a resource are not stored, such as reviews of permissions. Their metadata must be empty.
func isVirtual(resource *metav1.APIResource) bool {
	return !slices.Contains(resource.Verbs, "get")
}

func gvkOf(gvr schema.GroupVersionResource, resource *metav1.APIResource) schema.GroupVersionKind {
	return gvr.GroupVersion().WithKind(resource.Kind)
}
