package kube

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Object is a Kubernetes object of any kind.
type Object = unstructured.Unstructured

// DecodeFiles decodes files in their order. read returns the content of the one with a name, which errors begin with.
func DecodeFiles(names []string, read func(name string) ([]byte, error)) (objects []*Object, err error) {
	for _, name := range names {
		data, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
		more, err := Decode(data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// Decode parses a stream of YAML documents. It skips empty documents and returns the items of lists.
func Decode(data []byte) ([]*Object, error) {
	var objects []*Object
	nodes, err := safeyaml.Documents[yaml.Node](data)
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		text, err := yaml.Marshal(node)
		if err != nil {
			return nil, err
		}
		content, line := map[string]any{}, node.Line
		if len(node.Content) > 0 {
			line = node.Content[0].Line
		}
		if err := safeyaml.UnmarshalJSON(text, &content); err != nil {
			return nil, fmt.Errorf("line %d: must be an object", line)
		}
		if len(content) == 0 {
			continue
		}
		object := &Object{Object: content}
		if object.GetKind() == "" || object.GetAPIVersion() == "" {
			return nil, fmt.Errorf("line %d: apiVersion and kind are required", line)
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
	return objects, nil
}

// Name returns kind/name of an object: memcached/sample.
func Name(o *Object) string { return strings.ToLower(o.GetKind()) + "/" + o.GetName() }

// Path returns the path of an object on the server. It sets the namespace of an object of a namespaced kind without one.
func (c *Client) Path(ctx context.Context, o *Object, namespace string) (string, error) {
	dir, err := c.kindPath(ctx, o, namespace)
	if err != nil {
		return "", err
	}
	return dir + "/" + url.PathEscape(o.GetName()), nil
}

// kindPath returns the path of an object's kind in its namespace.
func (c *Client) kindPath(ctx context.Context, o *Object, namespace string) (string, error) {
	r, err := c.ResourceOf(ctx, o)
	if err != nil || !r.Namespaced {
		return r.Path(""), err
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(namespace)
	}
	return r.Path(o.GetNamespace()), nil
}

// ResourceOf returns the resource of an object's kind. IsNotFound is true for the error if the server has no such kind.
func (c *Client) ResourceOf(ctx context.Context, o *Object) (Resource, error) {
	var list struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
		}
	}
	if err := c.Do(ctx, http.MethodGet, versionPath(o.GetAPIVersion()), "", nil, &list); err != nil && !IsNotFound(err) {
		return Resource{}, fmt.Errorf("reading the resources of %[2]s: %[3]w", o.GetKind(), o.GetAPIVersion(), err)
	}
	for _, r := range list.Resources {
		if r.Kind == o.GetKind() && !strings.Contains(r.Name, "/") {
			return Resource{APIVersion: o.GetAPIVersion(), Name: r.Name, Kind: r.Kind, Namespaced: r.Namespaced}, nil
		}
	}
	notFound := apierrors.NewNotFound(schema.GroupResource{}, o.GetKind())
	notFound.ErrStatus.Message = fmt.Sprintf("kind %s of %s not found in the cluster", o.GetKind(), o.GetAPIVersion())
	return Resource{}, notFound
}

// Allowed reports whether the user has a permission for all objects of a resource.
func (c *Client) Allowed(ctx context.Context, verb, group, resource string) (bool, error) {
	review := map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{"verb": verb, "group": group, "resource": resource}},
	}
	var answer struct{ Status struct{ Allowed bool } }
	err := c.Do(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", review, &answer)
	return answer.Status.Allowed, err
}

// Delete deletes an object, as kubectl does: what it owns follows, also the pods of a Job, which the API server would keep otherwise. It is not
// an error if the object does not exist.
func (c *Client) Delete(ctx context.Context, o *Object, namespace string) error {
	return c.delete(ctx, o, namespace, "")
}

// CheckDelete is a dry run of Delete.
func (c *Client) CheckDelete(ctx context.Context, o *Object, namespace string) error {
	return c.delete(ctx, o, namespace, "&dryRun=All")
}

func (c *Client) delete(ctx context.Context, o *Object, namespace, query string) error {
	path, err := c.Path(ctx, o, namespace)
	if err == nil {
		err = c.Do(ctx, http.MethodDelete, path+"?propagationPolicy=Background"+query, "", nil, nil)
	}
	if IsNotFound(err) {
		return nil
	}
	return err
}

// WaitEstablished waits until the API server serves a custom resource definition. It is an error if its names are taken.
func (c *Client) WaitEstablished(ctx context.Context, name string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not served within %s", timeout))
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		crd := &Object{}
		if err := c.Do(ctx, http.MethodGet, CRDs().Path("")+"/"+name, "", nil, &crd.Object); err != nil {
			return false, err
		}
		for _, condition := range Conditions(crd) {
			switch {
			case condition.Type == "Established" && condition.Status == "True":
				return c.serves(ctx, crd)
			case condition.Type == "NamesAccepted" && condition.Status == "False":
				return false, fmt.Errorf("its names are taken: %s", condition.Message)
			}
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// serves reports whether the API server lists the kind of a custom resource definition in all of its served versions. On a busy machine
// that is later than the condition Established.
func (c *Client) serves(ctx context.Context, crd *Object) (bool, error) {
	group, kind := StringAt(crd.Object, "spec", "group"), StringAt(crd.Object, "spec", "names", "kind")
	for _, version := range ListAt(crd.Object, "spec", "versions") {
		if ValueAt(version, "served") != true {
			continue
		}
		object := &Object{}
		object.SetAPIVersion(group + "/" + StringAt(version, "name"))
		object.SetKind(kind)
		if _, err := c.kindPath(ctx, object, "default"); IsNotFound(err) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// Patch merges a patch into an object.
func (c *Client) Patch(ctx context.Context, o *Object, patch map[string]any) error {
	path, err := c.Path(ctx, o, o.GetNamespace())
	if err != nil {
		return err
	}
	return c.Do(ctx, http.MethodPatch, path, MergePatch, patch, nil)
}
