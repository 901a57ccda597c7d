package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The fields below are yours to change. Each needs a json tag to be stored. After a change, run
// "make generate manifests" to bring the generated code and the manifests up to date.

// CaptainSpec is the state that a user asks for.
type CaptainSpec struct {
	// foo is an example of a field. Replace it with fields of your own.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// CaptainStatus is the state that the controller last saw.
type CaptainStatus struct {
	// conditions say how the object is doing. Available is True once the controller has acted on the
	// object's latest generation.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +genclient
// +kubebuilder:ac:generate=true
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Captain is an object of the captains API.
type Captain struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the state that a user asks for.
	// +required
	Spec CaptainSpec `json:"spec"`

	// status is the state that the controller last saw.
	// +optional
	Status CaptainStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// CaptainList is a list of Captain objects.
type CaptainList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Captain `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Captain{}, &CaptainList{})
		return nil
	})
}
