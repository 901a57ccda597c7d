package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/diag"
)

// oldCommands returns the commands of operator-sdk before 1.0 that tutorials contain. They run on the current layout, print the
// command that replaced them, and are hidden in help.
func oldCommands(a *app) []*cobra.Command {
	commands := []*cobra.Command{
		newOldNew(a), newOldMigrate(a), newOldPrintDeps(a),
		a.commandGroup("add", "Add an API (now 'create api')", "  %s add api --api-version cache.example.com/v1alpha1 --kind Memcached",
			newOldAddAPI(a), newOldAddController(a), newOldAddCRD(a)),
		a.commandGroup("up", "Run the manager locally (now 'run local')", "  %s up local --namespace default", newOldUpLocal(a)),
		a.commandGroup("olm-catalog", "Generate a bundle (now 'bundle')", "  %s olm-catalog gen-csv --csv-version 0.0.1", newOldGenCSV(a)),
		a.commandGroup("test", "Run the project's tests (now 'make test')", "  %s test local ./test/e2e", newOldTestLocal(a)),
	}
	for _, c := range commands {
		c.Hidden = true
	}
	return commands
}

// oldCommand returns a command that ran under its name before operator-sdk 1.0. In the example, %[1]s stands for the program.
func (a *app) oldCommand(use, short, long, example string, run func(c *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: fmt.Sprintf(example, a.program), Args: noArgs, RunE: run}
}

// A retired is a flag that an old command had and that is no longer supported.
type retired struct {
	name string
	// instead describes the replacement, after the name of the flag.
	instead string
	// fine are the values that are the current behavior. The flag is a boolean one if they are.
	fine []string
}

// refuseRetired adds retired flags to a command, which fails if one is given.
func refuseRetired(c *cobra.Command, flags []retired) {
	addRetired(c, flags)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if findings := retiredUsed(c, flags); len(findings) > 0 {
			return findings
		}
		return run(c, args)
	}
}

// addRetired adds retired flags to a command.
func addRetired(c *cobra.Command, flags []retired) {
	for _, r := range flags {
		if slices.Contains(r.fine, "true") || slices.Contains(r.fine, "false") {
			c.Flags().Bool(r.name, false, r.instead)
		} else {
			c.Flags().String(r.name, "", r.instead)
		}
		_ = c.Flags().MarkHidden(r.name) // the only error is a flag that does not exist
	}
}

// retiredUsed returns findings for the given flags, except for those with the current behavior.
func retiredUsed(c *cobra.Command, flags []retired) diag.Findings {
	var findings diag.Findings
	for _, r := range flags {
		f := c.Flags().Lookup(r.name)
		if f.Changed && !slices.Contains(r.fine, f.Value.String()) {
			findings.Add("--"+r.name, f.Value.String(), r.instead)
		}
	}
	return findings
}

// noteReplacement prints the command that replaced the called one.
func (a *app) noteReplacement(c *cobra.Command, line string) {
	a.print.Notef("note: '%s' is now '%s'", c.CommandPath(), line)
}

// runReplacement prints and runs the command that replaced the called one.
func (a *app) runReplacement(c *cobra.Command, path []string, args ...string) error {
	target, _, err := c.Root().Find(path)
	if err != nil {
		return err
	}
	return a.runAs(c, target, args, func() { a.noteReplacement(c, words.Join(slices.Concat([]string{a.program}, path, args))) })
}

// runAs runs target with arguments in place of the called command c. It calls note before.
func (a *app) runAs(c, target *cobra.Command, args []string, note func()) error {
	target.InitDefaultHelpFlag()
	if err := target.ParseFlags(args); err != nil {
		return a.flagError(target, err)
	}
	if help, err := target.Flags().GetBool("help"); err == nil && help {
		return target.Help()
	}
	note()
	args = target.Flags().Args()
	if err := target.ValidateArgs(args); err != nil {
		return err
	}
	target.SetContext(c.Context())
	return target.RunE(target, args)
}

// given returns a flag with its value as arguments, or none if the value is empty.
func given(flag, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + flag, value}
}
