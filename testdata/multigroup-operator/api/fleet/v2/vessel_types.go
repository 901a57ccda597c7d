/*
Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TODO: define the fields of the API. Every field needs a json tag. After changes, run "operon generate" to update the
// generated code and manifests.

// VesselSpec defines the desired state of Vessel.
type VesselSpec struct {
	// tonnage is the vessel's gross tonnage. It cannot change.
	// +kubebuilder:validation:Minimum=1
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Tonnage int32 `json:"tonnage"`

	// crew is who is on board.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Crew VesselCrew `json:"crew,omitzero"`

	// flag is the name of the Flag that the vessel sails under.
	// +kubebuilder:validation:MinLength=1
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Flag string `json:"flag,omitempty"`
}

// VesselCrew is who is on board of a vessel.
type VesselCrew struct {
	// captain is the name of who commands the vessel.
	// +kubebuilder:validation:MinLength=1
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Captain string `json:"captain,omitempty"`

	// size is how many people are on board, the captain among them. The default is 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Size int32 `json:"size,omitempty"`
}

// VesselStatus defines the observed state of Vessel.
type VesselStatus struct {
	// conditions represent the observed state of Vessel. Available is True when the desired state is reached.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1}}

// Vessel is the schema of the vessels API.
type Vessel struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec defines the desired state of Vessel.
	// +required
	Spec VesselSpec `json:"spec"`

	// status defines the observed state of Vessel.
	// +optional
	Status VesselStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// VesselList is a list of Vessel objects.
type VesselList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Vessel `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Vessel{}, &VesselList{})
		return nil
	})
}
