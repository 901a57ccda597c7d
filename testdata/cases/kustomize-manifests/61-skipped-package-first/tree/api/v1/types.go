package v1



type PumpSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="An A"
	A int `json:"a"`
}
type PumpStatus struct {
	// B of it.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	B int `json:"b"`
}
// Pump does.
type Pump struct {
	Spec PumpSpec `json:"spec,omitempty"`
	Status PumpStatus `json:"status,omitempty"`
}
