package source

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const notesFile = "NOTES.txt"

// oldHook matches the annotation of a CRD in charts for Helm 2.
var oldHook = lazyregexp.New(`helm\.sh/hook["']?:\s*["']?crd-install`)

// splitObjects returns the objects in rendered templates, in the order in which Helm installs them, hooks last.
func splitObjects(rendered map[string]string) (objects []helmchart.RenderedObject, warnings []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if err := safeyaml.Check([]byte(rendered[name])); err != nil && path.Base(name) != notesFile {
			return nil, warnings, fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case path.Base(name) == notesFile:
			delete(rendered, name)
		case oldHook.MatchString(rendered[name]):
			warnings = append(warnings, name+": hook crd-install is of Helm 2, and its object is not installed; move it to crds/")
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(rendered, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, warnings, err
	}
	for _, manifest := range manifests {
		found, err := decodeObjects(manifest.Name, []byte(manifest.Content))
		if err != nil {
			return nil, warnings, err
		}
		objects = append(objects, found...)
	}
	slices.SortStableFunc(hooks, func(a, b *releasev1.Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Path, b.Path))
	})
	for _, h := range hooks {
		found, err := decodeObjects(h.Path, []byte(h.Manifest))
		if err != nil {
			return nil, warnings, err
		}
		for i := range found {
			for _, event := range h.Events {
				found[i].Hooks = append(found[i].Hooks, event.String())
			}
		}
		objects = append(objects, found...)
	}
	return objects, warnings, nil
}

// decodeObjects decodes one document. Lists are replaced by their items; a document without content has no objects.
func decodeObjects(template string, document []byte) ([]helmchart.RenderedObject, error) {
	data, err := safeyaml.ToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", template, err)
	}
	var value any
	if err := decodeExact(data, &value); err != nil {
		return nil, fmt.Errorf("%s: %w", template, err)
	}
	if value == nil {
		return nil, nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: %w: %s", template, errNotAnObject, oneLine(string(document)))
	}
	if len(object) == 0 {
		return nil, nil
	}
	return expandLists(template, object, 0)
}

// expandLists returns an object, or the items of a list.
func expandLists(template string, object map[string]any, depth int) ([]helmchart.RenderedObject, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if apiVersion == "" || kind == "" {
		return nil, fmt.Errorf("%s: apiVersion and kind are required in each object", template)
	}
	items, ok := object["items"].([]any)
	if kind != "List" && !(ok && strings.HasSuffix(kind, "List")) {
		return []helmchart.RenderedObject{{Template: template, Object: object}}, nil
	}
	var objects []helmchart.RenderedObject
	for _, item := range items {
		member, ok := item.(map[string]any)
		if !ok || depth == maxDepth {
			return nil, fmt.Errorf("%s: %w: an item of a %s", template, errNotAnObject, kind)
		}
		if kind != "List" && member["kind"] == nil && member["apiVersion"] == nil { // the items of ConfigMapList are ConfigMaps
			member["kind"], member["apiVersion"] = strings.TrimSuffix(kind, "List"), apiVersion
		}
		found, err := expandLists(template, member, depth+1)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// crds returns the objects in crds/ of a chart and its dependencies, by path.
func crds(c *chart.Chart) ([]helmchart.RenderedObject, error) {
	files := c.CRDObjects()
	slices.SortStableFunc(files, func(a, b chart.CRD) int { return cmp.Compare(a.Filename, b.Filename) })
	var objects []helmchart.RenderedObject
	for _, file := range files {
		name := strings.ReplaceAll(file.Filename, "\\", "/")
		documents := releaseutil.SplitManifests(string(file.File.Data))
		keys := slices.SortedFunc(maps.Keys(documents), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // manifest-2 is before manifest-10
		})
		for _, key := range keys {
			found, err := decodeObjects(name, []byte(documents[key]))
			if err != nil {
				return nil, err
			}
			objects = append(objects, found...)
		}
	}
	return objects, nil
}

// decodeExact decodes JSON; integers become int64.
func decodeExact(data []byte, into any) error { return json.Unmarshal(data, into) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
