package customresource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// ConditionOutdated is the type of the condition that is True while a resource waits for its upgrade to the version of the operator.
	// Otherwise, it is absent.
	ConditionOutdated = "Outdated"
	// ReasonRolloutWaiting means that as many other resources are being upgraded as the rollout permits.
	ReasonRolloutWaiting = "RolloutWaiting"
	// ReasonRolloutStopped means that more upgrades have failed than the rollout permits.
	ReasonRolloutStopped = "RolloutStopped"
)

// A Rollout limits how many resources of a kind are upgraded at once to a new version of what the operator makes of them, and stops after
// failures. A digest identifies a version.
//
// The statuses of the resources say how far the rollout is ([RolloutState]), so that another process continues it. The Rollout has an
// index of them, from events and from what the process writes. A resource occupies a slot from [Rollout.Begin] until it is ready; a
// failed one counts as a failure instead. Resources get slots by namespace and name. While a pass that may need one has not begun, the
// resources after it wait, too.
type Rollout struct {
	// PausedBy is the annotation that pauses a resource. Paused ones are neither upgraded nor counted.
	PausedBy string
	// IsDeployed reports whether a resource without RolloutState was deployed before, so that its version isn't known.
	IsDeployed func(*unstructured.Unstructured) bool
	// Progress reports whether the upgrade of a resource is running, and whether it has failed. A repeated one can be both.
	Progress func(*unstructured.Unstructured) (running, failed bool)
	// Notify is called for a waiting resource when it is its turn, which needs a pass, or when the reason for the wait has changed.
	Notify func(key types.NamespacedName, turn bool)

	maxConcurrent intstr.IntOrString
	maxFailures   int
	kind          *Kind

	mu        sync.Mutex
	listed    bool
	digest    string // empty until the first pass
	resources map[types.NamespacedName]*rolloutResource
	entered   map[types.NamespacedName]bool // resources whose pass may still call Begin
	stopped   string                        // the message about the failures that have stopped the rollout
}

// A Turn is the answer to a resource that is to be upgraded. If it has to wait, Reason and Message belong to ConditionOutdated.
type Turn struct {
	Granted         bool
	Reason, Message string
}

// SetRollout limits how many resources are upgraded at once, and the number of failures after which the rollout continues.
func (k *Kind) SetRollout(maxConcurrent intstr.IntOrString, maxFailures int) error {
	n, err := intstr.GetScaledValueFromIntOrPercent(&maxConcurrent, 100, true)
	if err != nil || n < 1 || n > 100 && maxConcurrent.Type == intstr.String {
		return fmt.Errorf("maximum of concurrent upgrades %q: must be a number, at least 1, or a percentage from 1%% to 100%%", maxConcurrent.String())
	}
	k.Rollout = &Rollout{maxConcurrent: maxConcurrent, kind: k, resources: map[types.NamespacedName]*rolloutResource{}, entered: map[types.NamespacedName]bool{}}
	return SetNotNegative(&k.Rollout.maxFailures, "maximum of failed upgrades", maxFailures)
}

// Enter begins a pass of a resource, which ends with End. Until it calls Begin, it isn't told that it is its turn: it will ask itself, and
// the notification would add another pass. Without a rollout, it does nothing.
func (r *Rollout) Enter(key types.NamespacedName) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entered[key] = true
}

// Begin returns whether the upgrade of obj to the version with a digest may begin. If now is set, it doesn't wait for a slot, but occupies
// one. The pass ends with End, and writes a RolloutState before, if the upgrade may begin.
func (r *Rollout) Begin(ctx context.Context, obj *unstructured.Unstructured, digest string, now bool) (Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.list(ctx); err != nil {
		return Turn{}, fmt.Errorf("reading the state of the rollout: %w", err)
	}
	r.setDigest(digest)
	key := client.ObjectKeyFromObject(obj)
	delete(r.entered, key)
	r.update(obj, false)
	own := r.resources[key]
	if own == nil || own.state.Digest == digest { // it is gone, or was upgraded already
		return Turn{Granted: true}, nil
	}
	own.waiting, own.called = false, false
	if !now {
		own.waiting = true
		if turn := r.refusal(); turn.Reason == ReasonRolloutStopped || !slices.Contains(r.next(), key) {
			return turn, nil
		}
	}
	own.waiting, own.reserved = false, true
	return Turn{Granted: true}, nil
}

// End ends a pass with a version of a resource; asked reports whether it has called Begin. Others stop waiting for a pass that hasn't.
// Without a rollout, it does nothing.
func (r *Rollout) End(key types.NamespacedName, digest string, asked bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	delete(r.entered, key)
	if own := r.resources[key]; own != nil {
		own.reserved = false
		if !asked {
			own.waiting, own.called = false, false
		}
		if digest != "" {
			own.visited = digest
		}
	}
	if digest != "" {
		r.setDigest(digest)
	}
	r.notifyAndUnlock()
}

// Waiting returns why a resource waits, if it does.
func (r *Rollout) Waiting(key types.NamespacedName) (turn Turn, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.resources[key]
	return r.refusal(), own != nil && own.waiting
}

// Written updates the index after the process has written the status of obj. Without a rollout, it does nothing.
func (r *Rollout) Written(obj *unstructured.Unstructured) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.update(obj, false)
	r.notifyAndUnlock()
}

func (r *Rollout) setDigest(digest string) {
	if r.digest != digest {
		r.digest = digest
		for _, resource := range r.resources {
			resource.waiting, resource.called = false, false
		}
	}
}

// refusal returns the answer to a resource that has to wait. It doesn't contain numbers that often change, because it is written to the
// statuses of all waiting resources.
func (r *Rollout) refusal() Turn {
	if message := r.failures(); message != "" {
		return Turn{Reason: ReasonRolloutStopped, Message: message}
	}
	subject, verb := r.maxConcurrent.String()+" custom resources", "are"
	switch {
	case r.maxConcurrent.Type == intstr.String:
		subject = r.maxConcurrent.StrVal + " of the custom resources"
	case r.maxConcurrent.IntVal == 1:
		subject, verb = "1 custom resource", "is"
	}
	return Turn{Reason: ReasonRolloutWaiting, Message: fmt.Sprintf("Waits for its turn: at most %s %s upgraded at a time", subject, verb)}
}

// maxNamed limits the number of failed resources in a message.
const maxNamed = 3

// failures returns why the rollout has stopped, or "".
func (r *Rollout) failures() string {
	var failed []string
	for key, resource := range r.resources {
		if r.phaseOf(resource).failed {
			failed = append(failed, strings.TrimPrefix(key.String(), "/"))
		}
	}
	if len(failed) <= r.maxFailures {
		return ""
	}
	slices.Sort(failed)
	if more := len(failed) - maxNamed; more > 0 {
		failed = append(failed[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return "Not upgraded, because the upgrade of other custom resources has failed: " + strings.Join(failed, ", ")
}

// next returns the resources that may begin now, by the order of the rollout.
func (r *Rollout) next() []types.NamespacedName {
	total, busy := 0, 0
	var candidates []types.NamespacedName
	for key, resource := range r.resources {
		if !resource.deleted {
			total++
		}
		switch phase := r.phaseOf(resource); {
		case phase.busy:
			busy++
		case phase.outdated && (resource.waiting || resource.visited != r.digest):
			candidates = append(candidates, key)
		}
	}
	limit, err := intstr.GetScaledValueFromIntOrPercent(&r.maxConcurrent, total, true)
	if err != nil { // SetRollout has checked it
		limit = 1
	}
	free := min(max(limit, 1)-busy, len(candidates))
	if free <= 0 {
		return nil
	}
	slices.SortFunc(candidates, func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return candidates[:free]
}

// notifyAndUnlock notifies resources whose turn it is, and all that wait if the reason for it has changed.
func (r *Rollout) notifyAndUnlock() {
	var turns, waiting []types.NamespacedName
	stopped := r.failures()
	if stopped == "" {
		for _, key := range r.next() {
			if resource := r.resources[key]; !resource.called && !r.entered[key] {
				resource.called = true
				turns = append(turns, key)
			}
		}
	}
	if stopped != r.stopped {
		r.stopped = stopped
		for key, resource := range r.resources {
			if resource.waiting && !resource.called && !r.entered[key] {
				waiting = append(waiting, key)
			}
		}
	}
	r.mu.Unlock()
	for _, key := range turns {
		r.Notify(key, true)
	}
	for _, key := range waiting {
		r.Notify(key, false)
	}
}
