// Package wiring checks that what is generated from Go code reaches the cluster: that kustomizations include the CRDs and webhooks, and
// that roles are bound. It writes what is missing where only one way is right, and reports the rest.
package wiring
