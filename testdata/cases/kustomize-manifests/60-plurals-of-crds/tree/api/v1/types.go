package v1



type DNSSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="An A"
	A int `json:"a"`
}
type DNSStatus struct {
	// B of it.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	B int `json:"b"`
}
// DNS does.
type DNS struct {
	Spec DNSSpec `json:"spec,omitempty"`
	Status DNSStatus `json:"status,omitempty"`
}



type HeroSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="An A"
	A int `json:"a"`
}
type HeroStatus struct {
	// B of it.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	B int `json:"b"`
}
// Hero does.
type Hero struct {
	Spec HeroSpec `json:"spec,omitempty"`
	Status HeroStatus `json:"status,omitempty"`
}



type QuotaSpec struct {
	// A of it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="An A"
	A int `json:"a"`
}
type QuotaStatus struct {
	// B of it.
	// +operator-sdk:csv:customresourcedefinitions:type=status
	B int `json:"b"`
}
// Quota does.
type Quota struct {
	Spec QuotaSpec `json:"spec,omitempty"`
	Status QuotaStatus `json:"status,omitempty"`
}
