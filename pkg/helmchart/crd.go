package helmchart

import (
	"fmt"

	"github.com/operon-sdk/operon/pkg/crd"
)

// A CRDSpec describes the CustomResourceDefinition of a kind whose objects are releases of a chart.
type CRDSpec struct {
	// Group is the API group with its domain: cache.example.com.
	Group string
	// Kind, Plural, Singular and ListKind are the names of the kind. The defaults of Singular and ListKind are derived from Kind.
	Kind, Plural, Singular, ListKind string
	// ClusterScoped makes the kind cluster-scoped; otherwise, it is namespaced.
	ClusterScoped bool
	// Versions are the versions of the kind, all of which are served.
	Versions []CRDVersion
}

// A CRDVersion is a version of a kind.
type CRDVersion struct {
	// Name is the name of the version: v1alpha1.
	Name string
	// Stored is true for the version that is stored, which is the last one if none is.
	Stored bool
	// Chart are the files of the chart. The schema of spec describes its values.
	Chart Files
	// Open makes spec an object with any content, as operator-sdk does.
	Open bool
	// Outputs are the outputs of the kind.
	Outputs []Output
}

// An Output is a value that the operator writes to status.outputs.
type Output = crd.Output

// CRD returns the manifest of the CustomResourceDefinition, which begins with a document separator, as controller-gen writes it.
// Its schema accepts at least the values that the chart accepts: keys with a default are optional, and null deletes a default, if it arrives: client-side kubectl apply drops it.
func CRD(spec CRDSpec) ([]byte, error) {
	definition := crd.Definition{
		ClusterScoped: spec.ClusterScoped, Group: spec.Group, Kind: spec.Kind, Plural: spec.Plural, Singular: spec.Singular, ListKind: spec.ListKind,
		Columns: printerColumns(), Status: statusSchema(),
	}
	for _, version := range spec.Versions {
		values, err := version.values(maxCRDSize / len(spec.Versions))
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", version.Name, err)
		}
		definition.Versions = append(definition.Versions, crd.Version{
			Name: version.Name, Stored: version.Stored, Spec: values.encode(false), SpecRequired: len(values.required) > 0,
			Outputs: crd.Outputs(version.Outputs),
		})
	}
	return definition.Marshal()
}

// values returns the schema of spec, with a size of at most limit bytes.
func (v CRDVersion) values(limit int) (*valueSchema, error) {
	tree, err := readTree(v.Chart)
	if err != nil {
		return nil, err
	}
	description := fmt.Sprintf("spec holds the values of the chart %s. They override its defaults; null removes a default, except with client-side kubectl apply, which drops it.", tree.name)
	if v.Open {
		return openObject(description), nil
	}
	values := tree.describe(inference{tested: testedKeys(v.Chart)}, tree.values)
	values.description = description
	return shrink(values, limit), nil
}

// printerColumns are the columns of kubectl get.
func printerColumns() []any {
	return []any{
		crd.Column("Deployed", "Deployed", "status", 0), crd.Column("Ready", "Ready", "status", 0), crd.Column("Reason", "Ready", "reason", 1),
		crd.AgeColumn(),
	}
}

func statusSchema() map[string]any {
	return crd.Status("release", "Deployed or Ready", nil, map[string]any{
		"deployedRelease": map[string]any{
			"type": "object", "description": "deployedRelease is the release that is deployed.", crd.PreserveUnknown: true, "nullable": true,
			"properties": map[string]any{"name": crd.Text("name is the name of the release.")},
		},
	})
}
