package v1


type PumpSpec struct {

	// Both.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="In spec",order=2
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="In status",order=1
	A Shared `json:"a"`

}

type PumpStatus struct {
	// Ready tells.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Ready bool `json:"ready"`
}

// Pump moves.
type Pump struct {
	Spec PumpSpec `json:"spec"`
	Status PumpSpec `json:"status"`
}

// Shared.
type Shared struct {
	// X.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="X spec",xDescriptors="urn:s"
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="X status",xDescriptors="urn:t"
	X int `json:"x"`
}
