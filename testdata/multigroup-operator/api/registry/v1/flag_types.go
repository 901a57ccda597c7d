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

// TODO: define the fields of the API. Every field needs a json tag. After changes, run "operon generate" to update the
// generated code and manifests.

// FlagSpec defines the desired state of Flag.
type FlagSpec struct {
	// foo is an example field. Replace it with your own fields.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Foo *string `json:"foo,omitempty"`
}

// FlagStatus defines the observed state of Flag.
type FlagStatus struct {
	// conditions represent the observed state of Flag. Available is True when the desired state is reached.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// TODO: list the kinds of objects that the controller creates. OLM shows them to users.
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1}}

// Flag is the schema of the flags API.
type Flag struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec defines the desired state of Flag.
	// +required
	Spec FlagSpec `json:"spec"`

	// status defines the observed state of Flag.
	// +optional
	Status FlagStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// FlagList is a list of Flag objects.
type FlagList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Flag `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Flag{}, &FlagList{})
		return nil
	})
}
