package v1


type PumpSpec struct {

	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:podCount"
	A int `json:"a"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:a:1,urn:b:2"
	B int `json:"b"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"urn:a:1","urn:b:2"}
	C int `json:"c"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"urn:a:1, with comma", "x"}
	D int `json:"d"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={`urn:a:1`,`x "q"`}
	E int `json:"e"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:a";"urn:b"
	F int `json:"f"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={}
	G int `json:"g"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={""}
	H int `json:"h"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors=""
	I int `json:"i"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={ "a" , "b" }
	J int `json:"j"`
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"a","a"}
	K int `json:"k"`

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
