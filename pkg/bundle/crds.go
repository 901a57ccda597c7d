package bundle

import (
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A definition is one served version of a CRD.
type definition struct {
	crd, group, version, kind string
}

// definitions returns the served versions of all CRDs in input order, apiextensions.k8s.io/v1 first.
func (c *collection) definitions() []definition {
	var all []definition
	for _, crd := range c.crds {
		spec := crd.value.Spec
		for _, v := range spec.Versions {
			if v.Served {
				all = append(all, definition{crd.value.Name, spec.Group, v.Name, spec.Names.Kind})
			}
		}
	}
	for _, crd := range c.oldCRDs {
		spec := crd.value.Spec
		if len(spec.Versions) == 0 {
			all = append(all, definition{crd.value.Name, spec.Group, spec.Version, spec.Names.Kind})
		}
		for _, v := range spec.Versions {
			if v.Served {
				all = append(all, definition{crd.value.Name, spec.Group, v.Name, spec.Names.Kind})
			}
		}
	}
	return all
}

// removeRequired removes the CRDs that the base CSV only requires: another operator provides them, and OLM rejects a
// bundle with a CRD that it does not own.
func (c *collection) removeRequired(base *v1alpha1.ClusterServiceVersion) {
	required := map[string]bool{}
	for _, r := range base.Spec.CustomResourceDefinitions.Required {
		required[r.Name] = true
	}
	for _, o := range base.Spec.CustomResourceDefinitions.Owned {
		delete(required, o.Name)
	}
	if len(required) == 0 {
		return
	}
	c.crds = removeCRDs(c, c.crds, required)
	c.oldCRDs = removeCRDs(c, c.oldCRDs, required)
}

// removeCRDs returns the CRDs that are not required.
func removeCRDs[T any](c *collection, crds []decoded[T], required map[string]bool) []decoded[T] {
	var kept []decoded[T]
	for _, crd := range crds {
		if !required[crd.Name()] {
			kept = append(kept, crd)
			continue
		}
		c.note(diag.Finding{
			Position: crd.Position, Object: crd.String(), Severity: diag.Warning,
			Problem: "is listed as required in the base CSV, so another operator provides it; it is left out of the bundle",
			Fix:     "remove it from the input, or move the entry from required to owned",
		})
	}
	return kept
}

// applyDefinitions writes the owned CRDs of the input into the CSV. Entries of the base for the same CRD, version and kind
// are kept.
func (c *collection) applyDefinitions(csv *v1alpha1.ClusterServiceVersion, at source) {
	key := func(name, version, kind string) string { return name + "/" + version + "/" + kind }
	described := map[string]v1alpha1.CRDDescription{}
	for _, o := range csv.Spec.CustomResourceDefinitions.Owned {
		described[key(o.Name, o.Version, o.Kind)] = o
	}
	owned := []v1alpha1.CRDDescription{}
	used := map[string]bool{}
	for _, d := range c.definitions() {
		k := key(d.crd, d.version, d.kind)
		if o, ok := described[k]; ok {
			owned = append(owned, o)
		} else {
			owned = append(owned, v1alpha1.CRDDescription{Name: d.crd, Version: d.version, Kind: d.kind})
		}
		used[k] = true
	}
	for i, o := range csv.Spec.CustomResourceDefinitions.Owned {
		if !used[key(o.Name, o.Version, o.Kind)] {
			c.note(diag.Finding{
				Position: at.locate("spec", "customresourcedefinitions", "owned", fmt.Sprint(i)), Severity: diag.Warning,
				Object:  fmt.Sprintf("the owned entry %s %s %s of the base CSV", o.Name, o.Version, o.Kind),
				Problem: "has no CRD with that name, served version and kind in the input; it is left out with its description",
				Fix:     "add the CRD to the input, or delete the entry",
			})
		}
	}
	csv.Spec.CustomResourceDefinitions.Owned = owned
}
