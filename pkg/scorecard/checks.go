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

// checkSpec reports examples without a spec.
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

// checkResources reports owned CRDs without resources.
func checkResources(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	logf(r, "Loaded ClusterServiceVersion: %s\n", b.CSV.GetName())
	for _, owned := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if len(owned.Resources) == 0 {
			fail(r, "Owned CRDs do not have resources specified")
			return
		}
	}
}

// abort sets the result of a test that cannot run.
func abort(r *v1alpha3.TestResult, err error) {
	r.Errors = append(r.Errors, err.Error())
	r.State = v1alpha3.ErrorState
}

// checkSchemas reports fields of examples that are missing in the schemas of the CRDs.
func checkSchemas(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	crs, err := examples(b)
	if err != nil {
		abort(r, err)
		return
	}
	logf(r, "Loaded %d Custom Resources from alm-examples\n", len(crs))
	crds := slices.Clone(b.V1CRDs)
	for _, beta := range b.V1beta1CRDs {
		crd, err := toV1(beta)
		if err != nil {
			abort(r, err)
			return
		}
		crds = append(crds, crd)
	}
	// operator-sdk prints the objects with pointers.
	names := make([]string, 0, len(crds))
	for _, crd := range crds {
		names = append(names, crd.Name)
	}
	logf(r, "Loaded CustomresourceDefinitions: %s\n", names)
	for _, cr := range crs {
		checkSchema(cr, crds, r)
	}
}

// toV1 converts a v1beta1 CRD.
func toV1(beta *apiextensionsv1beta1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
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

// conventions is the documentation of spec and status.
const conventions = "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#spec-and-status"

// markers is the documentation of the markers for descriptors.
const markers = "https://sdk.operatorframework.io/docs/building-operators/golang/references/markers/"

// checkStatusDescriptors reports examples whose status has no descriptors.
func checkStatusDescriptors(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	for _, cr := range loadExamples(b, r) {
		owned := descriptionOf(b, cr, r)
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

// checkSpecDescriptors reports fields of the examples' specs without descriptors.
func checkSpecDescriptors(_ Bundle, b *apimanifests.Bundle, r *v1alpha3.TestResult) {
	for _, cr := range loadExamples(b, r) {
		spec, err := part(cr, "spec")
		if err != nil {
			fail(r, "%s", err)
			continue
		}
		if spec == nil {
			// operator-sdk reports no error here, so the log must.
			r.State = v1alpha3.FailState
			logf(r, "%s %s in alm-examples has no spec\n", cr.GetKind(), cr.GetName())
			continue
		}
		owned := descriptionOf(b, cr, r)
		if owned == nil {
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(spec)) {
			describes := func(d v1alpha1.SpecDescriptor) bool { return d.Path == field }
			if !slices.ContainsFunc(owned.SpecDescriptors, describes) {
				fail(r, "%s does not have a spec descriptor", field)
				suggest(r, "Add a spec descriptor for %s", field)
			}
		}
	}
}

// loadExamples returns the examples and adds them to the log.
func loadExamples(b *apimanifests.Bundle, r *v1alpha3.TestResult) []unstructured.Unstructured {
	logf(r, "Loaded ClusterServiceVersion: %s\n", b.CSV.GetName())
	crs, err := examples(b)
	if err != nil {
		abort(r, err)
		return nil
	}
	logf(r, "Loaded %d Custom Resources from alm-examples\n", len(crs))
	return crs
}

// descriptionOf returns the CSV's description of the kind of an example. The test fails if there is none.
func descriptionOf(b *apimanifests.Bundle, cr unstructured.Unstructured, r *v1alpha3.TestResult) *v1alpha1.CRDDescription {
	gvk := cr.GroupVersionKind()
	for i, owned := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if owned.Kind == gvk.Kind && owned.Version == gvk.Version {
			return &b.CSV.Spec.CustomResourceDefinitions.Owned[i]
		}
	}
	fail(r, "Failed to find an owned CRD for CR %s with GVK %s", cr.GetName(), gvk)
	return nil
}
