package watches

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The values of Watch.CRDs, as in Flux, but with a small first letter.
const (
	// CRDsCreate creates missing CRDs.
	CRDsCreate = "create"
	// CRDsCreateReplace creates missing CRDs and updates others.
	CRDsCreateReplace = "createReplace"
	// CRDsSkip leaves CRDs to others.
	CRDsSkip = "skip"
)

// readCRDs returns the function that reads the key crds.
func (w *Watch) readCRDs(p *parser) func(*yaml.Node) {
	return func(value *yaml.Node) {
		valid := []string{CRDsCreate, CRDsCreateReplace, CRDsSkip}
		if w.CRDs = value.Value; value.Kind == yaml.ScalarNode && (value.Value == "" || slices.Contains(valid, value.Value)) {
			return
		}
		problem := fmt.Sprintf("%q: must be create, createReplace or skip", value.Value)
		if near, ok := diag.Nearest(value.Value, valid); ok {
			problem += fmt.Sprintf("; did you mean %q?", near)
		}
		p.addf(value, "%s", problem)
	}
}
