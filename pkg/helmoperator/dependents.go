package helmoperator

import (
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/dependents"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// releaseWatcher watches the objects of releases: one watch for each kind and the life of the process, of the metadata of objects with
// release.ChartLabel only.
type releaseWatcher struct {
	*dependents.Watcher
	crds *crdWatcher
}

// newReleaseWatcher returns the watches of a process. Empty namespaces watch all.
func newReleaseWatcher(config *rest.Config, httpClient *http.Client, mapper meta.RESTMapper, namespaces []string, log logr.Logger) (*releaseWatcher, error) {
	options := dependents.Options{
		REST: config, HTTPClient: httpClient, Mapper: mapper, Namespaces: namespaces, Selector: release.ChartLabel, Log: log,
	}
	w, err := dependents.NewWatcher(options)
	return &releaseWatcher{w, newCRDWatcher(options)}, err
}

// Observe returns the metadata of an object for release.Observer.
func (w *releaseWatcher) Observe(gvk schema.GroupVersionKind, key types.NamespacedName) (metadata *metav1.ObjectMeta, known bool) {
	if gvk == crdGVK {
		if metadata, known := w.crds.observe(key.Name); known {
			return metadata, known
		}
	}
	found, known := w.Get(gvk, key)
	if found == nil {
		return nil, known
	}
	return &found.ObjectMeta, true
}
