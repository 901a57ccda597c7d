package ansibleoperator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/outputs"
)

// WithOutputs sets the values that are written to status.outputs after a successful run. They are values that its tasks set with the module
// set_stats. A value that contains a secret, or was set with no_log, is not written.
func WithOutputs(list ...outputs.Output) Option {
	return func(r *Reconciler) error { r.outputs = list; return nil }
}

// finish writes the status after a successful run, with its outputs. A schema that doesn't accept them doesn't keep the rest from being
// written.
func (p *pass) finish(ctx context.Context, result *runner.Result) error {
	conditions := successConditions(result)
	if len(p.Reconciler.outputs) == 0 {
		if customresource.ReadCondition(p.obj, ConditionOutputsReady) != nil { // otherwise, status.outputs is another's
			p.outputs = &outputs.Values{}
			conditions = append(conditions, condition{kind: ConditionOutputsReady, absent: true})
		}
		return p.write(ctx, conditions)
	}
	values := p.outputsOf(result)
	p.outputs = &values
	p.reportOutputs(values.Problem())
	err := p.writeStatus(ctx, withOutputs(conditions, values.Problem()))
	status, _, _ := unstructured.NestedMap(p.obj.Object, "status")
	problem := "the schema of the kind has no field status.outputs; write it with 'operon generate'"
	switch {
	case apierrors.IsInvalid(err):
		problem = "the schema of the kind doesn't accept them; write it with 'operon generate': " + p.secrets.Redact(err.Error())
	case err != nil || values.IsIn(status) || p.obj.GetGeneration() != p.generation:
		return err
	}
	p.outputs = nil
	p.reportOutputs(problem)
	return p.write(ctx, withOutputs(conditions, problem))
}

// outputsOf returns the outputs of a run.
func (p *pass) outputsOf(result *runner.Result) (values outputs.Values) {
	for _, o := range p.Reconciler.outputs {
		value, found := result.SetStats[o.From]
		switch {
		case result.HiddenStats[o.From]:
			values.Refuse(o.Name, "a task sets it with no_log")
		case !found:
			values.Fail(o.Name, fmt.Errorf("no task of the run sets %q with set_stats for all hosts, or the value is too large", o.From))
		default:
			values.Set(o, value, &p.secrets)
		}
	}
	return values
}

// reportOutputs emits an event about a problem with outputs, unless the status says so already.
func (p *pass) reportOutputs(problem string) {
	if problem == "" || customresource.ReadCondition(p.obj, ConditionOutputsReady)["message"] == any(customresource.Truncate(problem, maxMessage)) {
		return
	}
	p.events.Event(p.obj, corev1.EventTypeWarning, ReasonOutputsFailed, customresource.Truncate(problem, customresource.MaxEvent))
}

// withOutputs returns the conditions after a successful run with the one of its outputs. Ready is False if some are missing: whoever waits
// for it uses them.
func withOutputs(conditions []condition, problem string) []condition {
	if problem == "" {
		return append(conditions, condition{kind: ConditionOutputsReady, status: true, reason: outputs.ReasonWritten})
	}
	for i, c := range conditions {
		if c.kind == ConditionReady {
			conditions[i] = ready(false, ReasonOutputsFailed, "outputs: "+problem)
		}
	}
	return append(conditions, condition{kind: ConditionOutputsReady, reason: ReasonOutputsFailed, message: problem})
}
