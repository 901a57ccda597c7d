package bundle

import (
	"encoding/json"
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/operon-sdk/operon/pkg/bundle/base"
)

// defaultBase is the CSV that a bundle starts from where the project has no base of its own: it holds
// placeholders for what only a person can know.
func defaultBase(name string) (*v1alpha1.ClusterServiceVersion, error) {
	data, err := json.Marshal(base.Fresh(name))
	if err != nil {
		return nil, fmt.Errorf("making a base for %s: %w", name, err)
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := json.Unmarshal(data, csv); err != nil {
		return nil, fmt.Errorf("making a base for %s: %w", name, err)
	}
	return csv, nil
}
