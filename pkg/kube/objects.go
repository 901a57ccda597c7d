package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Object is a Kubernetes object of any kind.
type Object = unstructured.Unstructured

// Decode reads a stream of YAML documents. Empty documents are left out, lists are taken apart.
func Decode(data []byte) ([]*Object, error) {
	var objects []*Object
	decoder := safeyaml.NewDecoder(data)
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		text, err := yaml.Marshal(&node)
		if err != nil {
			return nil, err
		}
		content, line := map[string]any{}, node.Line
		if len(node.Content) > 0 {
			line = node.Content[0].Line
		}
		if err := safeyaml.UnmarshalJSON(text, &content); err != nil {
			return nil, fmt.Errorf("line %d: an object is needed", line)
		}
		if len(content) == 0 {
			continue
		}
		object := &Object{Object: content}
		if object.GetKind() == "" || object.GetAPIVersion() == "" {
			return nil, fmt.Errorf("line %d: an object needs apiVersion and kind", line)
		}
		if !object.IsList() {
			objects = append(objects, object)
			continue
		}
		if err := object.EachListItem(func(item runtime.Object) error {
			objects = append(objects, item.(*Object))
			return nil
		}); err != nil {
			return nil, err
		}
	}
}

// Name is how people call an object: memcached/sample.
func Name(o *Object) string { return strings.ToLower(o.GetKind()) + "/" + o.GetName() }

// Path is where the server keeps an object. An object of a namespaced kind without a namespace gets
// the one given.
func (c *Client) Path(ctx context.Context, o *Object, namespace string) (string, error) {
	folder, err := c.folder(ctx, o, namespace)
	if err != nil {
		return "", err
	}
	return folder + "/" + url.PathEscape(o.GetName()), nil
}

// folder is the path of an object's kind, in its namespace.
func (c *Client) folder(ctx context.Context, o *Object, namespace string) (string, error) {
	root := versionPath(o.GetAPIVersion())
	var list struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
		}
	}
	if err := c.Do(ctx, http.MethodGet, root, "", nil, &list); err != nil && !IsNotFound(err) {
		return "", fmt.Errorf("finding the kind %s of %s: %w", o.GetKind(), o.GetAPIVersion(), err)
	}
	for _, r := range list.Resources {
		if r.Kind != o.GetKind() || strings.Contains(r.Name, "/") {
			continue
		}
		if !r.Namespaced {
			return root + "/" + r.Name, nil
		}
		if o.GetNamespace() == "" {
			o.SetNamespace(namespace)
		}
		return root + "/namespaces/" + url.PathEscape(o.GetNamespace()) + "/" + r.Name, nil
	}
	return "", &StatusError{Code: http.StatusNotFound, Reason: "NotFound",
		Message: fmt.Sprintf("the cluster has no kind %s in %s", o.GetKind(), o.GetAPIVersion())}
}

// Apply brings an object into the cluster as `kubectl apply --server-side` does, and takes over fields
// that others own.
func (c *Client) Apply(ctx context.Context, o *Object, namespace string) error {
	return c.apply(ctx, o, namespace, "")
}

// Check asks the cluster whether it would take what Apply sends, and changes nothing.
func (c *Client) Check(ctx context.Context, o *Object, namespace string) error {
	return c.apply(ctx, o, namespace, "&dryRun=All")
}

func (c *Client) apply(ctx context.Context, o *Object, namespace, how string) error {
	path, err := c.Path(ctx, o, namespace)
	if err != nil {
		return err
	}
	return c.Do(ctx, http.MethodPatch, path+"?force=true&fieldValidation=Strict&fieldManager="+Manager+how, ApplyPatch, o.Object, nil)
}

// Allowed tells whether the user may do something with all objects of a resource in the cluster.
func (c *Client) Allowed(ctx context.Context, verb, group, resource string) (bool, error) {
	review := map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{"verb": verb, "group": group, "resource": resource}},
	}
	var answer struct{ Status struct{ Allowed bool } }
	err := c.Do(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", review, &answer)
	return answer.Status.Allowed, err
}

// Delete removes an object; one that is not there is no error.
func (c *Client) Delete(ctx context.Context, o *Object, namespace string) error {
	path, err := c.Path(ctx, o, namespace)
	if err == nil {
		err = c.Do(ctx, http.MethodDelete, path, "", nil, nil)
	}
	if IsNotFound(err) {
		return nil
	}
	return err
}

// WaitEstablished waits until the API server serves a custom resource definition, or refuses its names.
func (c *Client) WaitEstablished(ctx context.Context, name string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not served within %s", timeout))
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		var crd struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		if err := c.Do(ctx, http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, "", nil, &crd); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		for _, condition := range crd.Status.Conditions {
			switch {
			case condition.Type == "Established" && condition.Status == "True":
				return nil
			case condition.Type == "NamesAccepted" && condition.Status == "False":
				return fmt.Errorf("its names are taken: %s", condition.Message)
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
