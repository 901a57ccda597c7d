package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// Causes are why something did not happen, from where it is known, and what to do.
type Causes struct {
	Troubles []Trouble
	// Advice is what to do, a line each.
	Advice []string
}

// Trouble is an object that is not ready.
type Trouble struct {
	// Object is its name, Reason what is missing, Lines the details.
	Object, Reason string
	Lines          []string
}

// text is the error that they explain, with them below.
func (c *Causes) text(first string) string {
	var text strings.Builder
	text.WriteString(first)
	for _, t := range c.Troubles {
		fmt.Fprintf(&text, "\n%s: %s", t.Object, t.Reason)
		for _, line := range t.Lines {
			fmt.Fprintf(&text, "\n  %s", line)
		}
	}
	if len(c.Advice) > 0 {
		text.WriteString("\nwhat to do:")
	}
	for _, line := range c.Advice {
		fmt.Fprintf(&text, "\n- %s", line)
	}
	return text.String()
}

func (c *Causes) trouble(object, reason string, lines ...string) {
	c.Troubles = append(c.Troubles, Trouble{Object: object, Reason: reason, Lines: lines})
}

// advise adds a line, once.
func (c *Causes) advise(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(c.Advice, line) {
		c.Advice = append(c.Advice, line)
	}
}

// workload finds out why a deployment's pods are not ready, and advises. An image that cannot be pulled is
// told with what to do about it.
func (c *Causes) workload(ctx context.Context, client *kube.Client, live *kube.Object, pull, node string) *kube.Cause {
	cause := client.ExplainWorkload(ctx, live)
	for _, image := range cause.Images {
		c.advise("the nodes cannot pull %s: %s", image, pull)
	}
	if cause.Unscheduled {
		c.advise("give the cluster a node that takes the pods: %s", node)
	}
	if cause.Refused {
		c.advise("the cluster lets no pods of %s in: look for a ResourceQuota, an admission webhook or a policy of the namespace", kube.FullName(live))
	}
	return cause
}
