package watches

import (
	"maps"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A TargetNamespace is the namespace of what is created for cluster-scoped custom resources. At most one of its fields is set.
type TargetNamespace struct {
	// Name is the namespace.
	Name string
	// From is the path in the custom resource of the namespace, such as spec.targetNamespace.
	From string
}

// IsSet reports whether there is a target namespace, so that the kind must be cluster-scoped.
func (t TargetNamespace) IsSet() bool { return t != (TargetNamespace{}) }

func (t *TargetNamespace) addReaders(p *parser, readers map[string]func(*yaml.Node)) {
	maps.Copy(readers, map[string]func(*yaml.Node){
		"targetNamespace":     p.text(&t.Name, validation.IsDNS1123Label),
		"targetNamespaceFrom": p.text(&t.From, checkFieldPath),
	})
}

func (t *TargetNamespace) check(p *parser, node *yaml.Node) {
	if t.Name != "" && t.From != "" {
		p.addf(node, "targetNamespace and targetNamespaceFrom exclude each other; remove one of them")
	}
}
