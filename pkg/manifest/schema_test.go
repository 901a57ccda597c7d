package manifest

import (
	"reflect"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// TestShortenedSchema expects kustomize to derive the same from the shortened document as from the complete one.
func TestShortenedSchema(t *testing.T) {
	builtin := kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI]
	if len(kubernetesapi.OpenAPIMustAsset) != 1 {
		t.Error("kustomize has more documents than the default one")
	}
	t.Cleanup(func() {
		openapi.ResetOpenAPI()
		kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI] = builtin
	})
	var size int
	kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI] = func(name string) []byte {
		document := builtin(name)
		size = len(document)
		return document
	}
	openapi.ResetOpenAPI()
	full := openapi.Schema().Definitions
	scopes := map[yaml.TypeMeta][2]bool{}
	for _, definition := range full {
		kinds, _ := definition.Extensions["x-kubernetes-group-version-kind"].([]any)
		for _, kind := range kinds {
			fields := kind.(map[string]any)
			meta := yaml.TypeMeta{APIVersion: fields["version"].(string), Kind: fields["kind"].(string)}
			if group, _ := fields["group"].(string); group != "" {
				meta.APIVersion = group + "/" + meta.APIVersion
			}
			namespaced, known := openapi.IsNamespaceScoped(meta)
			scopes[meta] = [2]bool{namespaced, known}
		}
	}
	if len(scopes) < 100 {
		t.Errorf("the document defines %d kinds, want at least 100", len(scopes))
	}

	kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI] = func(name string) []byte {
		definitions := definitionsOf(builtin(name))
		if len(definitions) > size/3 {
			t.Errorf("%d bytes of %d are left", len(definitions), size)
		}
		return definitions
	}
	openapi.ResetOpenAPI()
	if !reflect.DeepEqual(openapi.Schema().Definitions, full) {
		t.Error("the definitions differ")
	}
	for meta, want := range scopes {
		if namespaced, known := openapi.IsNamespaceScoped(meta); [2]bool{namespaced, known} != want {
			t.Errorf("%s %s: namespaced, known = %t, %t; want %v", meta.APIVersion, meta.Kind, namespaced, known, want)
		}
	}
}
