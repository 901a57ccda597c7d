// +kubebuilder:skip
package a
