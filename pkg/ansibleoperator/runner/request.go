package runner

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A Request describes one run for a custom resource. Either Playbook or Role is required.
type Request struct {
	GVK schema.GroupVersionKind
	Key types.NamespacedName
	// Playbook is the absolute path of a playbook. It takes precedence over Role.
	Playbook string
	// Role is the absolute path of a role, or the name of a role in a collection, NAMESPACE.COLLECTION.ROLE. FindRole returns it.
	Role string
	// Variables are the extra variables of the run, in the form of JSON. variables.Of returns them.
	Variables map[string]any
	// Kubeconfig is the content of a file that exists only during the run. KUBECONFIG and K8S_AUTH_KUBECONFIG contain its path.
	Kubeconfig []byte
	// Verbosity is the number of -v options, 0 to 7.
	Verbosity int
	// MaxArtifacts is the number of runs whose artifacts are kept. Zero means 20, a negative value all.
	MaxArtifacts int
	// Redact removes secrets from messages and the output of the run, if it is not nil. It may be called concurrently.
	Redact func(string) string
	// Timeout ends the run after this time. Zero means no limit.
	Timeout time.Duration
}

// The values of Result.Killed that aren't signals.
const (
	// KilledByTimeout means that the run exceeded Request.Timeout.
	KilledByTimeout = "timeout"
	// KilledByArtifacts means that the artifacts of the run exceeded the limit of all runs.
	KilledByArtifacts = "artifacts"
	// KilledBySupervisor means that the supervisor of the run ended unexpectedly, probably because it was killed.
	KilledBySupervisor = "supervisor"
)

// Stats are numbers of tasks, added up over all hosts.
type Stats struct {
	OK, Changed, Skipped, Failures, Ignored, Rescued, Unreachable int
}

// Result describes a run that was started.
type Result struct {
	// Ident is the name of the directory with the artifacts of the run.
	Ident    string
	Started  time.Time
	Duration time.Duration
	// Stats are zero if the run ended before the playbook did.
	Stats Stats
	// SetStats are the values that tasks have set with the module set_stats, in the form of JSON, without per-host ones and large ones.
	// HiddenStats are the names of those that no_log hides.
	SetStats    map[string]any
	HiddenStats map[string]bool
	// Completion is the time at which the playbook ended.
	Completion time.Time
	// Failures are the messages of failed tasks that were neither ignored nor rescued.
	Failures []string
	// RequeueAfter is the time that the module requeue_after has requested, or nil. It ends the run.
	RequeueAfter *time.Duration
	// Killed is what ended the run before the playbook did: one of the Killed constants, or a signal such as SIGKILL. It is empty if
	// the run was not killed.
	Killed string
}

// TimedOut reports whether the run was ended because it exceeded Request.Timeout.
func (r *Result) TimedOut() bool { return r.Killed == KilledByTimeout }

// Failed reports whether a task failed or the run exceeded its time.
func (r *Result) Failed() bool { return r.TimedOut() || len(r.Failures) > 0 }

// Message returns the messages of all failures, one per line.
func (r *Result) Message() string { return strings.Join(r.Failures, "\n") }
