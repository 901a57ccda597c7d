package safeyaml

import (
	"errors"
	"io"
	"iter"

	"go.yaml.in/yaml/v3"
)

// Fields yields the keys and values of a mapping. Other nodes, also nil, have none.
func Fields(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// Documents decodes the documents of a YAML stream into values of a type. With an error, it returns the documents before it.
func Documents[T any](data []byte) ([]*T, error) {
	var documents []*T
	for decoder := NewDecoder(data); ; {
		document := new(T)
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return documents, err
		}
		documents = append(documents, document)
	}
}
