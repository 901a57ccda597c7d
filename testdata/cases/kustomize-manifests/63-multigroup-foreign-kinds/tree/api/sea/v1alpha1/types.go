package v1alpha1



type BoatSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="An A"
	A int `json:"a"`
}
type BoatStatus struct {
	// B of it.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	B int `json:"b"`
}
// Boat does.
type Boat struct {
	Spec BoatSpec `json:"spec,omitempty"`
	Status BoatStatus `json:"status,omitempty"`
}
