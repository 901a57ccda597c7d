package release

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A CRDPolicy says what happens to the objects in the crds directory of a chart. They do not belong to the release: they are not
// deleted with it. Objects that are no CRDs are only created.
type CRDPolicy string

// The policies.
const (
	// CRDsCreate creates missing CRDs before an installation or upgrade, as Helm does before an installation. Existing ones are not
	// changed.
	CRDsCreate CRDPolicy = "create"
	// CRDsCreateReplace creates missing CRDs and updates those that differ, in each pass. Fields and metadata that others have added
	// are kept. A CRD is left as it is, and reported, if it belongs to somebody else, or if a newer chart or the chart of another kind
	// has another version of it. The pass fails if objects are stored in a version that the chart's CRD does not have.
	CRDsCreateReplace CRDPolicy = "createReplace"
	// CRDsSkip neither creates nor updates CRDs.
	CRDsSkip CRDPolicy = "skip"
)

func (p CRDPolicy) isValid() bool {
	return slices.Contains([]CRDPolicy{"", CRDsCreate, CRDsCreateReplace, CRDsSkip}, p)
}

// A CRDReport describes a CRD that differs from the chart's and is left as it is.
type CRDReport struct {
	// Name is the name of the CRD, such as certificates.cert-manager.io.
	Name string
	// Problem says why, and what to do.
	Problem string
}

// String returns the name and the problem.
func (r CRDReport) String() string { return fmt.Sprintf("CRD %s %s", r.Name, r.Problem) }

// CRDReports returns the CRDs of the chart that Install, Upgrade or Repair left as they are, although they differ.
func (r *Release) CRDReports() []CRDReport { return r.crdReports }

// CRDNames returns the names of the CRDs in the chart that are kept as they are in the chart, sorted: none unless Options.CRDs is
// CRDsCreateReplace.
func (r *Release) CRDNames() ([]string, error) {
	if r.options.Chart == nil || r.options.CRDs != CRDsCreateReplace {
		return nil, nil
	}
	crds, err := r.chartCRDs()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, crd := range crds {
		if isCRD(crd.gvk) {
			names = append(names, crd.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// crdKind is the kind of CRDs.
var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

func isCRD(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == crdKind }

// A CRDError is returned if a CRD cannot be updated to the one in the chart. Nothing was changed.
type CRDError struct {
	// Name is the name of the CRD.
	Name string
	// Lost are the versions that objects may be stored in and that the CRD in the chart does not have, as JSON in Error.
	Lost []string
	err  error
}

// Error implements error.
func (e *CRDError) Error() string {
	if len(e.Lost) == 0 {
		return fmt.Sprintf("CRD %s: %v", e.Name, e.err)
	}
	lost, _ := json.Marshal(e.Lost) // a list of texts
	return fmt.Sprintf("CRD %s is not updated: its status.storedVersions contains %s, which the chart's CRD doesn't have, so stored objects "+
		"would be lost; migrate them to another version and remove these versions from status.storedVersions, or set crds: skip in watches.yaml", e.Name, lost)
}

// Unwrap returns the cause, if there is one.
func (e *CRDError) Unwrap() error { return e.err }
