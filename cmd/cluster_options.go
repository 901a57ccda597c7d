package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/diag"
)

// clusterTimeout is the default timeout of commands for OLM and its operators.
const clusterTimeout = 2 * time.Minute

// clusterOptions are the flags of all commands for OLM and its operators.
type clusterOptions struct {
	clusterChoice
	timeout time.Duration
}

func (o *clusterOptions) add(c *cobra.Command) {
	flags := c.Flags()
	o.addTo(flags, kubeconfigDefault)
	flags.DurationVar(&o.timeout, "timeout", clusterTimeout, "maximum `duration` of the command")
}

// check returns the findings about the flags.
func (o *clusterOptions) check() diag.Findings {
	if o.timeout > 0 {
		return nil
	}
	return diag.Findings{{Field: "--timeout", Value: o.timeout.String(), Problem: "must be greater than zero, such as 5m"}}
}

// limited returns a context that ends on an interrupt and after the timeout.
func (o *clusterOptions) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := env.UntilInterrupted(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done within %s", o.timeout))
	return ctx, func() { cancel(); stop() }
}

// checkNamespace returns the findings about the namespace in a flag.
func checkNamespace(flag, namespace string) diag.Findings {
	if len(validation.IsDNS1123Label(namespace)) == 0 {
		return nil
	}
	return diag.Findings{{Field: flag, Value: namespace, Problem: "must consist of at most 63 lower-case letters, digits and dashes"}}
}
