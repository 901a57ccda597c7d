package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// A Resource is a kind of objects as in the paths of a server.
type Resource struct {
	// APIVersion is the group and version, such as apps/v1. Name is the plural, such as deployments.
	APIVersion, Name string
	// Kind is the kind of its objects.
	Kind string
	// Namespaced reports whether its objects have namespaces.
	Namespaced bool
}

// Group returns the API group; empty for the core group.
func (r Resource) Group() string {
	group, _, found := strings.Cut(r.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Path returns the path of the objects in a namespace, or in all if it is empty.
func (r Resource) Path(namespace string) string {
	root := versionPath(r.APIVersion)
	if namespace != "" {
		root += "/namespaces/" + url.PathEscape(namespace)
	}
	return root + "/" + r.Name
}

func versionPath(apiVersion string) string {
	if strings.Contains(apiVersion, "/") {
		return "/apis/" + apiVersion
	}
	return "/api/" + apiVersion
}

// Get reads the object with the kind, namespace and name of o. It returns nil if the object or its kind does not exist.
func (c *Client) Get(ctx context.Context, o *Object) (*Object, error) {
	path, err := c.Path(ctx, o, o.GetNamespace())
	if err == nil {
		var text json.RawMessage
		if err = c.Do(ctx, http.MethodGet, path, "", nil, &text); err == nil {
			return decodeObject(text)
		}
	}
	if IsNotFound(err) {
		return nil, nil
	}
	return nil, fmt.Errorf("reading %s: %w", FullName(o), err)
}

// Named returns a reference to an object, for Get and Delete.
func Named(apiVersion, kind, namespace, name string) *Object {
	o := &Object{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetName(name)
	if namespace != "" {
		o.SetNamespace(namespace)
	}
	return o
}

// FullName returns the kind, namespace and name of an object: deployment olm/olm-operator.
func FullName(o *Object) string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return strings.ToLower(o.GetKind()) + " " + name
}

// pageSize is the number of objects in one response of List.
const pageSize = 500

// List reads the objects of a resource in a namespace, or in all if it is empty. query can contain labelSelector and
// fieldSelector. A resource that does not exist has no objects.
func (c *Client) List(ctx context.Context, r Resource, namespace string, query url.Values) ([]*Object, error) {
	return c.list(ctx, r, namespace, query, "")
}

// ListNames is like List, but reads only the metadata. It requires r.Kind.
func (c *Client) ListNames(ctx context.Context, r Resource, namespace string, query url.Values) ([]*Object, error) {
	return c.list(ctx, r, namespace, query, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
}

func (c *Client) list(ctx context.Context, r Resource, namespace string, query url.Values, accept string) ([]*Object, error) {
	parameters := url.Values{"limit": {fmt.Sprint(pageSize)}}
	for key, values := range query {
		parameters[key] = values
	}
	var objects []*Object
	for {
		var page struct {
			Kind     string
			Metadata struct{ Continue string }
			Items    []json.RawMessage
		}
		stream, err := c.open(ctx, http.MethodGet, r.Path(namespace)+"?"+parameters.Encode(), "", nil, accept)
		if IsNotFound(err) {
			return nil, nil
		}
		if err == nil {
			err = decodeAll(stream, &page)
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", r.Name, err)
		}
		for _, item := range page.Items {
			o, err := decodeObject(item)
			if err != nil {
				return nil, err
			}
			o.SetAPIVersion(r.APIVersion) // items of lists lack their kind, or have the kind of metadata
			if o.SetKind(r.Kind); r.Kind == "" {
				o.SetKind(strings.TrimSuffix(page.Kind, "List"))
			}
			objects = append(objects, o)
		}
		if page.Metadata.Continue == "" {
			return objects, nil
		}
		parameters.Set("continue", page.Metadata.Continue)
	}
}

// decodeObject decodes integers as int64, as unstructured requires.
func decodeObject(text []byte) (*Object, error) {
	o := &Object{}
	return o, utiljson.Unmarshal(text, &o.Object)
}

func decodeAll(stream io.ReadCloser, out any) error {
	defer func() { _ = stream.Close() }()
	return json.NewDecoder(stream).Decode(out)
}

// Resources returns the resources that can be listed and deleted, in their preferred versions. unserved are the versions whose API
// servers are unavailable.
func (c *Client) Resources(ctx context.Context) (resources []Resource, unserved []string, err error) {
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ GroupVersion string }
		}
	}
	if err := c.Do(ctx, http.MethodGet, "/apis", "", nil, &groups); err != nil {
		return nil, nil, fmt.Errorf("reading the cluster's API groups: %w", err)
	}
	versions := []string{"v1"}
	for _, group := range groups.Groups {
		versions = append(versions, group.PreferredVersion.GroupVersion)
	}
	for _, version := range versions {
		found, err := c.resources(ctx, version)
		if errorCode(err) >= http.StatusInternalServerError {
			unserved = append(unserved, version)
			continue
		}
		if err != nil && !IsNotFound(err) {
			return nil, nil, fmt.Errorf("reading the resources of %s: %w", version, err)
		}
		resources = append(resources, found...)
	}
	return resources, unserved, nil
}

func (c *Client) resources(ctx context.Context, version string) ([]Resource, error) {
	var list struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
			Verbs      []string
		}
	}
	if err := c.Do(ctx, http.MethodGet, versionPath(version), "", nil, &list); err != nil {
		return nil, err
	}
	var resources []Resource
	for _, r := range list.Resources {
		if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") {
			resources = append(resources, Resource{APIVersion: version, Name: r.Name, Kind: r.Kind, Namespaced: r.Namespaced})
		}
	}
	return resources, nil
}

// Pods is the resource of pods.
func Pods() Resource { return Resource{APIVersion: "v1", Name: "pods", Kind: "Pod", Namespaced: true} }

// Deployments is the resource of deployments.
func Deployments() Resource {
	return Resource{APIVersion: "apps/v1", Name: "deployments", Kind: "Deployment", Namespaced: true}
}

// The API version and kind of custom resource definitions.
const (
	CRDVersion = "apiextensions.k8s.io/v1"
	CRDKind    = "CustomResourceDefinition"
)

// CRDs is the resource of custom resource definitions.
func CRDs() Resource {
	return Resource{APIVersion: CRDVersion, Name: "customresourcedefinitions", Kind: CRDKind}
}

// DefinedBy returns the resource that a custom resource definition defines, in the stored version, which needs no conversion,
// or in the first served version if the stored one is not served.
func DefinedBy(crd *Object) Resource {
	version := ""
	for _, v := range ListAt(crd.Object, "spec", "versions") {
		if ValueAt(v, "served") == true && (version == "" || ValueAt(v, "storage") == true) {
			version = StringAt(v, "name")
		}
	}
	spec := ValueAt(crd.Object, "spec")
	return Resource{
		APIVersion: StringAt(spec, "group") + "/" + version, Name: StringAt(spec, "names", "plural"), Kind: StringAt(spec, "names", "kind"),
		Namespaced: StringAt(spec, "scope") == "Namespaced",
	}
}
