package watches

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
)

// defaultMaxRunnerArtifacts is the number of runs of a custom resource whose artifacts are kept.
const defaultMaxRunnerArtifacts = 20

// An AnsibleWatch is an entry of the file of an Ansible operator: a kind whose custom resources are reconciled by runs of a playbook or
// a role. NewAnsibleWatch returns one with defaults.
type AnsibleWatch struct {
	// Group may be empty. Each group, version and kind has at most one entry.
	Group, Version, Kind string
	// Playbook is the path of a playbook, absolute or relative to the working directory of the operator. It takes precedence over Role.
	Playbook string
	// Role is the absolute path of a role, its name, or the name NAMESPACE.COLLECTION.ROLE of a role in a collection.
	Role string
	// Vars are extra variables of all runs: string, bool, int, int64, uint64, float64, nil, lists and maps.
	Vars map[string]any
	// DependsOn are objects that have to be ready before a run.
	DependsOn []Dependency
	// VarsFrom are Secrets and ConfigMaps with variables of runs. Later ones take precedence, and custom resources over all of them.
	VarsFrom []Source
	// TargetNamespace is the namespace of ansible_operator_meta for cluster-scoped custom resources.
	TargetNamespace TargetNamespace
	// ReconcilePeriod is the time between two runs for a custom resource without changes; nil is the operator's default. 0
	// disables them.
	ReconcilePeriod *time.Duration
	// RunTimeout is the maximum duration of a run; 0 is unlimited.
	RunTimeout time.Duration
	// MaxRunnerArtifacts is the number of runs of a custom resource whose artifacts are kept. 0 in a file is the default.
	MaxRunnerArtifacts int
	// Retries is how often a failed run is repeated; -1 is without limit.
	Retries int
	// Rollout limits how many custom resources get a run of a new version of the playbook or role at once.
	Rollout Rollout
	// MaxConcurrentReconciles is the number of custom resources that are reconciled at a time; 0 is the operator's default.
	MaxConcurrentReconciles int
	// ManageStatus makes the operator write conditions. Without it, only the role writes the status.
	ManageStatus bool
	// WatchDependentResources makes changes of objects that a run created trigger another run.
	WatchDependentResources bool
	// WatchClusterScopedResources does so for cluster-scoped objects, too.
	WatchClusterScopedResources bool
	// WatchAnnotationsChanges makes changes of the annotations of a custom resource trigger a run.
	WatchAnnotationsChanges bool
	// SnakeCaseParameters converts keys of the spec to snake case for the variables of a run.
	SnakeCaseParameters bool
	// MarkUnsafe keeps strings of custom resources from being evaluated as templates.
	MarkUnsafe bool
	// CacheReads answers reads of a run from a cache where possible.
	CacheReads bool
	// Blacklist are the kinds of objects that are neither cached nor watched.
	Blacklist []schema.GroupVersionKind
	// WatchOtherResources are objects that no run has created, and whose changes trigger a run.
	WatchOtherResources []OtherResource
	// Outputs are values that are written to status.outputs of custom resources, in the order of the file.
	Outputs []Output
	// Selector selects custom resources by their labels; nil is all.
	Selector *metav1.LabelSelector
	// Finalizer is the run before a deleted custom resource is removed, or nil.
	Finalizer *AnsibleFinalizer
	// Position is the place of the entry in the file, as read by ParseAnsible.
	Position diag.Position
	// Warnings are findings that do not make the entry invalid, as read by ParseAnsible.
	Warnings diag.Findings
	// Comments are written by AddAnsible above the lines of keys. The comment of a key that is not written, such as role, is written at the end.
	// The text may have several lines, without "#". ParseAnsible does not read them.
	Comments map[string]string
}

// An AnsibleFinalizer is the run for a deleted custom resource.
type AnsibleFinalizer struct {
	// Name is the finalizer of the custom resource.
	Name string
	// Playbook and Role are as in AnsibleWatch. Without both, the playbook or role of the entry runs.
	Playbook, Role string
	// Vars take precedence over the variables of the entry.
	Vars map[string]any
}

// NewAnsibleWatch returns an entry with the defaults of the file format, without playbook and role.
func NewAnsibleWatch(gvk schema.GroupVersionKind) AnsibleWatch {
	return AnsibleWatch{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, MaxRunnerArtifacts: defaultMaxRunnerArtifacts, Retries: -1,
		ManageStatus: true, WatchDependentResources: true, SnakeCaseParameters: true,
	}
}

// GroupVersionKind returns the kind of the custom resources.
func (w *AnsibleWatch) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: w.Group, Version: w.Version, Kind: w.Kind}
}

// ParseAnsible reads a file of an Ansible operator. The name appears in positions. As in operator-sdk, references $NAME and ${NAME}
// to environment variables are replaced in the whole text before it is parsed; other than there, references to unset variables and all
// other dollars stay as they are. The error has all findings with their positions. A file without entries is valid.
//
// A nil lookup reads the file as commands of a project do: nothing is replaced, values with references are not checked and have
// their zero value if they are not texts, and an entry may have neither a playbook nor a role.
func ParseAnsible(name string, data []byte, lookup func(name string) (value string, ok bool)) ([]AnsibleWatch, error) {
	p := &parser{file: name, lenient: lookup == nil}
	if lookup != nil && len(data) <= maxBytes {
		p.expanded = expand(data, lookup)
		data = p.expanded.expanded
	}
	return parse(ansibleFormat(), p, data)
}

// AddAnsible is Add for an entry of an Ansible operator. Keys with default values are not written.
func AddAnsible(data []byte, w AnsibleWatch) ([]byte, error) { return add(ansibleFormat(), data, w) }

// RemoveAnsible is Remove for an entry of an Ansible operator.
func RemoveAnsible(data []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	return remove(ansibleFormat(), data, gvk)
}
