package helmoperator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/redact"
	"github.com/operon-sdk/operon/pkg/watches"
)

// WithRollout limits how many releases are upgraded at once to a new version of the operator, which has another chart or other override
// values: a number, at least 1, or a percentage of the custom resources, such as "10%", which is rounded up. After more than maxFailures
// failed upgrades, no other one begins. A resource that waits keeps its release; see ConditionOutdated. By default, there are no limits.
//
// Installations and changes of a custom resource don't wait, and neither does a pass that AnnotationReconcileRequestedAt requests.
func WithRollout(maxConcurrent intstr.IntOrString, maxFailures int) Option {
	return func(r *Reconciler) error { return r.kind.SetRollout(maxConcurrent, maxFailures) }
}

// rolloutOptions are the options of the key rollout of an entry.
func rolloutOptions(w watches.Watch) []Option {
	if w.Rollout == (watches.Rollout{}) {
		return nil
	}
	return []Option{WithRollout(w.Rollout.MaxConcurrent, w.Rollout.MaxFailures)}
}

// versionOf returns the digest of a chart and the override values. Values that may be secret are left out: anybody who can read the
// digest in a status could try to guess them.
func (r *Reconciler) versionOf(chart *chartv2.Chart) (string, error) {
	content, err := r.digests.of(chart)
	if err != nil {
		return "", err
	}
	overrides := maps.Clone(r.overrides)
	maps.DeleteFunc(overrides, func(key, _ string) bool { return redact.IsSecretKey(key) })
	values, err := json.Marshal([]any{overrides, redact.WithoutSecrets(r.typedOverrides)})
	if err != nil {
		return "", fmt.Errorf("override values: %w", err)
	}
	return digest(sha256.Sum256(append(values, content[:]...))), nil
}

// startRollout prepares the rollout before the controller is added.
func (r *Reconciler) startRollout() {
	rollout := r.kind.Rollout
	if rollout == nil {
		return
	}
	rollout.PausedBy = AnnotationPaused
	rollout.IsDeployed = func(obj *unstructured.Unstructured) bool {
		return readCondition(obj, ConditionDeployed).status == metav1.ConditionTrue
	}
	rollout.Progress = func(obj *unstructured.Unstructured) (running, failed bool) {
		ready := readCondition(obj, ConditionReady)
		switch ready.reason {
		case ReasonUpgrading, ReasonInstalling, ReasonWaitingForHook, ReasonWaitingForCRD:
			running = true
		}
		failed = ready.reason == ReasonFailed || readCondition(obj, ConditionReleaseFailed).status == metav1.ConditionTrue ||
			readCondition(obj, ConditionIrreconcilable).status == metav1.ConditionTrue
		return running, failed
	}
	rollout.Notify = func(key types.NamespacedName, turn bool) {
		if turn {
			r.tracker.requireFull(key)
		} else if !r.tracker.requestReadiness(key) {
			return
		}
		if queue := r.watched.started(); queue != nil {
			queue.Add(reconcile.Request{NamespacedName: key})
		}
	}
}

// stage makes a plan one without action while the release has to wait for its upgrade to the version of the operator. Otherwise, what the
// pass writes to the status says which version the release has.
func (p *pass) stage(ctx context.Context, plan *release.Plan) error {
	p.change.rollout = &customresource.RolloutState{}
	if p.kind.Rollout == nil {
		p.change.remove(ConditionOutdated)
		return nil
	}
	var err error
	if p.digest, err = p.versionOf(p.rendered); err != nil {
		return err
	}
	before := customresource.ReadRollout(p.obj)
	after := customresource.RolloutState{Digest: p.digest, Generation: p.obj.GetGeneration(), InProgress: before.InProgress && before.Digest == p.digest}
	if plan.Action == release.Upgrade && before.Digest != p.digest {
		// After a failure or an interruption, the objects are of two revisions, and can't be kept as they are.
		whole, err := p.release.IsDeployed(ctx)
		if err != nil {
			return err
		}
		turn, err := p.kind.Rollout.Begin(ctx, p.obj, p.digest, !whole || p.requested != "" || before.IsChanged(p.obj))
		if err != nil {
			return err
		}
		p.asked = true
		if !turn.Granted {
			plan.Action, p.outdated, p.change.rollout = release.None, true, nil
			p.change.set(condition{ConditionOutdated, metav1.ConditionTrue, turn.Reason, turn.Message})
			return nil
		}
		after.InProgress = true
	}
	p.change.rollout = &after
	p.change.remove(ConditionOutdated)
	return nil
}

// keepsFailure reports whether the release waits for its upgrade, and the last operation has failed: it says nothing about the spec then
// that the objects are ready.
func (p *pass) keepsFailure() bool {
	return p.outdated && readCondition(p.obj, ConditionReleaseFailed).status == metav1.ConditionTrue
}

// refreshOutdated sets the condition Outdated in a pass that only reads whether objects are ready.
func (r *Reconciler) refreshOutdated(obj *unstructured.Unstructured, change *statusChange) {
	if r.kind.Rollout == nil {
		return
	}
	if turn, waits := r.kind.Rollout.Waiting(client.ObjectKeyFromObject(obj)); waits {
		change.set(condition{ConditionOutdated, metav1.ConditionTrue, turn.Reason, turn.Message})
	}
}

// patchRollout adds the state of the rollout to a patch of the status of obj: an upgrade ends when the resource is ready.
func (s *statusChange) patchRollout(patch map[string]any, obj *unstructured.Unstructured) {
	state := customresource.ReadRollout(obj)
	if s.rollout != nil {
		state = *s.rollout
	}
	if ready := s.conditions[ConditionReady]; ready != nil && ready.status == metav1.ConditionTrue {
		state.InProgress = false
	}
	state.AddTo(patch, obj)
}
