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

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TODO: define the fields of the API. Every field needs a json tag. After changes, run "operon generate" to update the
// generated code and manifests.

// BerthSpec defines the desired state of Berth.
type BerthSpec struct {
	// foo is an example field. Replace it with your own fields.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Foo *string `json:"foo,omitempty"`
}

// BerthStatus defines the observed state of Berth.
type BerthStatus struct {
	// conditions represent the observed state of Berth. Available is True when the desired state is reached.
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

// Berth is the schema of the berths API.
type Berth struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec defines the desired state of Berth.
	// +required
	Spec BerthSpec `json:"spec"`

	// status defines the observed state of Berth.
	// +optional
	Status BerthStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BerthList is a list of Berth objects.
type BerthList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Berth `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Berth{}, &BerthList{})
		return nil
	})
}
