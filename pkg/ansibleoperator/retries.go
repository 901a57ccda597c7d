package ansibleoperator

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

// WithRetries sets how often a failed run is repeated, with delays of 1 second to 5 minutes, for one generation of a custom resource; -1,
// the default, is without limit. After that, only a change, AnnotationReconcileRequestedAt or the reconcile period starts a run. Runs of a
// finalizer are repeated without limit. AnnotationRetries takes precedence.
func WithRetries(n int) Option {
	return func(r *Reconciler) error {
		if r.retries = n; n < -1 {
			return errors.New("retries: must be at least -1")
		}
		return nil
	}
}

// statusFailedRuns is the key of the status with failedRuns. It is written only if retries are limited.
const statusFailedRuns = "failedRuns"

// failedRuns are how many runs have failed since the last successful one, for a generation of a resource.
type failedRuns struct{ generation, count int64 }

func readFailedRuns(obj *unstructured.Unstructured) (f failedRuns) {
	f.generation, _, _ = unstructured.NestedInt64(obj.Object, "status", statusFailedRuns, "generation")
	f.count, _, _ = unstructured.NestedInt64(obj.Object, "status", statusFailedRuns, "count")
	return f
}

// addTo adds the runs to a merge patch of the status of obj. The zero value removes them.
func (f failedRuns) addTo(patch map[string]any, obj *unstructured.Unstructured) {
	switch old := readFailedRuns(obj); {
	case f == old:
	case f == failedRuns{}:
		patch[statusFailedRuns] = nil
	default:
		patch[statusFailedRuns] = map[string]any{"generation": f.generation, "count": f.count}
	}
}

// countFailure counts a failed run. The memory counts, too: schemas can drop fields of the status.
func (p *passes) countFailure(obj *unstructured.Unstructured, generation int64) failedRuns {
	p.mu.Lock()
	defer p.mu.Unlock()
	state, written := p.state(obj), readFailedRuns(obj)
	if state.failed.generation != generation {
		state.failed = failedRuns{generation: generation}
	}
	if written.generation == generation {
		state.failed.count = max(state.failed.count, written.count)
	}
	state.failed.count++
	return state.failed
}

// succeeded forgets the failed runs of obj.
func (p *passes) succeeded(obj *unstructured.Unstructured) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(obj).failed = failedRuns{}
}

// failRun writes the result of a failed run, and returns an error if it is to be repeated.
func (p *pass) failRun(ctx context.Context, result *runner.Result, reason string) (reconcile.Result, error) {
	cause := errors.New(result.Message())
	if p.settings.retries < 0 || p.deleted {
		return reconcile.Result{}, p.fail(ctx, result, reason, cause)
	}
	p.failed = p.passes.countFailure(p.obj, p.generation)
	if p.failed.count <= int64(p.settings.retries) {
		return reconcile.Result{}, p.fail(ctx, result, reason, cause)
	}
	err, written := p.writeFailure(ctx, result, reason, cause, fmt.Sprintf("%s, not repeated until something changes: ", failures(p.failed.count)))
	log.FromContext(ctx).Error(err, "the run has failed, and is not repeated until something changes", "failures", p.failed.count)
	return reconcile.Result{RequeueAfter: p.settings.period}, written
}

// failures returns a number of failed runs as text.
func failures(n int64) string {
	if n == 1 {
		return "1 run has failed"
	}
	return fmt.Sprintf("%d runs have failed", n)
}
