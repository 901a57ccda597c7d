package watches

import (
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// An OtherResource describes objects that no run has created, and whose changes start runs all the same. At least one of Name, NameFrom
// and Selector is set.
type OtherResource struct {
	schema.GroupVersionKind
	// Namespace is where the objects are; empty for the namespace of the custom resource.
	Namespace string
	// Name is the name of the object.
	Name string
	// NameFrom is the path in the custom resource of a name or of names, such as spec.secretName. Lists on the path are searched.
	NameFrom string
	// Selector selects the objects by their labels; nil is all.
	Selector *metav1.LabelSelector
}

// fieldPath matches a path in a custom resource.
var fieldPath = lazyregexp.New(`^(spec|status|metadata)(\.[A-Za-z_][A-Za-z0-9_-]*)+$`)

func checkFieldPath(path string) []string {
	if fieldPath.MatchString(path) {
		return nil
	}
	return []string{"must be the path of a field of the custom resource, such as spec.secretName"}
}

func (p *parser) otherResources(node *yaml.Node) []OtherResource {
	if p.isVariable(node) {
		return nil
	}
	const keys = "group, version, kind, namespace, and name, nameFrom or selector"
	var others []OtherResource
	for _, mapping := range p.objects(node, "must be a list of objects with the keys ", keys) {
		var o OtherResource
		readers := p.kindReaders(&o.Group, &o.Version, &o.Kind)
		readers["namespace"] = p.text(&o.Namespace, validation.IsDNS1123Label)
		readers["name"] = p.text(&o.Name, validation.IsDNS1123Subdomain)
		readers["nameFrom"] = p.text(&o.NameFrom, checkFieldPath)
		readers["selector"] = func(value *yaml.Node) { o.Selector = p.selector(value) }
		p.mapping(mapping, readers, nil)
		p.require(mapping, "version", o.Version)
		p.require(mapping, "kind", o.Kind)
		switch {
		case o.Name != "" && o.NameFrom != "":
			p.addf(mapping, "name and nameFrom exclude each other; remove one of them")
		case o.Name == "" && o.NameFrom == "" && safeyaml.Child(mapping, "selector") == nil:
			p.addf(mapping, "name, nameFrom or selector is required")
		}
		others = append(others, o)
	}
	return others
}

// otherValues returns what text writes.
func otherValues(others []OtherResource) []any {
	var list []any
	for _, o := range others {
		values := textValues(map[string]string{
			"group": o.Group, "version": o.Version, "kind": o.Kind, "namespace": o.Namespace, "name": o.Name, "nameFrom": o.NameFrom,
		})
		if o.Selector != nil {
			values["selector"] = selectorValues(o.Selector)
		}
		list = append(list, values)
	}
	return list
}
