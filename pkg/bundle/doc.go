// Package bundle generates operator bundles in the registry+v1 format of the Operator Lifecycle Manager (OLM), and
// converts package manifests to bundles. Generate turns an Input of Kubernetes objects into Manifests; an Update merges
// them, annotations.yaml and bundle.Dockerfile with the files of an existing bundle. The package does no I/O of its own.
//
// The format is described in operator-registry's docs/design/operator-bundle.md.
package bundle
