// Package helmoperator reconciles custom resources by installing Helm charts: each resource is a release, and its spec are
// the values. It keeps the conventions of operator-sdk's helm-operator: annotations, finalizers, conditions and labels. Releases of
// that runtime are continued without an upgrade.
//
// A [Reconciler] handles one kind. [New] creates it with options, and [Setup] or [Reconciler.SetupWithManager] adds it to a manager of
// controller-runtime, next to controllers in Go.
//
// # Passes
//
// A resource is reconciled after a change of its spec, labels or annotations, after a change of an object of its release, and at the
// reconcile period. A full pass renders the chart, compares the result with the deployed release, and installs, upgrades or repairs it. If
// nothing has changed, it reads the records of the release, and writes nothing. After a change of only the status of objects, the
// condition Ready is computed anew. A failed pass is repeated with delays of 1 second to 5 minutes.
//
// # Status
//
// The conditions are Initialized, Deployed, ReleaseFailed and Irreconcilable, as those of operator-sdk, and Ready, Deterministic and
// DeletionBlocked; see their constants. All contain observedGeneration, as does the status. Use "kubectl wait --for=condition=Ready" to wait for
// pods. status.deployedRelease.name is the release. status.deployedRelease.externalObjects are the objects that Kubernetes does not
// delete with the resource. Other keys and conditions are kept. Conditions, events, errors and logs do not contain data of Secrets
// of the release, or values with names such as password.
//
// # Metrics
//
// The registry of controller-runtime contains, in addition to the metrics of controllers:
//
//   - helm_operator_build_info {commit, version}: 1
//   - resource_created_at_seconds {name, namespace, group, version, kind}: the time of creation of each resource
//   - helm_operator_release_operations_total {group, version, kind, operation, result}: the number of operations install, upgrade,
//     repair and uninstall, with the result success or error. Repairs without drift are not counted.
//   - helm_operator_release_operation_duration_seconds {group, version, kind, operation}: their duration
//
// # Permissions
//
// The operator must be permitted to get, list, watch, patch and update the resources, their status and finalizers, to create events, to
// manage Secrets, which contain the records of releases, and to manage all kinds of the chart. A kind that it must not list and watch is
// repaired at the reconcile period only.
package helmoperator
