package release

import (
	"fmt"
	"net/http"
	"sync"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
)

// restClients are the connections per API version, for objects of any kind.
type restClients struct {
	config *rest.Config
	http   *http.Client
	mutex  sync.Mutex
	byGV   map[schema.GroupVersion]rest.Interface
}

func (c *restClients) get(gv schema.GroupVersion) (rest.Interface, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if client, ok := c.byGV[gv]; ok {
		return client, nil
	}
	config := rest.CopyConfig(c.config)
	config.APIPath = "/apis"
	if gv.Group == "" {
		config.APIPath = "/api"
	}
	config.GroupVersion = &gv
	config.ContentConfig = resource.UnstructuredPlusDefaultContentConfig()
	config.GroupVersion = &gv
	client, err := rest.RESTClientForConfigAndClient(config, c.http)
	if err != nil {
		return nil, err
	}
	if c.byGV == nil {
		c.byGV = map[schema.GroupVersion]rest.Interface{}
	}
	c.byGV[gv] = client
	return client, nil
}

// info returns an object with its mapping and connection, as Helm's client handles it. The object gets the namespace of the
// release if it has none and its kind is namespaced.
func (r *Release) info(object *unstructured.Unstructured) (*resource.Info, error) {
	gvk := object.GroupVersionKind()
	mapping, err := r.factory.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		if isUnserved(err) {
			r.factory.capabilities.expire()
		}
		return nil, fmt.Errorf("%s: %w", r.keyOf(object), err)
	}
	client, err := r.factory.clients.get(mapping.GroupVersionKind.GroupVersion())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.keyOf(object), err)
	}
	namespace := ""
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if namespace = object.GetNamespace(); namespace == "" {
			namespace = r.namespace
		}
	}
	if namespace != object.GetNamespace() {
		object.SetNamespace(namespace)
	}
	return &resource.Info{
		Client: client, Mapping: mapping, Namespace: namespace, Name: object.GetName(), Object: object,
		ResourceVersion: object.GetResourceVersion(),
	}, nil
}

// anyKind is a filter of infos that accepts all kinds.
func anyKind(schema.GroupKind) bool { return true }

// infos returns the objects of a manifest as they are applied: with label and owner. Objects of kinds that the cluster doesn't serve
// are left out if skip reports true, and an error otherwise.
func (r *Release) infos(manifest string, skip func(schema.GroupKind) bool) (kube.ResourceList, error) {
	objects, err := parseManifest(manifest)
	if err != nil {
		return nil, err
	}
	list := make(kube.ResourceList, 0, len(objects))
	for _, object := range objects {
		info, err := r.info(object.Unstructured)
		if isUnserved(err) && skip(object.GroupVersionKind().GroupKind()) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.owner.adopt(object.Unstructured, info.Namespaced(), r.chartName())
		list = append(list, info)
	}
	return list, nil
}

// chartName returns the value of the chart label, "" if there is no chart.
func (r *Release) chartName() string {
	if r.options.Chart == nil {
		return ""
	}
	return r.options.Chart.Name()
}
