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

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The fields below are yours to change. Each needs a json tag to be stored. After a change, run
// "make generate manifests" to bring the generated code and the manifests up to date.

// VesselSpec is the state that a user asks for.
type VesselSpec struct {
	// tonnage is the vessel's gross tonnage. It cannot change.
	// +kubebuilder:validation:Minimum=1
	// +required
	Tonnage int32 `json:"tonnage"`

	// captain is the name of who commands the vessel.
	// +kubebuilder:validation:MinLength=1
	// +optional
	Captain string `json:"captain,omitempty"`

	// crew is how many people are on board, the captain among them.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Crew int32 `json:"crew,omitempty"`
}

// VesselStatus is the state that the controller last saw.
type VesselStatus struct {
	// conditions say how the object is doing. Available is True once the controller has acted on the
	// object's latest generation.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Vessel is an object of the vessels API.
type Vessel struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the state that a user asks for.
	// +required
	Spec VesselSpec `json:"spec"`

	// status is the state that the controller last saw.
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
