package project

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// CRDNames are the names of a kind in its CRD.
type CRDNames struct {
	// Group is the group with its domain.
	Group string
	// Kind, Plural, Singular and ListKind are the names; the last two may be empty.
	Kind, Plural, Singular, ListKind string
}

// ReadCRDNames returns the names of the kinds whose CRDs a text contains.
func ReadCRDNames(text []byte) []CRDNames {
	if !bytes.Contains(text, []byte("CustomResourceDefinition")) {
		return nil
	}
	if names, ok := scanCRDNames(string(text)); ok {
		return names
	}
	documents, err := safeyaml.Documents[yaml.Node](text)
	if err != nil {
		return nil // kustomize reports it
	}
	var all []CRDNames
	for _, document := range documents {
		if len(document.Content) == 0 {
			continue
		}
		object := document.Content[0]
		spec := safeyaml.Child(object, "spec")
		n := CRDNames{Group: textOf(safeyaml.Child(spec, "group"))}
		for key, field := range n.fields() {
			*field = textOf(safeyaml.Child(spec, "names", key))
		}
		if textOf(safeyaml.Child(object, "kind")) == "CustomResourceDefinition" && n.Kind != "" && n.Plural != "" {
			all = append(all, n)
		}
	}
	return all
}

func (n *CRDNames) fields() map[string]*string {
	return map[string]*string{"kind": &n.Kind, "plural": &n.Plural, "singular": &n.Singular, "listKind": &n.ListKind}
}

// scanCRDNames reads the names in the form that controller-gen writes, without parsing schemas, which can be large. ok is false for other
// forms.
func scanCRDNames(text string) (all []CRDNames, ok bool) {
	var n CRDNames
	var kind, inSpec, inNames bool
	end := func() bool {
		complete := n.Group != "" && n.Kind != "" && n.Plural != ""
		if kind && complete {
			all = append(all, n)
		}
		isValid := !kind || complete
		n, kind, inSpec, inNames = CRDNames{}, false, false, false
		return isValid
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		key, value, isField := strings.Cut(line[indent:], ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(line, "---"):
			if !end() {
				return nil, false
			}
		case line == "" || indent > 4 || !isField:
		case indent == 0:
			if key == "kind" && value != "CustomResourceDefinition" && strings.Contains(value, "CustomResourceDefinition") {
				return nil, false // quoted, commented or a list
			}
			inSpec, inNames, kind = key == "spec", false, kind || key == "kind" && value == "CustomResourceDefinition"
		case indent == 2 && inSpec:
			inNames = key == "names"
			if key == "group" {
				n.Group = value
			}
		case indent == 4 && inNames:
			if field := n.fields()[key]; field != nil {
				*field = value
			}
		}
		if strings.ContainsAny(value, `"'#&*`) && (inNames || inSpec && key == "group") {
			return nil, false
		}
	}
	return all, end() && len(all) > 0
}

// FollowCRDs gives the project's resources the plurals in its CRDs: clusters have them, whatever the file records. Of several
// CRDs of a kind, the first counts.
func (c *Config) FollowCRDs(crds []CRDNames) { c.crds = crds }

// CRDNames returns the names of a kind in the project's CRDs.
func (c *Config) CRDNames(group, kind string) (CRDNames, bool) {
	for _, crd := range c.crds {
		if crd.Group == group && crd.Kind == kind {
			return crd, true
		}
	}
	return CRDNames{}, false
}

// AllCRDNames returns the names of all kinds in the project's CRDs.
func (c *Config) AllCRDNames() []CRDNames { return c.crds }

// deployedPlural returns the plural of a resource in the project's CRDs. Those of kinds with Go types follow from markers, so they decide
// only if there is no other CRD, which may be left over from another plural.
func (c *Config) deployedPlural(r Resource) (string, bool) {
	first, ok := c.CRDNames(r.QualifiedGroup(), r.Kind)
	if !ok || !c.HasTypes(r) {
		return first.Plural, ok
	}
	for _, crd := range c.crds {
		if crd.Group == first.Group && crd.Kind == first.Kind && crd.Plural != first.Plural {
			return "", false
		}
	}
	return first.Plural, true
}
