package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
)

func newTest(a *app) *cobra.Command {
	c := a.commandGroup("test", "Test the operator in a temporary control plane", "  %[1]s test behavior", newTestBehavior(a))
	old := newOldTestLocal(a)
	old.Hidden = true
	c.AddCommand(old)
	return c
}

type testBehaviorOptions struct {
	stageOptions

	rest time.Duration
}

func newTestBehavior(a *app) *cobra.Command {
	o := &testBehaviorOptions{}
	c := &cobra.Command{
		Use:   "behavior",
		Short: "Find faults in what the operator does",
		Long: `Run the operator in a temporary control plane with the permissions of config/default, and look at each
of its requests. Create the samples, delete by hand what the operator made for them, and delete the
samples. After each step, the operator must come to rest, and nothing may be left in the end.

Faults are requests that are forbidden, writes that change nothing or happen at rest, a status that
changes at each pass, fields that two writers change back and forth, lists without a cache, objects
that the operator doesn't make again, custom resources that are refused, and objects that are left
behind. The exit code is 1 if there is one. Containers are simulated.`,
		Example: fmt.Sprintf(`  # With the samples of the project:
  %[1]s test behavior

  # Any operator, with its manifests, such as one from a Helm chart:
  helm template dist/chart | %[1]s test behavior --manager ./bin/manager --manifests - -f config/samples

  # With other custom resources, as SARIF for the code host:
  %[1]s test behavior -f test/resources -o sarif > behavior.sarif`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.checkFlags(); err != nil {
				return err
			}
			return a.testBehavior(c.Context(), o)
		},
	}
	o.addTo(a, c, "custom resources (default: config/samples)", "how long a step may take until nothing changes")
	c.Flags().DurationVar(&o.rest, "rest", 5*time.Second, "how long to look at the operator at rest, with all samples")
	a.addOutput(c, output.Text, output.JSON, output.SARIF)
	return c
}

func (a *app) testBehavior(ctx context.Context, o *testBehaviorOptions) error {
	root, err := a.stageRoot(&o.stageOptions)
	if err != nil {
		return err
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	var observed *behavior.Observation
	var run *local.Options
	failure := a.onStage(ctx, root, &o.stageOptions, func(options *local.Options) {
		run = options
		options.Denied = func(stage.Denial) {} // a finding says so
		options.Drive = func(ctx context.Context, s *local.Session) (err error) {
			observed, err = behavior.Run(ctx, behavior.RunOptions{
				Client: s.Client, Requests: s.Requests, Busy: s.Busy, Samples: s.Samples, Namespace: s.Namespace,
				Unwatched: unwatched(options, s), Timeout: o.timeout, Rest: o.rest, Now: a.Now, Progress: a.print.Progress,
			})
			return err
		}
	})
	if observed == nil || failure != nil && ctx.Err() != nil {
		return failure
	}
	observed.Grant = func(d stage.Denial) string { return grant(run, d) }
	if findings := observed.Findings(); len(findings) > 0 {
		for i := range findings {
			findings[i].Long = true
		}
		return errors.Join(failure, &diag.Group{Heading: "the operator has faults:", Err: errors.Join(findings.Unwrap()...)})
	}
	if failure != nil {
		return failure
	}
	a.print.Progressf("no faults: %s, of which %s, in %s",
		diag.Count(len(observed.Requests), "request"), diag.Count(len(observed.Writes), "write"), diag.Count(len(observed.Steps), "step"))
	return nil
}

// grant returns how to grant a permission to the manager.
func grant(o *local.Options, d stage.Denial) string {
	switch {
	case len(o.Manifests) > 0:
		return "add the rule to the role of the operator: " + d.Rule()
	case !o.Config.HasGoCode():
		return "add the rule to " + project.RoleFile + ": " + d.Rule()
	}
	return "add the marker to the controller: " + d.Marker()
}
