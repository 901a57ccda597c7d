package v1



type PumpSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	A int `json:"a"`
}

type PumpStatus struct {
	// Ready tells.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Ready bool `json:"ready"`
}

// Base has what kinds have.
type Base struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
// Pump embeds it.
type Pump struct {
	Base `json:",inline"`
}
// Tank is one.
type Tank Base
