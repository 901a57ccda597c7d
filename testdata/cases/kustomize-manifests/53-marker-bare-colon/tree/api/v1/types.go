package v1


type PumpSpec struct {

	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors=urn:alm:descriptor:text
	A int `json:"a"`

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
