package cmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/scenario"
)

// workloadOptions are the flags of what 'test behavior' does to the operator.
type workloadOptions struct {
	scenarios []string
	parallel  int
	command   string
}

func (o *workloadOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.scenarios, "scenario", nil, "`name` of a directory in "+scenario.Dir+" to run instead of everything; can be repeated")
	f.IntVar(&o.parallel, "parallel", 8, "`number` of scenarios to perform at the same time")
	f.StringVar(&o.command, "workload", "", "`command` to run instead of samples and scenarios, with KUBECONFIG set; without a shell")
}

// A workload is what 'test behavior' does to the operator.
type workload struct {
	// samples reports whether it creates the samples, or other custom resources.
	samples   bool
	scenarios []*scenario.Scenario
	parallel  int
	command   *behavior.Command
	// kubeconfig is set when the control plane runs.
	kubeconfig string
}

// workload returns what the flags select: the samples and all scenarios by default. It reads the scenarios.
func (a *app) workload(root string, o *testBehaviorOptions) (*workload, error) {
	w := &workload{parallel: o.parallel, samples: len(o.scenarios) == 0 || len(o.files) > 0}
	if o.command != "" {
		line, err := words.Split(o.command)
		if err != nil {
			return nil, diag.Findings{{Field: "--workload", Value: o.command, Problem: err.Error()}}
		}
		program, err := a.LookPath(root, line[0])
		if err != nil {
			return nil, fmt.Errorf("--workload: %w", err)
		}
		text := a.print.Text()
		w.command = &behavior.Command{Name: o.command, Run: func(ctx context.Context) error {
			return a.Run(ctx, Command{
				Dir: root, Environ: append(slices.Clone(a.Environ), "KUBECONFIG="+w.kubeconfig), Out: text, Err: text, Name: program, Args: line[1:], Tied: true,
			})
		}}
		return w, nil
	}
	if len(o.files) > 0 && len(o.scenarios) == 0 {
		return w, nil
	}
	project, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("reading the project: %w", diag.Cause(err))
	}
	defer func() { _ = project.Close() }() // it was read
	w.scenarios, err = scenario.Load(project.FS(), scenario.Options{Names: o.scenarios, Namespace: o.namespace})
	if err == nil && len(o.manifests) > 0 && len(w.scenarios) == 0 {
		err = diag.Findings{{Field: "--manifests", Value: strings.Join(o.manifests, ","), Problem: "have no samples: pass custom resources with -f, scenarios in " + scenario.Dir + " or --workload"}}
	}
	return w, err
}

// addTo adds the workload to the options of a run in a session.
func (w *workload) addTo(o *behavior.RunOptions, s *local.Session) {
	w.kubeconfig, o.Command, o.Scenarios, o.Parallel = s.Kubeconfig, w.command, w.scenarios, w.parallel
	if w.samples {
		o.Samples = s.Samples
	}
}

// checkFlags returns an error if flags exclude each other.
func (o *testBehaviorOptions) checkFlags(c *cobra.Command) error {
	if o.command != "" && len(o.files)+len(o.scenarios) > 0 {
		return usagef(c, "--workload replaces custom resources and scenarios: leave out -f and --scenario")
	}
	if o.parallel < 1 {
		return usagef(c, "--parallel %d: at least one scenario must be performed at a time", o.parallel)
	}
	if o.fix && len(o.manifests) > 0 {
		return usagef(c, "--fix corrects the permissions of the project, and --manifests replaces these: leave out one of them")
	}
	return o.stageOptions.checkFlags()
}
