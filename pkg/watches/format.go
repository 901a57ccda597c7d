package watches

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A format describes the entries of operators of one layout.
type format[W any] struct {
	// operator is an operator of the layout, with an article, and required the keys that entries must have.
	operator, required string
	// foreignKeys are the keys that only entries of the other layout have, which is foreignOperator.
	foreignOperator string
	foreignKeys     []string
	// lenient accepts values with variables in files to edit.
	lenient bool

	// create returns an entry with defaults.
	create func() W
	// readers returns the functions that read the values of keys.
	readers func(*W, *parser) map[string]func(*yaml.Node)
	// check adds findings about an entry as a whole.
	check func(*W, *parser, *yaml.Node)
	// identity returns the kind and where the position is stored.
	identity func(*W) (schema.GroupVersionKind, *diag.Position)
	// text returns the entry as a list with one element.
	text func(*W) ([]byte, error)
	// content returns the text without comments.
	content func(*W) ([]byte, error)
	// dependsOn returns what all custom resources of the kind depend on. A selector leaves resources to other operators.
	dependsOn func(*W) []Dependency
}

// parseForEdit returns the entries of a file and the node of their list, which is nil if there is none.
func (f format[W]) parseForEdit(data []byte) ([]W, *yaml.Node, error) {
	p := &parser{file: FileName, lenient: f.lenient}
	root, err := p.document(data)
	if err != nil {
		return nil, nil, err
	}
	watches := entries(f, p, root)
	if err := p.findings.Sort().Err(); err != nil {
		return nil, nil, err
	}
	if root != nil && isNull(root) {
		root = nil
	}
	return watches, root, nil
}

func (f format[W]) indexOf(watches []W, gvk schema.GroupVersionKind) int {
	return slices.IndexFunc(watches, func(w W) bool { got, _ := f.identity(&w); return got == gvk })
}

// contains reports whether a file has exactly the entries, in any order.
func (f format[W]) contains(data []byte, want []W) bool {
	got, _, err := f.parseForEdit(data)
	if err != nil || len(got) != len(want) {
		return false
	}
	for _, w := range want {
		gvk, _ := f.identity(&w)
		i := f.indexOf(got, gvk)
		if i < 0 {
			return false
		}
		expected, err := f.content(&w)
		if text, textErr := f.content(&got[i]); err != nil || textErr != nil || !bytes.Equal(text, expected) {
			return false
		}
	}
	return true
}
