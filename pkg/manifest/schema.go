package manifest

import (
	"encoding/binary"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
)

// shortenSchema makes kustomize parse only the type definitions of its built-in OpenAPI document. The paths make up three
// quarters of the document. Kustomize uses them only to determine which kinds are namespaced, and has a precomputed
// table of those.
var shortenSchema = sync.OnceFunc(func() {
	document := kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI]
	kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI] = func(name string) []byte {
		return definitionsOf(document(name))
	}
})

// definitionsOf returns the definitions field of an encoded openapi.v2.Document, still encoded as that field.
func definitionsOf(document []byte) []byte {
	// All fields of the message are of wire type 2: a tag, a length and as many bytes.
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
