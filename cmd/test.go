package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotest"
)

// testOptions are the flags of test, and the arguments for go test.
type testOptions struct {
	controllers, yes bool
	junit            string
	kubernetes       []string
	args             []string
}

func newTest(a *app) *cobra.Command {
	o := &testOptions{}
	c := &cobra.Command{
		Use:   "test [flags] [-- ARGUMENT...]",
		Short: "Run the project's Go tests on a full control plane",
		Long: `Run go test on the project's packages, except for end-to-end tests, or with the arguments after --.

Tests that start a control plane with envtest get etcd and an API server as ever and, beside them,
the controllers and the scheduler of Kubernetes and a node with simulated containers: Deployments
become ready, owned objects are garbage collected, namespaces are deleted. The tests need no change,
and each package has a control plane of its own. For tests that set by hand what a controller sets
here, such as the status of a Deployment, use --controllers=false.`,
		Example: fmt.Sprintf(`  # All tests:
  %[1]s test

  # Some tests, with the flags of go test:
  %[1]s test -- ./internal/controller -run TestControllers -v

  # As with envtest alone, in two versions of Kubernetes, with a JUnit report:
  %[1]s test --controllers=false --kubernetes 1.34,1.36 --junit tests.xml`, a.program),
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || c.ArgsLenAtDash() == 0:
				return nil
			case strings.ContainsAny(args[0], "./"):
				return usagef(c, "arguments for go test come after --, as in '%s -- %s'", c.CommandPath(), args[0])
			}
			return unknownCommand(c, args[0])
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.args = args
			if err := o.check(); err != nil {
				return err
			}
			return a.testSuite(c.Context(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.controllers, "controllers", true, "run the controllers, the scheduler and a node beside the API server")
	f.StringVar(&o.junit, "junit", "", "write a JUnit report to this `file`")
	f.StringSliceVar(&o.kubernetes, "kubernetes", nil, "`versions` of Kubernetes to test with, such as 1.34,1.36 (default: "+controlplane.Version+")")
	f.BoolVarP(&o.yes, "yes", "y", false, "run a project's code for the first time without asking")
	old := newOldTestLocal(a)
	old.Hidden = true
	c.AddCommand(newTestBehavior(a), old)
	c.PersistentPreRunE = func(sub *cobra.Command, _ []string) error {
		if sub != c && c.ArgsLenAtDash() >= 0 { // cobra looks for commands there, too
			return usagef(c, "-- %s: join the flag and its value with =", sub.Name())
		}
		return a.prepare(sub) // as the hook of the root command, which this one replaces
	}
	return c
}

// check returns the findings about the flags as an error.
func (o *testOptions) check() error {
	var findings diag.Findings
	for _, version := range o.kubernetes {
		own, err := controlplane.IsOwnVersion(version)
		switch {
		case err != nil:
			findings.Add("--kubernetes", version, "must have a form such as 1.36.3 or 1.36")
		case !own && o.controllers:
			findings.Add("--kubernetes", version, "only Kubernetes "+controlplane.Version+" has controllers here; add --controllers=false")
		}
	}
	if o.junit != "" && gotest.HasFlag(o.args, "json") {
		findings.Add("--junit", o.junit, "can't be combined with -json of go test; leave one of them out")
	}
	return findings.Err()
}
