package release

import (
	"fmt"
	"slices"
	"strings"

	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A manifestObject is an object with the template that rendered it.
type manifestObject struct {
	*unstructured.Unstructured
	source string
}

// parseManifest returns the objects of a manifest in their order. The items of lists are separate objects.
func parseManifest(manifest string) ([]manifestObject, error) {
	var objects []manifestObject
	for _, document := range splitManifest(manifest) {
		parsed, err := parseDocument(document)
		if err != nil {
			return nil, err
		}
		for _, object := range parsed {
			objects = append(objects, manifestObject{object, documentSource(document)})
		}
	}
	return objects, nil
}

// splitManifest returns the documents of a manifest in their order.
func splitManifest(manifest string) []string {
	split := releaseutil.SplitManifests(manifest)
	keys := make([]string, 0, len(split))
	for key := range split {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if releaseutil.BySplitManifestsOrder([]string{a, b}).Less(0, 1) {
			return -1
		}
		return 1
	})
	documents := make([]string, len(keys))
	for i, key := range keys {
		documents[i] = split[key]
	}
	return documents
}

// parseDocument returns the objects of a document. One that consists of comments has none.
func parseDocument(document string) ([]*unstructured.Unstructured, error) {
	data, err := safeyaml.ToJSON([]byte(document))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", documentSource(document), err)
	}
	if text := strings.TrimSpace(string(data)); text == "null" || text == "{}" {
		return nil, nil
	}
	decoded, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, nil)
	if err != nil {
		if runtime.IsMissingKind(err) {
			return nil, fmt.Errorf("%s: an object has no kind", documentSource(document))
		}
		return nil, fmt.Errorf("%s: not an object", documentSource(document))
	}
	switch value := decoded.(type) {
	case *unstructured.UnstructuredList:
		objects := make([]*unstructured.Unstructured, len(value.Items))
		for i := range value.Items {
			objects[i] = &value.Items[i]
		}
		return objects, nil
	case *unstructured.Unstructured:
		return []*unstructured.Unstructured{value}, nil
	}
	return nil, fmt.Errorf("%s: not an object", documentSource(document))
}

// documentSource returns the template of a document from the comment that Helm adds.
func documentSource(document string) string {
	for line := range strings.Lines(document) {
		if source, ok := strings.CutPrefix(strings.TrimSpace(line), "# Source: "); ok {
			return source
		}
	}
	return "manifest"
}

func objectName(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + "/" + name
}

// A key identifies an object of a release, in all versions of its group.
type key struct {
	schema.GroupKind
	namespace, name string
}

// keyOf returns the key of an object. An object without a namespace is in the namespace of the release, or cluster-scoped.
func (r *Release) keyOf(object *unstructured.Unstructured) key {
	namespace := object.GetNamespace()
	if namespace == r.namespace {
		namespace = ""
	}
	return key{object.GroupVersionKind().GroupKind(), namespace, object.GetName()}
}

func (k key) String() string { return objectName(k.Kind, k.namespace, k.name) }
