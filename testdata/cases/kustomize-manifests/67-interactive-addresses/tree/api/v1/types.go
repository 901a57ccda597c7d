package v1



type PumpSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="An A",xDescriptors="urn:x"
	A int `json:"a"`
	// N of it.
	N int `json:"n"`
}

type PumpStatus struct {
	// Ready tells.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Ready bool `json:"ready"`
}

// Pump moves water.
// +operator-sdk:csv:customresourcedefinitions:resources={{Pod,v1,p}}
type Pump struct {
	Spec   PumpSpec   `json:"spec,omitempty"`
	Status PumpStatus `json:"status,omitempty"`
}
