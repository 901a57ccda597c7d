/*
Copyright Example.

Licensed under the MIT License; see the LICENSE file of this project.

SPDX-License-Identifier: MIT
*/

// Package v1 contains version v1 of the API group app.example.org.
// +kubebuilder:object:generate=true
// +groupName=app.example.org
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// SchemeGroupVersion is the group and version of the types in this package. Code generators use this name.
	SchemeGroupVersion = schema.GroupVersion{Group: "app.example.org", Version: "v1"}

	// GroupVersion is an alias of SchemeGroupVersion, used by controllers.
	GroupVersion = SchemeGroupVersion

	// SchemeBuilder registers the types of this package.
	SchemeBuilder = runtime.NewSchemeBuilder(addGroupVersion)

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addGroupVersion(s *runtime.Scheme) error {
	metav1.AddToGroupVersion(s, SchemeGroupVersion)
	return nil
}
