// Package bundles contains the commands that package an operator: bundle and the older generate bundle, generate kustomize and generate
// packagemanifests, and generate catalog. They build or read the operator's manifests, update the base of the ClusterServiceVersion,
// and write the results of package bundle into the project.
package bundles
