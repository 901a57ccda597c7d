// Package v1alpha1 holds the sea.water.example API types.
// +kubebuilder:object:generate=true
// +groupName=sea.water.example
package v1alpha1
