/*
Copyright Example.

Licensed under the MIT License; see the LICENSE file of this project.

SPDX-License-Identifier: MIT
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TODO: define the fields of the API. Every field needs a json tag. After changes, run "operon generate" to update the
// generated code and manifests.

// ApplicationSpec defines the desired state of Application.
type ApplicationSpec struct {
	// foo is an example field. Replace it with your own fields.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Foo *string `json:"foo,omitempty"`
}

// ApplicationStatus defines the observed state of Application.
type ApplicationStatus struct {
	// conditions represent the observed state of Application. Available is True when the desired state is reached.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// TODO: list the kinds of objects that the controller creates. OLM shows them to users.
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1}}

// Application is the schema of the applications API.
type Application struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec defines the desired state of Application.
	// +required
	Spec ApplicationSpec `json:"spec"`

	// status defines the observed state of Application.
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
