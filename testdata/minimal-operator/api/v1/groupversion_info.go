/*
Copyright Example.

Licensed under the MIT License; the LICENSE file of this project holds its text.

SPDX-License-Identifier: MIT
*/

// Package v1 holds version v1 of the API group app.example.org.
// +kubebuilder:object:generate=true
// +groupName=app.example.org
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// SchemeGroupVersion is the group and version of the types in this package. Code generators look for
	// this name.
	SchemeGroupVersion = schema.GroupVersion{Group: "app.example.org", Version: "v1"}

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
