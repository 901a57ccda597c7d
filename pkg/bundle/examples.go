package bundle

import (
	"encoding/json"
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// annotationExamples is the annotation that holds samples of the owned kinds as a JSON list.
const annotationExamples = "alm-examples"

// applyExamples writes the custom resources of the input into the CSV's examples. Without any, it keeps the base's examples.
func (c *collection) applyExamples(csv *v1alpha1.ClusterServiceVersion) error {
	known := map[definition]bool{}
	for _, d := range c.definitions() {
		d.crd = ""
		known[d] = true
	}
	examples, seen := []map[string]any{}, map[string]bool{}
	var rest []manifest.Object
	for _, o := range c.others {
		if !known[definition{"", o.Group(), o.Version(), o.Kind()}] {
			rest = append(rest, o)
			continue
		}
		if IsSupported(o.Kind()) {
			rest = append(rest, o)
		}
		content, err := json.Marshal(o.Fields)
		if err != nil {
			return fmt.Errorf("writing %s: %w", o, err)
		}
		if !seen[string(content)] {
			seen[string(content)] = true
			examples = append(examples, o.Fields)
		}
	}
	c.others = rest
	if len(examples) == 0 && csv.Annotations[annotationExamples] != "" {
		return nil
	}
	text, err := json.MarshalIndent(examples, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", annotationExamples, err)
	}
	csv.Annotations[annotationExamples] = string(text)
	return nil
}
