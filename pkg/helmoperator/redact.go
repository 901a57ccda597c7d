package helmoperator

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/redact"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A redactor removes secret data from texts that users read: conditions, events, errors and logs.
type redactor struct{ redact.Redactor }

// addManifest adds the data of all Secrets of a rendered manifest.
func (r *redactor) addManifest(manifest string) {
	for _, document := range splitManifest(manifest) {
		if object, ok := decodeSecret(document); ok {
			r.AddSecret(object)
		}
	}
}

// splitManifest returns the documents of a manifest as Helm writes it.
func splitManifest(manifest string) []string {
	return strings.Split("\n"+manifest, "\n---")
}

func decodeSecret(document string) (map[string]any, bool) {
	if !strings.Contains(document, "Secret") {
		return nil, false
	}
	var object map[string]any
	if err := safeyaml.Unmarshal([]byte(document), &object); err != nil {
		return nil, false
	}
	return object, object["kind"] == "Secret" && object["apiVersion"] == "v1"
}

// redactManifest returns a manifest with the data of its Secrets replaced. Other documents keep their bytes.
func redactManifest(manifest string) string {
	documents := splitManifest(manifest)
	for i, document := range documents {
		object, ok := decodeSecret(document)
		if !ok {
			continue
		}
		for _, key := range []string{"data", "stringData"} {
			data, _, _ := unstructured.NestedMap(object, key)
			for name := range data {
				data[name] = redact.Replacement
			}
			if data != nil {
				object[key] = data
			}
		}
		if text, err := yaml.Marshal(object); err == nil {
			documents[i] = "\n" + string(text)
		} else {
			documents[i] = "\n# a Secret that cannot be written"
		}
	}
	return strings.TrimPrefix(strings.Join(documents, "\n---"), "\n")
}
