package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	Problems []Problem
	// Advice are remedies, one per line.
	Advice []string
}

// A Problem is an object that is not ready.
type Problem struct {
	// Object is its name, Reason what is missing, Lines the details.
	Object, Reason string
	Lines          []string
}

// Text returns a multi-line error message that starts with summary.
func (d *Diagnosis) Text(summary string) string {
	var text strings.Builder
	text.WriteString(summary)
	for _, p := range d.Problems {
		fmt.Fprintf(&text, "\n%s: %s", p.Object, p.Reason)
		for _, line := range p.Lines {
			fmt.Fprintf(&text, "\n  %s", line)
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
func (d *Diagnosis) AddProblem(object, reason string, lines ...string) {
	d.Problems = append(d.Problems, Problem{Object: object, Reason: reason, Lines: lines})
}

// Advise adds a remedy, once.
func (d *Diagnosis) Advise(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(d.Advice, line) {
		d.Advice = append(d.Advice, line)
	}
}

// ExplainDeployment finds out why the pods of a deployment are not ready and adds remedies. pull is the remedy for images
// that cannot be pulled, node describes the nodes that the pods need.
func (d *Diagnosis) ExplainDeployment(ctx context.Context, client *kube.Client, deployment *kube.Object, pull, node string) *kube.Cause {
	cause := client.ExplainWorkload(ctx, deployment)
	for _, image := range cause.Images {
		d.Advise("the nodes cannot pull %s: %s", image, pull)
	}
	if cause.Unscheduled {
		d.Advise("add a node that accepts the pods to the cluster: %s", node)
	}
	if cause.Refused {
		d.Advise("the cluster rejects the pods of %s: check ResourceQuotas, admission webhooks and policies of the namespace", kube.FullName(deployment))
	}
	return cause
}
