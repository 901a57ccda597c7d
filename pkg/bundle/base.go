package bundle

import (
	"encoding/json"
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/operon-sdk/operon/pkg/bundle/base"
)

// defaultBase returns the base CSV of a project that has none: its texts are placeholders.
func defaultBase(name string) (*v1alpha1.ClusterServiceVersion, error) {
	data, err := json.Marshal(base.NewCSV(name))
	if err != nil {
		return nil, fmt.Errorf("creating a base CSV for %s: %w", name, err)
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := json.Unmarshal(data, csv); err != nil {
		return nil, fmt.Errorf("creating a base CSV for %s: %w", name, err)
	}
	return csv, nil
}
