// Package watches reads and edits watches.yaml, which lists the kinds that an operator without Go code reconciles, and the chart, or the
// playbook or role, of each kind.
package watches

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
)

// FileName is the usual name of the file.
const FileName = "watches.yaml"

// The values of Watch.DryRunOption.
const (
	dryRunClient = "client"
	dryRunNone   = "none"
	dryRunServer = "server"
)

// The values of Watch.TakeOwnership.
const (
	ownershipEnabled  = "enabled"
	ownershipReport   = "report"
	ownershipDisabled = "disabled"
)

// A Watch is an entry of the file of a Helm operator: a kind whose custom resources are releases of a chart.
type Watch struct {
	// Group may be empty. Each group, version and kind has at most one entry.
	Group, Version, Kind string
	// Chart is the directory of the chart, relative to the working directory of the operator.
	Chart string
	// WatchDependentResources makes changes of the objects of a release trigger their repair. It is true unless the file states
	// otherwise.
	WatchDependentResources bool
	// DependsOn are objects that have to be ready before a release is installed or upgraded.
	DependsOn []Dependency
	// ValuesFrom are Secrets and ConfigMaps with values of releases. Later ones take precedence, and custom resources over all of them.
	ValuesFrom []Source
	// TargetNamespace is the namespace of the releases of cluster-scoped custom resources.
	TargetNamespace TargetNamespace
	// OverrideValues are values of all releases. They take precedence over the custom resources. Keys have the syntax of
	// Helm's --set; values are strings in which variables and templates are not expanded yet.
	OverrideValues map[string]string
	// TypedOverrideValues are values of all releases as in a values.yaml, with their types: string, bool, int, int64, uint64,
	// float64, nil, lists and maps. OverrideValues take precedence over them.
	TypedOverrideValues map[string]any
	// Selector selects custom resources by their labels; nil is all.
	Selector *metav1.LabelSelector
	// ReconcilePeriod is the time between two passes of a custom resource; 0 is the operator's default.
	ReconcilePeriod time.Duration
	// Timeout limits the wait for one hook of the chart; 0 means no limit, and nil is the operator's default.
	Timeout *time.Duration
	// DryRunOption is how releases are rendered for comparisons; empty is dryRunClient.
	DryRunOption string
	// CRDs says what happens to the CRDs in the crds directory of the chart; empty is CRDsCreateReplace.
	CRDs string
	// MaxHistory is the number of revisions that are kept of a release. 0 keeps all; nil is the default.
	MaxHistory *int
	// Install and Upgrade are what happens after an installation or upgrade has failed.
	Install, Upgrade Remediation
	// Rollout limits how many releases are upgraded at once to a new version of the chart.
	Rollout Rollout
	// DriftDetection is what happens when others change objects of a release.
	DriftDetection DriftDetection
	// TakeOwnership is what happens to objects of the chart that exist and don't belong to the release: "enabled", "report" or
	// "disabled"; empty is the default, disabled.
	TakeOwnership string
	// Test is how releases are tested after installations and upgrades.
	Test Test
	// Outputs are values that are written to status.outputs of custom resources, in the order of the file.
	Outputs []Output
	// MaxConcurrentReconciles is the number of custom resources that are reconciled at a time; 0 is the operator's default.
	MaxConcurrentReconciles int
	// Position is the place of the entry in the file, as read by Parse.
	Position diag.Position
}

// GroupVersionKind returns the kind of the custom resources.
func (w *Watch) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: w.Group, Version: w.Version, Kind: w.Kind}
}
