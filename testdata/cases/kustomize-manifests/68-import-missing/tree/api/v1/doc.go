// Package v1 holds the city.water.example API types.
// +kubebuilder:object:generate=true
// +groupName=city.water.example
package v1
