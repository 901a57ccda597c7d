// Package bundle makes an operator bundle in the registry+v1 format of the Operator Lifecycle Manager
// (OLM): objects go in, and the ClusterServiceVersion (CSV), the other manifests, annotations.yaml and
// bundle.Dockerfile come out. It reads and writes nothing itself.
//
// The format of the bundle is operator-registry's docs/design/operator-bundle.md; what goes where is
// what operator-sdk's generate bundle does, without what loses data or gives bundles that do not work.
package bundle
