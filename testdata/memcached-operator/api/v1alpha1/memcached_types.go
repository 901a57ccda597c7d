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

// The fields below are yours to change. Each needs a json tag to be stored. After a change, run
// "make generate manifests" to bring the generated code and the manifests up to date.

// MemcachedSpec is the state that a user asks for.
type MemcachedSpec struct {
	// size is how many pods to run.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Size *int32 `json:"size,omitempty"`

	// containerPort is the port that the container listens on.
	// +kubebuilder:default=11211
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ContainerPort int32 `json:"containerPort,omitempty"`

	// memoryMegabytes is how much memory each pod has for items. When left open, it is 64, or less where
	// so many pods would take more than a Memcached may have.
	// +kubebuilder:validation:Minimum=1
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	MemoryMegabytes *int32 `json:"memoryMegabytes,omitempty"`
}

// MemcachedStatus is the state that the controller last saw.
type MemcachedStatus struct {
	// conditions say how the object is doing:
	// Available is True while as many pods as asked for are available,
	// Progressing is True while pods are being created, replaced or removed,
	// Degraded is True while something keeps the controller from reaching the asked state.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// nodes are the names of the pods, sorted.
	// +listType=set
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Nodes []string `json:"nodes,omitempty"`

	// replicas is how many pods there are, whether available or not.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Replicas int32 `json:"replicas,omitempty"`

	// selector selects the pods by their labels. The scale subresource hands it to autoscalers.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Selector string `json:"selector,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="names take at most 63 characters"
// +operator-sdk:csv:customresourcedefinitions:resources={{Deployment,v1},{Pod,v1}}

// Memcached is an object of the memcacheds API: a Deployment of one image, kept at the asked size.
type Memcached struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the state that a user asks for.
	// +required
	Spec MemcachedSpec `json:"spec"`

	// status is the state that the controller last saw.
	// +optional
	Status MemcachedStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// MemcachedList is a list of Memcached objects.
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Memcached `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Memcached{}, &MemcachedList{})
		return nil
	})
}
