package bundle

import (
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
)

// definition is one served version of a CRD.
type definition struct {
	crd, group, version, kind string
}

// definitions are the served versions of all CRDs, in the order of the input, apiextensions v1 first.
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

// leaveRequired takes CRDs out of the collection that the base only requires: another operator brings
// them, and OLM refuses a bundle that ships a CRD it does not own.
func (c *collection) leaveRequired(base *v1alpha1.ClusterServiceVersion) {
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
	c.crds = leave(c, c.crds, required)
	c.oldCRDs = leave(c, c.oldCRDs, required)
}

func leave[T any](c *collection, crds []read[T], required map[string]bool) []read[T] {
	var kept []read[T]
	for _, crd := range crds {
		if !required[crd.Name()] {
			kept = append(kept, crd)
			continue
		}
		c.note(Note{
			Position: crd.Position, Subject: crd.String(), Dropped: true,
			Reason: "is listed as required in the base CSV, so another operator brings it; it is left out of the bundle",
			Advice: "leave it out of the input, or move the entry from required to owned",
		})
	}
	return kept
}

// applyDefinitions makes the list of owned CRDs from the input. What the base says of an entry of the
// same CRD, version and kind is kept.
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
			c.note(Note{
				Position: at.locate("spec", "customresourcedefinitions", "owned", fmt.Sprint(i)), Dropped: true,
				Subject: fmt.Sprintf("the owned entry %s %s %s of the base CSV", o.Name, o.Version, o.Kind),
				Reason:  "has no CRD with that name, served version and kind in the input; it is left out with its texts",
				Advice:  "add the CRD to the input, or delete the entry",
			})
		}
	}
	csv.Spec.CustomResourceDefinitions.Owned = owned
}
