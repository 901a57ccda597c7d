package validate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/operator-framework/operator-registry/pkg/registry"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

func (c *content) checkDependencies(name string, data []byte, file registry.DependenciesFile) []Finding {
	var out []Finding
	locate := manifest.Document{Position: diag.Position{File: c.show(name), Line: 1}, Data: data}.Locator()
	for i, dependency := range file.Dependencies {
		for _, err := range DependencyErrors(dependency) {
			fix := "the types are olm.gvk, olm.package, olm.label and olm.constraint"
			switch dependency.GetType() {
			case registry.PackageType:
				fix = "a package has a packageName and a version range, such as >=1.0.0 <2.0.0"
			case registry.GVKType:
				fix = "an API has a group, a version and a kind"
			case registry.LabelType:
				fix = "a label has the field label"
			case registry.ConstraintType:
				fix = "a constraint has a failureMessage and cel.rule"
			}
			out = append(out, Finding{
				Position: locate("dependencies", strconv.Itoa(i)), Level: Error, Rule: "dependencies", Field: manifest.FieldPath([]string{"dependencies", strconv.Itoa(i)}),
				Text: err.Error(), Fix: fix, Message: c.formatMessage(err.Error()),
			})
		}
	}
	return out
}

// DependencyErrors returns the errors of operator-registry for a dependency of a bundle.
func DependencyErrors(d registry.Dependency) []error {
	broken := []error{fmt.Errorf("couldn't parse dependency of type %s", d.GetType())}
	if !slices.Contains([]string{registry.GVKType, registry.PackageType, registry.LabelType, registry.ConstraintType}, d.GetType()) || !json.Valid([]byte(d.GetValue())) {
		return broken
	}
	switch value := d.GetTypeValue().(type) {
	case registry.GVKDependency:
		return value.Validate()
	case registry.PackageDependency:
		return value.Validate()
	case registry.LabelDependency:
		return value.Validate()
	case registry.CelConstraint:
		return value.Validate()
	}
	return broken
}
