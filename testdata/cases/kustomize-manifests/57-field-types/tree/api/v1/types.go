package v1


type PumpSpec struct {
	// One leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	One *[]Leaf `json:"one"`
	// Two leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Two [3]Leaf `json:"two"`
	// Three leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Three **Leaf `json:"three,omitempty" yaml:"x"`
	// Four leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Four func(Leaf) Leaf `json:"four"`
	// Five leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Five map[Leaf]string `json:"five"`
	// Six leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Six chan Leaf `json:"-"`
	// Seven leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Seven []Leaf `yaml:"seven"`
	// Eight leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Eight Leaf `json:"eight, omitempty"`
	// Nine leads on.
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Nine (Leaf) ``
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
