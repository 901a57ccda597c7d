package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TODO: define the fields of the API. Every field needs a json tag. After changes, run "operon generate" to update the
// generated code and manifests.

// CookSpec defines the desired state of Cook.
type CookSpec struct {
	// size is the desired number of pods.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Size *int32 `json:"size,omitempty"`
}

// CookStatus defines the observed state of Cook.
type CookStatus struct {
	// conditions represent the observed state of Cook:
	// Available is True when the desired number of pods is available,
	// Progressing is True while pods are created, replaced or deleted,
	// Degraded is True when an error prevents the desired state.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// nodes are the names of the pods, in order.
	// +listType=set
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Nodes []string `json:"nodes,omitempty"`

	// replicas is the number of pods, available or not.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Replicas int32 `json:"replicas,omitempty"`

	// selector is the label selector of the pods. Autoscalers read it from the scale subresource.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Selector string `json:"selector,omitempty"`
}

// +genclient
// +kubebuilder:ac:generate=true
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="name must be at most 63 characters"
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1},{Pod,v1}}

// Cook is the schema of the cooks API. It runs an image in a Deployment of the desired size.
type Cook struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec defines the desired state of Cook.
	// +required
	Spec CookSpec `json:"spec"`

	// status defines the observed state of Cook.
	// +optional
	Status CookStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// CookList is a list of Cook objects.
type CookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Cook `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Cook{}, &CookList{})
		return nil
	})
}
