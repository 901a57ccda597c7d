package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// diagnosisTime is the maximum time for the search for causes after the time for the operation has expired.
const diagnosisTime = 20 * time.Second

// DiagnosisContext returns a context for the search for causes, which may begin after ctx has ended.
func DiagnosisContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), diagnosisTime)
}

// A Diagnosis lists the causes of a failure as far as they can be found, and possible remedies.
type Diagnosis struct {
	// Problems lists the objects that are not ready; their Related findings are details.
	Problems diag.Findings
	// Advice lists remedies, one per line.
	Advice []string
}

// Err returns an error that starts with summary and wraps cause.
func (d *Diagnosis) Err(summary string, cause error) error {
	var advice []string
	for i, line := range d.Advice {
		if i == 0 {
			advice = []string{"what to do:"}
		}
		advice = append(advice, "- "+line)
	}
	if len(d.Problems) == 0 {
		return diag.Explain(diag.Finding{Problem: summary, Err: cause}, advice...)
	}
	problems := slices.Clone(d.Problems)
	for i, p := range problems {
		lines := []string{p.Object + ": " + p.Problem}
		for _, related := range p.Related {
			lines = append(lines, "  "+related.Error())
		}
		problems[i].Listed, problems[i].Err = strings.Join(lines, "\n"), cause
	}
	return diag.Lines(summary, problems, advice...)
}

// AddProblem adds an object that is not ready.
func (d *Diagnosis) AddProblem(object, problem string, related ...diag.Finding) {
	d.Problems = append(d.Problems, diag.Finding{Object: object, Problem: problem, Related: related})
}

// Advise adds a remedy, once.
func (d *Diagnosis) Advise(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(d.Advice, line) {
		d.Advice = append(d.Advice, line)
	}
}

// ExplainDeployment finds out why the pods of a Deployment are not ready, and adds remedies. pull is the remedy for images
// that cannot be pulled; node describes the nodes that the pods need.
func (d *Diagnosis) ExplainDeployment(ctx context.Context, client *kube.Client, deployment *kube.Object, pull, node string) diag.Findings {
	found := client.ExplainWorkload(ctx, deployment)
	for _, f := range found.WithRule(kube.Unpulled) {
		d.Advise("the nodes cannot pull %s: %s", f.Value, pull)
	}
	if len(found.WithRule(kube.Unscheduled)) > 0 {
		d.Advise("add a node that accepts the pods to the cluster: %s", node)
	}
	if len(found.WithRule(kube.Refused)) > 0 {
		d.Advise("the cluster rejects the pods of %s: check ResourceQuotas, admission webhooks and policies of the namespace", kube.FullName(deployment))
	}
	return found
}
