package v1

import "example.org/pump-operator/pkg/gone"

type PumpSpec struct {

	// F.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	F gone.Time `json:"f"`

}

type PumpStatus struct {
	// Ready tells.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Ready bool `json:"ready"`
}

// Pump moves water.
type Pump struct {
	Spec   PumpSpec   `json:"spec,omitempty"`
	Status PumpStatus `json:"status,omitempty"`
}
