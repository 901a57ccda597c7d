package release

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// An Action is what a release needs.
type Action string

// The actions of a plan.
const (
	// None: the deployed revision corresponds to the chart and the values. Call Repair.
	None Action = "None"
	// Install: there is no deployed revision. What remains of an interrupted or failed installation is taken into account.
	Install Action = "Install"
	// Upgrade: the deployed revision differs, or the last revision failed or was interrupted.
	Upgrade Action = "Upgrade"
)

// A Strategy is what happens after a failed installation or upgrade.
type Strategy string

// The strategies. The empty string is the default: StrategyUninstall after installations, StrategyRollback after upgrades.
const (
	// StrategyRollback returns to the last revision that was deployed. It is not possible after an installation.
	StrategyRollback Strategy = "rollback"
	// StrategyUninstall removes the release.
	StrategyUninstall Strategy = "uninstall"
	// StrategyNone leaves objects and records as they are.
	StrategyNone Strategy = "none"
)

// A Plan is the result of comparing a release with its chart and values.
type Plan struct {
	Action Action
	// Reason is the reason of the action, for logs: the objects and fields that differ, without values.
	Reason string
	// Nondeterministic lists fields and objects whose content differs between two renderings of the same values, such as
	// "Secret/my-db data.password", sorted. They never cause an upgrade, and an upgrade keeps their deployed content unless the
	// values that they are made of change.
	Nondeterministic []string
	// Revision is the deployed revision, 0 if there is none.
	Revision int
}

// Deployed describes the deployed revision of a release.
type Deployed struct {
	Name     string
	Revision int
	// Manifest is stored by Helm. It contains Secrets.
	Manifest string
	// Notes is the rendered NOTES.txt.
	Notes string
	// Objects are the objects of the manifest in its order, without hooks. Kinds that the cluster does not serve are included with
	// Namespaced false.
	Objects []Object
}

// An Object identifies an object of a release.
type Object struct {
	schema.GroupVersionKind
	// Namespace is empty for cluster-scoped objects.
	Namespace, Name string
	// Keep reports whether the object has the resource policy keep: it is not deleted with the release.
	Keep bool
	// Namespaced reports whether the kind is namespaced.
	Namespaced bool
}

// String returns the kind and the name of an object, such as "Deployment/web" or "Role/other/reader" in another namespace.
func (o Object) String() string { return objectName(o.Kind, o.Namespace, o.Name) }

// Repaired is an object that differed from the manifest.
type Repaired struct {
	Object
	// Created reports whether the object was missing.
	Created bool
	// Fields are the fields that differed, such as spec.replicas, sorted.
	Fields []string
	// Reported reports that the object was left as it is, because the mode is DriftWarn.
	Reported bool
}

// Removal is the result of an uninstallation.
type Removal struct {
	// Done reports that nothing was left to uninstall: there is no release, or its namespace is gone.
	Done bool
	// Kept are objects that were not deleted because of their resource policy, or because they belong to another release.
	Kept []Object
	// Remaining are objects that still exist, for example because of their finalizers.
	Remaining []Object
	// Unserved are objects whose kind the cluster does not serve (anymore), so that they do not exist.
	Unserved []Object
}

// An Observer returns the metadata of objects from a cache.
type Observer interface {
	// Observe returns the metadata of an object. known is false if the cache does not contain objects of the kind, or not all of
	// them. If known is true and the metadata nil, the object does not exist according to the cache. Repair then sends a
	// request, unless the metadata of the object are the same as after the last successful Repair.
	Observe(gvk schema.GroupVersionKind, key types.NamespacedName) (metadata *metav1.ObjectMeta, known bool)
}
