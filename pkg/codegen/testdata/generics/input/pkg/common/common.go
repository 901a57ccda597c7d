// Package common has types of several APIs.
// +kubebuilder:validation:Optional
package common

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Ref refers to an object of type T.
// +kubebuilder:validation:XValidation:rule="size(self.name) > 0",message="name must be set"
type Ref[T any] struct {
	// Name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
	// Fallback is used if there is no such object.
	Fallback *T `json:"fallback"`
	// Since is a time.
	Since metav1.Time `json:"since"`
	// Detail is nested.
	Detail *Detail `json:"detail"`
}

// Detail is not generic.
type Detail struct {
	Words []string `json:"words"`
}

// Quoted is encoded by a method.
type Quoted[T any] struct{ Value T }

// MarshalText implements encoding.TextMarshaler.
func (q Quoted[T]) MarshalText() ([]byte, error) { return nil, nil }

// Manual is copied by a method.
// +kubebuilder:object:generate=false
type Manual[T any] struct {
	Items []T `json:"items"`
}

// DeepCopyInto copies the value.
func (m *Manual[T]) DeepCopyInto(out *Manual[T]) { out.Items = append([]T(nil), m.Items...) }
