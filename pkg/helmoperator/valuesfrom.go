package helmoperator

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/strvals"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

// defaultValuesKey is the key of sources that name none.
const defaultValuesKey = "values.yaml"

// WithValuesFrom sets the Secrets and ConfigMaps from which releases get values. Their default key is values.yaml. Later ones take
// precedence, and the custom resource takes precedence over all of them. A change of an object starts a pass of the resources that use it.
// The operator needs permissions to get, list and watch the objects. Their content appears in the release, but in no condition, event,
// error or log.
func WithValuesFrom(sources ...valuesfrom.Source) Option {
	return func(r *Reconciler) (err error) {
		if r.valuesFrom, err = valuesfrom.Complete(sources, defaultValuesKey); err != nil {
			return fmt.Errorf("values from: %w", err)
		}
		for _, source := range r.valuesFrom {
			if source.Target == "" {
				continue
			}
			if err := setValue(map[string]any{}, source.Target, ""); err != nil {
				return fmt.Errorf("values from: %w", err)
			}
		}
		return nil
	}
}

// setValue sets the value at a path to a string.
func setValue(values map[string]any, path, text string) error {
	return strvals.ParseIntoFile(path+"=x", values, func([]rune) (any, error) { return text, nil })
}

// addValuesFrom adds the values from Secrets and ConfigMaps, and their content to the secrets of the pass.
func (r *Reconciler) addValuesFrom(ctx context.Context, obj *unstructured.Unstructured, values map[string]any, secrets *redactor) error {
	sources, err := r.sources.Read(ctx, obj)
	for _, source := range sources {
		secrets.AddContent(source.Text)
		secrets.AddContent(source.Mapping)
		if source.Target == "" {
			mergeValues(values, runtime.DeepCopyJSON(source.Mapping))
		} else if setValue(values, source.Target, source.Text) != nil { // the error may have a value
			err = errors.Join(err, source.Errorf("cannot be set at %s: the values of other sources have another structure there", source.Target))
		}
	}
	return err
}

// requestFull starts a pass of a custom resource after a change of a source or dependency, also while it waits after a failed pass.
func (r *Reconciler) requestFull(key types.NamespacedName) {
	r.tracker.requireFull(key)
	r.watched.mu.Lock()
	queue := r.watched.queue
	r.watched.mu.Unlock()
	if queue != nil {
		queue.Forget(reconcile.Request{NamespacedName: key})
		queue.Add(reconcile.Request{NamespacedName: key})
	}
}

// waitForSources ends a pass whose sources are missing or not valid. Their watch, or a change of the resource, starts the next one. Until
// then, the deployed revision is repaired.
func (p *pass) waitForSources(ctx context.Context, cause *valuesfrom.Error) (reconcile.Result, error) {
	reason := ReasonValuesInvalid
	if cause.IsMissing() {
		reason = ReasonValuesMissing
	}
	before := p.tracked.secrets
	if err := p.repairDeployed(ctx); err != nil {
		if before != nil { // the release contains what was read before
			err = before.RedactError(err)
		}
		return reconcile.Result{}, p.fail(ctx, errors.Join(cause, err))
	}
	failure := condition{ConditionIrreconcilable, metav1.ConditionTrue, reason, cause.Error()}
	if !isRepeated(p.obj, failure) {
		log.FromContext(ctx).Info("waiting for the sources of values", "reason", cause.Error())
	}
	p.emitFailure(p.obj, failure, cause)
	p.change.set(failure)
	p.change.set(condition{ConditionReady, metav1.ConditionFalse, reason, cause.Error()})
	p.tracked.blocked = true
	return reconcile.Result{RequeueAfter: p.settings.period}, p.writeStatus(ctx, p.obj, p.change)
}

// repairDeployed repairs the deployed revision of a pass that has to wait.
func (p *pass) repairDeployed(ctx context.Context) error {
	rel, err := p.newRelease(ctx, p.chart.last())
	if err != nil {
		return err
	}
	return p.keepDeployed(ctx, rel)
}
