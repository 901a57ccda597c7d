package manifest

import (
	"encoding/binary"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
)

// shortenSchema makes kustomize parse only the type definitions of its built-in OpenAPI document. The paths make up
// three quarters of that document, and kustomize derives nothing from them but which kinds are namespaced, for which
// it looks into a precomputed table first.
var shortenSchema = sync.OnceFunc(func() {
	document := kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI]
	kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI] = func(name string) []byte {
		return definitionsOf(document(name))
	}
})

// definitionsOf returns the definitions field of an encoded openapi.v2.Document, still encoded as that field.
func definitionsOf(document []byte) []byte {
	// The type of the message has fields of wire type 2 only: a tag, a length and as many bytes.
	const definitions = 9<<3 | 2
	for rest := document; len(rest) > 0; {
		tag, n := binary.Uvarint(rest)
		size, m := binary.Uvarint(rest[n:])
		field := rest[:n+m+int(size)]
		if tag == definitions {
			return field
		}
		rest = rest[len(field):]
	}
	return document
}
