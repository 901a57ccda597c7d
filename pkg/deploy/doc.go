// Package deploy applies the manifests of an operator to a cluster and removes them again, without OLM. Nothing that belongs to others is
// lost.
//
// # Deploying
//
// Deploy first reads what exists and lets the server check every object with a dry run. If it would reject one, all reasons are
// reported and nothing is changed. Objects are applied with server-side apply, in the order of their dependencies: namespaces,
// CustomResourceDefinitions, permissions, configuration, services, workloads, webhooks. Fields that other managers have set to other
// values are conflicts, unless these managers are the ones of 'make deploy', whose fields are taken over.
//
// # The set of objects
//
// What was deployed is recorded as an ApplySet (KEP-3659): a ConfigMap in the operator's namespace lists the kinds, and every object
// has the label applyset.kubernetes.io/part-of with the ID of the set. Objects with this label that the manifests no longer contain are
// pruned on request. Definitions, namespaces and volumes are never pruned, because data would be lost with them.
//
// # Undeploying
//
// Undeploy deletes the objects in the reverse order. Definitions, and with them all custom resources, are kept unless their deletion is
// requested; then the custom resources are deleted first, while the manager can still handle their finalizers. A namespace that
// contains objects of others is kept.
package deploy
