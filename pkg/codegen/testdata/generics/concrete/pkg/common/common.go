// Package common has types of several APIs.
package common

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Detail is not generic.
type Detail struct {
	// +optional
	Words []string `json:"words"`
}

// Manual is copied by a method.
type Manual struct {
	// +optional
	Items []string `json:"items"`
}

// Quoted is encoded by a method.
type Quoted struct{ Value []string }

// MarshalText implements encoding.TextMarshaler.
func (q Quoted) MarshalText() ([]byte, error) { return nil, nil }

// Ref refers to an object of type T.
// +kubebuilder:validation:XValidation:rule="size(self.name) > 0",message="name must be set"
type Ref struct {
	// Name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
	// Fallback is used if there is no such object.
	// +optional
	Fallback *metav1.Duration `json:"fallback"`
	// Since is a time.
	// +optional
	Since metav1.Time `json:"since"`
	// Detail is nested.
	// +optional
	Detail *Detail `json:"detail"`
}

// Ref refers to an object of type T.
// +kubebuilder:validation:XValidation:rule="size(self.name) > 0",message="name must be set"
type RefRef struct {
	// Name is the name of the object.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
	// Fallback is used if there is no such object.
	// +optional
	Fallback *Ref `json:"fallback"`
	// Since is a time.
	// +optional
	Since metav1.Time `json:"since"`
	// Detail is nested.
	// +optional
	Detail *Detail `json:"detail"`
}
