package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/behavior/report"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/permit"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

type testBehaviorOptions struct {
	stageOptions
	workloadOptions

	rest          time.Duration
	audit, report string
	fix           bool
}

func newTestBehavior(a *app) *cobra.Command {
	o := &testBehaviorOptions{}
	c := &cobra.Command{
		Use:   "behavior",
		Short: "Find faults in what the operator does",
		Long: `Run the operator in a temporary control plane with the permissions of config/default, and look at each
of its requests. Create the samples, change and delete by hand what the operator made for them, and
delete the samples. Then perform the scenarios in test/operon: steps of your own, in the format of
Chainsaw, several scenarios at the same time. After each step, the operator must come to rest, and
nothing may be left in the end.

Faults are requests that are forbidden, wildcards in permissions, writes that change nothing or happen
at rest, a status that changes at each pass, fields that two writers change back and forth, lists
without a cache, conflicts after which a write isn't repeated, too many Events, errors in the log,
objects that the operator doesn't repair, custom resources that are refused, assertions of scenarios
that fail, and objects that are left behind. The exit code is 1 if there is one. Notes name permissions
that the operator never used; with --audit, these are faults, too. --fix corrects permissions in
the RBAC markers or in config/rbac/role.yaml. Containers are simulated.`,
		Example: fmt.Sprintf(`  # With the samples of the project:
  %[1]s test behavior

  # Any operator, with its manifests, such as one from a Helm chart:
  helm template dist/chart | %[1]s test behavior --manager ./bin/manager --manifests - -f config/samples

  # With other custom resources, as SARIF for the code host:
  %[1]s test behavior -f test/resources -o sarif > behavior.sarif

  # With the steps in test/operon/scaling only:
  %[1]s test behavior --scenario scaling

  # With a program that uses the cluster:
  %[1]s test behavior --workload 'go run ./test/load'

  # With the audit log of a cluster in which the operator runs:
  %[1]s test behavior --audit audit.log

  # Add the missing permissions to the project, and replace wildcards:
  %[1]s test behavior --fix

  # With a page that shows what happened, report/index.html:
  %[1]s test behavior --report report`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.checkFlags(c); err != nil {
				return err
			}
			return a.testBehavior(c.Context(), o)
		},
	}
	o.stageOptions.addTo(a, c, "custom resources (default: config/samples)", "how long a step may take until nothing changes")
	o.workloadOptions.addTo(c)
	c.Flags().DurationVar(&o.rest, "rest", 5*time.Second, "how long to look at the operator at rest, with all samples")
	c.Flags().StringVar(&o.audit, "audit", "", "audit log `file` of a cluster: its requests count as used permissions, and those that were denied as faults")
	c.Flags().BoolVar(&o.fix, "fix", false, "add missing permissions to RBAC markers or config/rbac/role.yaml, and replace wildcards by what was used; with --audit, remove what wasn't")
	c.Flags().StringVar(&o.report, "report", "", "`directory` to write a page about the run to, index.html; also if there are findings")
	a.addOutput(c, output.Text, output.JSON, output.SARIF)
	return c
}

func (a *app) testBehavior(ctx context.Context, o *testBehaviorOptions) error {
	root, err := a.stageRoot(&o.stageOptions)
	if err != nil {
		return err
	}
	if err := a.checkBehaviorFiles(o); err != nil {
		return err
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	work, err := a.workload(root, o)
	if err != nil {
		return err
	}
	observed, operator, failure := a.observe(ctx, root, o, work)
	if observed == nil {
		return failure
	}
	findings := observed.Findings()
	if o.report != "" {
		if err := a.writeReport(o.report, operator, observed, findings, failure); err != nil {
			failure = errors.Join(failure, fmt.Errorf("--report %s: %w", o.report, err))
		}
	}
	if failure != nil && ctx.Err() != nil {
		return failure
	}
	return a.concludeBehavior(ctx, root, o, observed, findings, failure)
}

// observe runs the operator and returns what it did, or nil, the name of the operator, and why the run has failed, or nil.
func (a *app) observe(
	ctx context.Context, root string, o *testBehaviorOptions, work *workload,
) (observed *behavior.Observation, operator string, failure error) {
	var subject *local.Options
	var logged []behavior.LoggedError
	failure = a.onStage(ctx, root, &o.stageOptions, func(options *local.Options) {
		subject = options
		options.Denied = func(stage.Denial) {} // a finding says so
		options.Log.Failed = func(object, message, cause string) {
			logged = append(logged, behavior.LoggedError{Time: a.Now(), Object: object, Message: message, Cause: cause})
		}
		options.Drive = func(ctx context.Context, s *local.Session) (err error) {
			grants, err := a.grants(s.Permissions, o)
			if err != nil {
				return err
			}
			run := behavior.RunOptions{
				Grants: grants, Client: s.Client, Requests: s.Requests, Busy: s.Busy, Retries: s.Retries, Namespace: s.Namespace,
				Timeout: o.timeout, Rest: o.rest, Now: a.Now, Progress: a.print.Progress,
			}
			work.addTo(&run, s)
			run.Unwatched = unwatched(options, s, run.Objects())
			observed, err = behavior.Run(ctx, run)
			return err
		}
	})
	if observed == nil {
		return nil, "", failure
	}
	observed.Logged = logged
	observed.Permit, observed.Grant = stage.Permission.Rule, func(d stage.Denial) string { return grant(o.role, d) }
	tree := worktree.NewTree(a.FS, root)
	if o.role == "" {
		observed.Permit, observed.Source = stage.Permission.Marker, behavior.SourceOf(tree)
	}
	if len(o.manifests) == 0 {
		observed.IsGenerated = permit.Generated(tree)
	}
	observed.Place = a.placeOf(root, o.files)
	return observed, subject.Config.ProjectName(), failure
}

// concludeBehavior prints notes, corrects the permissions if the user wants that, and returns the findings that are left, with the failure
// of the run.
func (a *app) concludeBehavior(ctx context.Context, root string, o *testBehaviorOptions, observed *behavior.Observation, findings diag.Findings, failure error) error {
	if failure == nil {
		for _, note := range observed.Unused() {
			a.print.Notef("%s", note)
		}
		if observed.WroteNothing() {
			a.print.Notef("the operator has written nothing: perhaps it doesn't watch these custom resources, or their namespace")
		}
	}
	fixed := false
	if o.fix {
		left, err := a.fixPermissions(ctx, root, observed, findings, failure == nil)
		if err != nil {
			return errors.Join(failure, faults("the operator has faults:", findings), err)
		}
		findings, fixed = left, len(left) < len(findings)
	}
	if len(findings) > 0 || failure != nil {
		heading := "the operator has faults:"
		if fixed {
			heading = "the operator has other faults, which may follow from its permissions before:"
		}
		return errors.Join(failure, faults(heading, findings))
	}
	if fixed {
		return nil
	}
	a.print.Progressf("no faults: %s, of which %s, in %s",
		diag.Count(len(observed.Requests), "request"), diag.Count(len(observed.Writes), "write"), diag.Count(len(observed.Steps), "step"))
	return nil
}

// faults returns an error with findings, or nil without any.
func faults(heading string, findings diag.Findings) error {
	if len(findings) == 0 {
		return nil
	}
	findings = slices.Clone(findings)
	for i := range findings {
		findings[i].Long = true
	}
	return &diag.Group{Heading: heading, Err: errors.Join(findings.Unwrap()...)}
}

// checkBehaviorFiles returns an error about the files that flags name, before a run that takes long.
func (a *app) checkBehaviorFiles(o *testBehaviorOptions) error {
	if o.audit != "" {
		if _, err := a.FS.Stat(a.Absolute(o.audit)); err != nil {
			return fmt.Errorf("--audit %s: %w", o.audit, diag.Cause(err))
		}
	}
	if o.report != "" {
		if err := report.CheckDir(a.FS, a.Absolute(o.report)); err != nil {
			return fmt.Errorf("--report %s: %w", o.report, err)
		}
	}
	return nil
}

// writeReport writes the page about a run, which may have failed, to a directory.
func (a *app) writeReport(dir, operator string, observed *behavior.Observation, findings diag.Findings, failure error) error {
	m := report.Meta{Operator: operator, Program: a.program + " " + buildVersion().Version}
	if failure != nil {
		m.Failure = failure.Error()
	}
	err := report.WriteDir(a.FS, a.Absolute(dir), func(w io.Writer) error { return report.Write(w, observed, findings, m) })
	if err != nil {
		return err
	}
	a.print.Progressf("wrote %s", filepath.Join(dir, report.FileName))
	return nil
}
