package v1


type PumpSpec struct {}
type PumpStatus struct {}
// Ape is one.
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1,x}}
type Ape struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
// Bee is one.
// +operator-sdk:csv:customresourcedefinitions:resources={{"Deployment","apps/v1","x"},{Pod,v1,}}
type Bee struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
// Cat is one.
// +operator-sdk:csv:customresourcedefinitions:resources={ { Deployment , v1 , x } , { Pod , v1 } }
type Cat struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
// Dog is one.
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1,""},{Deployment,v1beta1,""},{Deployment,v1alpha1,""},{Deployment,v2,""}}
type Dog struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
// Elk is one.
// +operator-sdk:csv:customresourcedefinitions:resources={{Pod,v1,b-name},{Pod,v1,a-name},{ConfigMap,v1,c.name}}
type Elk struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
// Fly is one.
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1,a,b}}
type Fly struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
// Hen is one.
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1,y},{Deployment,v1,y}}
type Hen struct {
	Spec PumpSpec `json:"spec"`
	Status PumpStatus `json:"status"`
}
