// Package kube talks to a Kubernetes API server: a kubeconfig becomes a small client that reads,
// applies, deletes and watches objects as plain JSON. It knows no types of its own, so that every
// version of a server and every custom resource is served alike.
package kube
