// Package ansibleoperator reconciles custom resources by running Ansible playbooks and roles. It keeps the conventions of
// operator-sdk's ansible-operator: the keys of watches.yaml, variables, annotations, finalizers and conditions.
//
// A [Reconciler] handles one kind. [New] creates it with options, and [LoadWatches] creates one for each entry of a watches.yaml.
// [Setup] adds them to a manager of controller-runtime. A run is a process of ansible-runner, which must be installed; [Check]
// reports what is missing.
//
// # Passes
//
// A resource is reconciled after a change of its spec or of an annotation of this package, after a change of an object that one of
// its runs created, that WithOtherWatches selects or that WithVarsFrom reads, and at the reconcile period. A failed run is repeated
// with delays of 1 second to 5 minutes, and earlier after such a change. If the resource is deleted during a run, the processes of
// the run are ended. Then the finalizer runs, if there is one. The directory of the runs is removed with the resource.
//
// A run waits until the objects of WithDependsOn are ready. A change of an object that a resource waits for starts a pass.
//
// While a resource has AnnotationPaused, no run starts, not even the finalizer's. A run in progress ends first, also if the resource is
// deleted in the meantime. A new value of AnnotationReconcileRequestedAt starts a run.
//
// With WithRollout, only some resources get their first run of another version of the operator at once. status.rollout says for which one
// each resource had its last run, and that it has not succeeded yet, so that another process or leader continues. There are no runs for
// a resource that waits, which has the condition Outdated.
//
// Several operators can share a kind if each has a selector. Together with the finalizer, a resource gets AnnotationOperator, so that
// only the operator that has taken it over finalizes it, also after its labels were changed.
//
// # Status
//
// The conditions are operator-sdk's Running, Successful and Failure, and Ready; see their constants. Ready contains
// observedGeneration, as does the status. Use "kubectl wait --for=condition=Ready" to wait for a successful run. status.outputs has the
// values of WithOutputs, without secrets. Other keys and conditions are kept. Messages contain neither values whose names look like secrets, such as password, in the spec and in variables
// or in the environment of the operator, nor the contents of Secrets that the run reads or writes, nor variables from WithVarsFrom.
// They contain the msg of failed tasks, but no other output of Ansible.
//
// # Metrics
//
// The registry of controller-runtime contains, in addition to the metrics of controllers, the ones in docs/metrics.md: the number of
// resources by condition, runs with their result and duration, kills, tasks, and the requests of runs. Tasks add others with the module
// osdk_metric of the collection operator_sdk.util.
//
// # Security
//
// Each run has its own kubeconfig, with a token for a proxy on 127.0.0.1 that is valid only during the run. As in operator-sdk,
// strings of custom resources are evaluated as Jinja templates unless WithMarkUnsafe is set.
package ansibleoperator
