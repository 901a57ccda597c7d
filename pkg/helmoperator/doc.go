// Package helmoperator reconciles custom resources by installing Helm charts: each resource is a Helm release, and its spec holds
// the values. It keeps the conventions of operator-sdk's helm-operator: annotations, finalizers, conditions and labels. It
// continues releases of that runtime without an upgrade.
//
// A [Reconciler] handles one kind. [New] creates it with options, and [Setup] or [Reconciler.SetupWithManager] adds it to a manager
// of controller-runtime, next to controllers in Go.
//
// # Passes
//
// A resource is reconciled after a change of its spec, labels or annotations, after a change of an object of its release, and at
// the reconcile period. A full pass renders the chart, compares the result with the deployed release, and installs, upgrades or
// repairs it. If nothing has changed, it reads the records of the release and writes nothing. If only the status of objects has
// changed, it computes the condition Ready anew. A failed pass is repeated with delays of 1 second to 5 minutes.
//
// # Values
//
// The values of a release come from the sources of [WithValuesFrom], the spec, which takes precedence over them, and override values. While a
// source is missing, the release stays as it is, and a change of a source starts a pass.
//
// # Dependencies
//
// An installation or upgrade waits until the objects of [WithDependsOn] are ready. Meanwhile, the deployed revision is repaired. A change of
// an object that a resource waits for starts a pass.
//
// # Pauses and requests
//
// A resource with AnnotationPaused is left as it is, also if it is deleted: there are neither passes nor requests, except to write the
// condition Paused. A pass that waits is ended like one whose resource has changed. A new value of AnnotationReconcileRequestedAt adds a
// pass, which tries a failed operation once more. It is written to the status together with the begin of the operation, so that
// another process continues the operation but doesn't begin it again.
//
// # Failures
//
// An installation or upgrade begins with a dry run of all objects. What the API server refuses changes nothing, and is checked again
// until the server accepts it. An operation that fails nevertheless is tried again only as often as [WithInstallRemediation] and
// [WithUpgradeRemediation] allow, until the resource, its values or the chart change. Meanwhile, the deployed revision is repaired.
// status.failedRelease describes the failure. Failures that say nothing about the release, such as an overloaded API server, don't
// count.
//
// # Rollouts
//
// With [WithRollout], only some releases are upgraded at once to another version of the operator. status.rollout says to which one each
// release was upgraded, and that it is not ready yet, so that another process or leader continues. A release that waits has the condition
// Outdated; its objects are repaired with the stored manifest.
//
// # Waits
//
// A pass that waits for a hook or a CRD of the chart says so in the condition Ready and occupies no worker of the controller until the
// wait ends. A change or the deletion of the resource ends the wait; so does the end of the process, and the next one continues it.
//
// # Status
//
// The conditions are operator-sdk's Initialized, Deployed, ReleaseFailed and Irreconcilable, and Ready, Deterministic,
// OwnershipConflict, TestSuccess and DeletionBlocked; see their constants. All contain observedGeneration, as does the status. Use
// "kubectl wait --for=condition=Ready" to wait for pods. status.deployedRelease.name is the release, and
// status.deployedRelease.externalObjects lists the objects that Kubernetes does not delete with the resource. status.outputs has the
// values of [WithOutputs]. Other keys and conditions are kept. Conditions, events, outputs, errors and logs contain neither the data of
// the release's Secrets, nor values from sources, nor values whose names look like secrets, such as password.
//
// # Metrics
//
// The registry of controller-runtime contains, in addition to the metrics of controllers, the ones in docs/metrics.md: the number of
// resources by condition, operations on releases with their duration, refusals, remediations, drift and waits.
//
// # Events
//
// There is one event for each installation, upgrade, rollback, repair and removal, and for each failure; see the constants of reasons.
//
// # Permissions
//
// The operator needs permissions to get, list, watch, patch and update the resources, their status and finalizers; to create events;
// to manage Secrets, which contain the records of releases; to get, list and watch sources of values and dependencies; and to manage all kinds of the
// chart. Without permission to list and watch a kind, its objects are repaired at the reconcile period only.
package helmoperator
