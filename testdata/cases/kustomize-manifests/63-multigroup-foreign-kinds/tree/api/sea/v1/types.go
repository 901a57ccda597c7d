package v1



type ShipSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="An A"
	A int `json:"a"`
}
type ShipStatus struct {
	// B of it.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	B int `json:"b"`
}
// Ship does.
type Ship struct {
	Spec ShipSpec `json:"spec,omitempty"`
	Status ShipStatus `json:"status,omitempty"`
}
