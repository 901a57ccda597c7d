package helmoperator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/outputs"
)

// WithOutputs sets the values that are written to status.outputs after a release is installed or upgraded. They are templates as in the
// chart, with its values and named templates, but without access to the cluster. A value that contains a secret is not written. Templates
// are evaluated again when the release changes.
func WithOutputs(list ...outputs.Output) Option {
	return func(r *Reconciler) error {
		var errs []error
		for _, o := range list {
			if err := release.CheckOutput(o.From); err != nil {
				errs = append(errs, fmt.Errorf("output %q: %w", o.Name, err))
			}
		}
		r.outputs = list
		return errors.Join(errs...)
	}
}

// trackedOutputs are the outputs of a deployed revision.
type trackedOutputs struct {
	chart    *chartv2.Chart
	values   [sha256.Size]byte
	revision int
	result   outputs.Values
	// problem is why they aren't all in the status, or empty.
	problem string
}

// describeOutputs evaluates the outputs of the deployed revision, and adds them to the status. A revision that is still to be tested has
// none yet, as the tests can undo it. A revision of an older chart keeps its outputs while it waits for its upgrade.
func (p *pass) describeOutputs(ctx context.Context, deployed *release.Deployed) {
	if len(p.Reconciler.outputs) == 0 {
		p.tracked.outputs = nil
		if readCondition(p.obj, ConditionOutputsReady).status != "" { // otherwise, status.outputs is another's
			p.change.outputs = &outputs.Values{}
			p.change.remove(ConditionOutputsReady)
		}
		return
	}
	if p.tracked.testPending || p.outdated {
		return
	}
	data, _ := json.Marshal(p.values)
	values, known := sha256.Sum256(data), p.tracked.outputs
	if known == nil || p.requested != "" || known.chart != p.rendered || known.revision != deployed.Revision || known.values != values {
		known = &trackedOutputs{chart: p.rendered, revision: deployed.Revision, values: values}
		known.result = p.evaluateOutputs(ctx, deployed)
		known.problem = known.result.Problem()
		p.tracked.outputs = known
	}
	p.addOutputs()
}

// addOutputs adds the outputs and their condition to the status. Outputs that the schema of the kind doesn't accept aren't written again.
func (p *pass) addOutputs() {
	known := p.tracked.outputs
	result := condition{ConditionOutputsReady, metav1.ConditionTrue, outputs.ReasonWritten, ""}
	if p.change.outputs = &known.result; known.problem != "" {
		result = condition{ConditionOutputsReady, metav1.ConditionFalse, ReasonOutputsFailed, known.problem}
		if known.problem != known.result.Problem() {
			p.change.outputs = nil
		}
		if !isRepeated(p.obj, result) {
			p.emit(p.obj, corev1.EventTypeWarning, ReasonOutputsFailed, known.problem)
		}
	}
	p.change.set(result)
}

func (p *pass) evaluateOutputs(ctx context.Context, deployed *release.Deployed) (values outputs.Values) {
	templates := map[string]string{}
	for _, o := range p.Reconciler.outputs {
		templates[o.Name] = o.From
	}
	texts, err := p.release.Outputs(ctx, templates, deployed)
	if err != nil {
		values.FailAll(p.Reconciler.outputs, p.secrets.RedactError(err))
		return values
	}
	for _, o := range p.Reconciler.outputs {
		if text := texts[o.Name]; text.Err != nil {
			values.Fail(o.Name, p.secrets.RedactError(text.Err))
		} else {
			values.Set(o, text.Text, &p.secrets.Redactor)
		}
	}
	return values
}

// writeWithOutputs writes the status with outputs. A schema that doesn't accept them doesn't keep the rest from being written.
func (p *pass) writeWithOutputs(ctx context.Context, ready *condition) error {
	err := p.writeStatus(ctx, p.obj, p.change)
	if p.change.outputs == nil || p.tracked.outputs == nil || p.obj.GetGeneration() != p.tracked.generation {
		return err
	}
	status, _, _ := unstructured.NestedMap(p.obj.Object, "status")
	switch {
	case apierrors.IsInvalid(err):
		p.tracked.outputs.problem = "the schema of the kind doesn't accept them; write it with 'operon generate': " + p.secrets.Redact(err.Error())
	case err != nil || p.change.outputs.IsIn(status):
		return err
	default:
		p.tracked.outputs.problem = "the schema of the kind has no field status.outputs; write it with 'operon generate'"
	}
	p.addOutputs()
	*ready = withOutputs(*ready, p.tracked)
	p.change.set(*ready)
	return p.writeStatus(ctx, p.obj, p.change)
}

// withOutputs returns the condition Ready, which is False if outputs are missing: whoever waits for it uses them.
func withOutputs(ready condition, tracked *trackedResource) condition {
	if tracked.outputs == nil || tracked.outputs.problem == "" || ready.status != metav1.ConditionTrue {
		return ready
	}
	return condition{ConditionReady, metav1.ConditionFalse, ReasonOutputsFailed, "outputs: " + tracked.outputs.problem}
}
