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

// Text returns a multi-line error message that starts with summary.
func (d *Diagnosis) Text(summary string) string {
	var text strings.Builder
	text.WriteString(summary)
	for _, p := range d.Problems {
		fmt.Fprintf(&text, "\n%s: %s", p.Object, p.Problem)
		for _, related := range p.Related {
			fmt.Fprintf(&text, "\n  %s", related)
		}
	}
	if len(d.Advice) > 0 {
		text.WriteString("\nwhat to do:")
	}
	for _, line := range d.Advice {
		fmt.Fprintf(&text, "\n- %s", line)
	}
	return text.String()
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
