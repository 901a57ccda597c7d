// Package v1 holds version v1 of the API group crew.example.com.
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=crew.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// SchemeGroupVersion is the group and version of the types in this package. Code generators look for
	// this name.
	SchemeGroupVersion = schema.GroupVersion{Group: "crew.example.com", Version: "v1"}

	// GroupVersion is SchemeGroupVersion under the name that operator code uses.
	GroupVersion = SchemeGroupVersion

	// SchemeBuilder collects what the types of this package add to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addGroupVersion)

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addGroupVersion(s *runtime.Scheme) error {
	metav1.AddToGroupVersion(s, SchemeGroupVersion)
	return nil
}
