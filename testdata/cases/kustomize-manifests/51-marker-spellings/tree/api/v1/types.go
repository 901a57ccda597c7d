package v1


type PumpSpec struct {

	// A.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Quoted, with comma"
	A int `json:"a"`
	// B.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName=`Backquoted "x"`
	B int `json:"b"`
	// C.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName=Bare
	C int `json:"c"`
	// D.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Esc \"q\" \\ \u00e9"
	D int `json:"d"`
	// E.
	// +operator-sdk:csv:customresourcedefinitions:type="spec",displayName=""
	E int `json:"e"`
	// F.
	// +operator-sdk:csv:customresourcedefinitions:displayName="Last type",type=spec
	F int `json:"f"`
	// G.
	// +operator-sdk:csv:customresourcedefinitions:type=spec , displayName = "Blanks"
	G int `json:"g"`
	// H.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Ünïcode — ✓"
	H int `json:"h"`
	// I.
	// +operator-sdk:csv:customresourcedefinitions:type=`spec`,displayName='single'
	I int `json:"i"`

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
