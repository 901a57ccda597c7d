package cmd

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
)

// oldRun contains the flags of up local and run --local.
type oldRun struct {
	namespace, watch, kubeconfig string
}

// retiredRun returns the flags of up local and run --local that are no longer supported.
func retiredRun() []retired {
	const manager = "start the manager yourself, after 'make install': go run ./cmd and the flags"
	return []retired{
		{"operator-namespace", "is not needed: the manager elects no leader without --leader-elect; " + manager, nil},
		{"operator-flags", "cannot be passed on; " + manager, nil},
		{"go-ldflags", "is replaced by the variable GOFLAGS: GOFLAGS=-ldflags=…", nil},
		{"enable-delve", "is replaced by 'dlv debug ./cmd', after 'make install'", []string{"false"}},
	}
}

func (o *oldRun) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.namespace, "namespace", "", "`namespace` of the samples, and the only one that a namespaced manager watches")
	f.StringVar(&o.watch, "watch-namespace", "", "`namespace`, like --namespace")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`")
	addRetired(c, retiredRun())
}

// run runs run local.
func (o *oldRun) run(a *app, c *cobra.Command) error {
	findings := retiredUsed(c, retiredRun())
	if o.namespace != "" && o.watch != "" && o.namespace != o.watch {
		findings.Add("--watch-namespace", o.watch, "is an alias of --namespace, which is "+o.namespace)
	}
	if len(findings) > 0 {
		return findings
	}
	return a.runReplacement(c, []string{"run", "local"}, slices.Concat(given("namespace", cmp.Or(o.namespace, o.watch)), given("kubeconfig", o.kubeconfig))...)
}

func newOldUpLocal(a *app) *cobra.Command {
	var o oldRun
	c := a.oldCommand("local", "Run the manager locally (now 'run local')",
		`Build the manager and run it on this machine, like 'run local', under the name of that command
before operator-sdk 1.0. The CRDs are installed too.`,
		`  %[1]s up local --namespace default --kubeconfig ~/.kube/dev
  %[1]s run local --namespace default --kubeconfig ~/.kube/dev`,
		func(c *cobra.Command, _ []string) error { return o.run(a, c) })
	o.addTo(c)
	return c
}

// addOldRun adds run --local, which runs run local.
func addOldRun(a *app, c *cobra.Command) {
	var o oldRun
	var local, olm bool
	o.addTo(c)
	c.Flags().BoolVar(&local, "local", false, "run locally (now 'run local')")
	c.Flags().BoolVar(&olm, "olm", false, "run with OLM (now 'run packagemanifests')")
	flags := []string{"local", "olm", "namespace", "watch-namespace", "kubeconfig"}
	for _, name := range flags {
		_ = c.Flags().MarkHidden(name) // the only error is a flag that does not exist
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case local:
			return o.run(a, c)
		case olm:
			return usagef(c, "'%s --olm' is now '%[2]s run packagemanifests', or '%[2]s run bundle' for a bundle", c.CommandPath(), a.program)
		case slices.ContainsFunc(flags[2:], c.Flags().Changed):
			return usagef(c, "use a command: '%[1]s run local' runs the manager on this machine, '%[1]s run bundle' runs an operator in a cluster", a.program)
		}
		return showHelp(c, args)
	}
	// Sub-commands do not have these flags and would ignore them.
	c.PersistentPreRunE = func(sub *cobra.Command, _ []string) error {
		if sub == c {
			return a.prepare(sub)
		}
		for _, name := range flags {
			if c.Flags().Changed(name) {
				return usagef(sub, "--%s must be given after '%s'", name, sub.Name())
			}
		}
		return a.prepare(sub) // as the hook of the root command, which this one replaces
	}
}
