package v1


type PumpSpec struct {

	// Text above.
	//
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	//
	// Text below.
	A int `json:"a"`

	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// Only below.
	B int `json:"b"`

	// +optional
	// C text.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:Minimum=1
	// more C text
	C int `json:"c"`

	// D text. // +operator-sdk:csv:customresourcedefinitions:type=spec
	D int `json:"d"`
	//+operator-sdk:csv:customresourcedefinitions:type=spec
	// E text without blank.
	E int `json:"e"`
	//	 +operator-sdk:csv:customresourcedefinitions:type=spec
	// F marker with tab.
	F int `json:"f"` // trailing comment
	// Detached.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Detached"

	// G text.
	G int `json:"g"`
	/* +operator-sdk:csv:customresourcedefinitions:type=spec */
	H int `json:"h"`
	/* Block doc. */
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	I int `json:"i"`
	// J text.
	J int `json:"j"` // +operator-sdk:csv:customresourcedefinitions:type=spec

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
