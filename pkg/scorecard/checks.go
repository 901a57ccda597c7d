package scorecard

import (
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	apimanifests "github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// checkSpec looks for examples without a spec.
func checkSpec(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	crs, err := examples(b)
	if err != nil {
		fail(r, "error getting custom resources: %s", err)
	}
	for _, cr := range crs {
		if cr.Object["spec"] == nil {
			suggest(r, "spec missing from [%s]", cr.GetName())
			return
		}
	}
}

// checkResources looks for owned CRDs that do not say which objects they lead to.
func checkResources(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	logf(r, "Loaded ClusterServiceVersion: %s\n", b.CSV.GetName())
	for _, owned := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if len(owned.Resources) == 0 {
			fail(r, "Owned CRDs do not have resources specified")
			return
		}
	}
}

// broken ends a test that cannot be carried out.
func broken(r *v1alpha3.TestResult, err error) {
	r.Errors = append(r.Errors, err.Error())
	r.State = v1alpha3.ErrorState
}

// checkSchemas looks for fields of examples that the schemas of the CRDs do not have.
func checkSchemas(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	crs, err := examples(b)
	if err != nil {
		broken(r, err)
		return
	}
	logf(r, "Loaded %d Custom Resources from alm-examples\n", len(crs))
	crds := slices.Clone(b.V1CRDs)
	for _, beta := range b.V1beta1CRDs {
		crd, err := stable(beta)
		if err != nil {
			broken(r, err)
			return
		}
		crds = append(crds, crd)
	}
	// operator-sdk writes the objects out, with the addresses of their parts in memory.
	names := make([]string, 0, len(crds))
	for _, crd := range crds {
		names = append(names, crd.Name)
	}
	logf(r, "Loaded CustomresourceDefinitions: %s\n", names)
	for _, cr := range crs {
		checkSchema(cr, crds, r)
	}
}

func stable(beta *apiextensionsv1beta1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(beta, &internal, nil); err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(&internal, crd, nil); err != nil {
		return nil, err
	}
	crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), crdKind
	return crd, nil
}

func checkSchema(cr unstructured.Unstructured, crds []*apiextensionsv1.CustomResourceDefinition, r *v1alpha3.TestResult) {
	gvk := cr.GroupVersionKind()
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if !strings.EqualFold(gvk.Version, version.Name) || !strings.EqualFold(gvk.Kind, crd.Spec.Names.Kind) {
				continue
			}
			if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
				suggest(r, "Add CRD validation for %s/%s", crd.Spec.Names.Kind, version.Name)
				continue
			}
			missing := false
			for _, name := range []string{"spec", "status"} {
				fields, err := part(cr, name)
				if err != nil {
					fail(r, "%s", err)
					return
				}
				for _, field := range slices.Sorted(maps.Keys(fields)) {
					if _, ok := version.Schema.OpenAPIV3Schema.Properties[name].Properties[field]; !ok {
						missing = true
						suggest(r, "Add CRD validation for %s field `%s` in %s/%s", name, field, gvk.Kind, gvk.Version)
					}
				}
			}
			if missing {
				r.State = v1alpha3.FailState
				return
			}
		}
	}
}

// conventions is where Kubernetes explains spec and status.
const conventions = "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#spec-and-status"

// markers is where the markers are explained that descriptors are made from.
const markers = "https://sdk.operatorframework.io/docs/building-operators/golang/references/markers/"

// checkStatusDescriptors looks for examples with a status that no descriptor explains.
func checkStatusDescriptors(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	for _, cr := range described(b, r) {
		owned := ownedBy(b, cr, r)
		if owned == nil {
			continue
		}
		status, err := part(cr, "status")
		switch {
		case err != nil:
			fail(r, "%s", err)
		case len(status) == 0:
			suggest(r, "%s does not have status spec. Note that all objects that represent a physical resource whose state may vary "+
				"from the user's desired intent SHOULD have a spec and a status. More info: %s", owned.Name, conventions)
		case len(owned.StatusDescriptors) == 0:
			fail(r, "%s does not have a status descriptor", owned.Name)
			suggest(r, "add status descriptor for the crd %s. If your project is built using Golang you can use the csv markers. More info: %s",
				owned.Name, markers)
		}
	}
}

// checkSpecDescriptors looks for fields of the examples' specs that no descriptor explains.
func checkSpecDescriptors(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	for _, cr := range described(b, r) {
		spec, err := part(cr, "spec")
		if err != nil {
			fail(r, "%s", err)
			continue
		}
		if spec == nil {
			// operator-sdk names no error here, so that the log has to say it.
			r.State = v1alpha3.FailState
			logf(r, "%s %s in alm-examples has no spec\n", cr.GetKind(), cr.GetName())
			continue
		}
		owned := ownedBy(b, cr, r)
		if owned == nil {
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(spec)) {
			explains := func(d v1alpha1.SpecDescriptor) bool { return d.Path == field }
			if !slices.ContainsFunc(owned.SpecDescriptors, explains) {
				fail(r, "%s does not have a spec descriptor", field)
				suggest(r, "Add a spec descriptor for %s", field)
			}
		}
	}
}

// described are the examples whose descriptors are looked at.
func described(b *apimanifests.Bundle, r *v1alpha3.TestResult) []unstructured.Unstructured {
	logf(r, "Loaded ClusterServiceVersion: %s\n", b.CSV.GetName())
	crs, err := examples(b)
	if err != nil {
		broken(r, err)
		return nil
	}
	logf(r, "Loaded %d Custom Resources from alm-examples\n", len(crs))
	return crs
}

// ownedBy is how the CSV describes the kind of an example. The test fails when it does not.
func ownedBy(b *apimanifests.Bundle, cr unstructured.Unstructured, r *v1alpha3.TestResult) *v1alpha1.CRDDescription {
	gvk := cr.GroupVersionKind()
	for i, owned := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if owned.Kind == gvk.Kind && owned.Version == gvk.Version {
			return &b.CSV.Spec.CustomResourceDefinitions.Owned[i]
		}
	}
	fail(r, "Failed to find an owned CRD for CR %s with GVK %s", cr.GetName(), gvk)
	return nil
}
