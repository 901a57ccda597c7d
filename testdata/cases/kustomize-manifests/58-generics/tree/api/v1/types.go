package v1


type PumpSpec struct {
	// F doc.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	F Pair[Leaf,string] `json:"f"`

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

// Leaf is last.
type Leaf struct {
	// V of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	V int `json:"v"`
}

type Pair[A any,B any] struct {
	// Item in.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	A A `json:"a"`
	// Count in.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	B *B `json:"b"`
}
