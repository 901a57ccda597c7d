/*
Copyright Example.

Licensed under the MIT License; the LICENSE file of this project holds its text.

SPDX-License-Identifier: MIT
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The fields below are yours to change. Each needs a json tag to be stored. After a change, run
// "make generate manifests" to bring the generated code and the manifests up to date.

// ApplicationSpec is the state that a user asks for.
type ApplicationSpec struct {
	// foo is an example of a field. Replace it with fields of your own.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// ApplicationStatus is the state that the controller last saw.
type ApplicationStatus struct {
	// conditions say how the object is doing. Available is True once the controller has acted on the
	// object's latest generation.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Application is an object of the applications API.
type Application struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the state that a user asks for.
	// +required
	Spec ApplicationSpec `json:"spec"`

	// status is the state that the controller last saw.
	// +optional
	Status ApplicationStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ApplicationList is a list of Application objects.
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Application `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Application{}, &ApplicationList{})
		return nil
	})
}
