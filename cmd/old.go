package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/project"
)

// oldCommands are commands of operator-sdk before 1.0, which tutorials still have. They do on today's
// layout what they meant, say what replaced them, and stay out of the help of other commands.
func oldCommands(a *app) []*cobra.Command {
	commands := []*cobra.Command{
		newOldNew(a), newOldAdd(a), newOldUp(a), newOldCatalog(a), newOldMigrate(a), newOldPrintDeps(a), newOldTest(a),
	}
	for _, c := range commands {
		c.Hidden = true
	}
	return commands
}

// retired is a flag that a command of old had and that has no meaning today.
type retired struct {
	name string
	// today is what one does instead, as the second half of a sentence.
	today string
	// boolean tells that the flag took no value.
	boolean bool
	// fine are the values that ask for what happens anyway.
	fine []string
}

// addRetired lets a command parse the flags that it had.
func addRetired(c *cobra.Command, flags []retired) {
	for _, r := range flags {
		if r.boolean {
			c.Flags().Bool(r.name, false, r.today)
		} else {
			c.Flags().String(r.name, "", r.today)
		}
		_ = c.Flags().MarkHidden(r.name) // the only error is a flag that does not exist
	}
}

// retiredUsed finds the flags that were given and say what cannot be done.
func retiredUsed(c *cobra.Command, flags []retired) project.Findings {
	var findings project.Findings
	for _, r := range flags {
		f := c.Flags().Lookup(r.name)
		if f.Changed && !slices.Contains(r.fine, f.Value.String()) {
			findings = append(findings, project.Finding{Field: "--" + r.name, Value: f.Value.String(), Problem: r.today})
		}
	}
	return findings
}

// replaced says which command does today what the called one did.
func (a *app) replaced(c *cobra.Command, line string) {
	a.notef("note: '%s' is now '%s'", c.CommandPath(), line)
}

// runToday says which command replaced the called one, and runs it.
func (a *app) runToday(c *cobra.Command, path []string, args ...string) error {
	target, _, err := c.Root().Find(path)
	if err != nil {
		return err
	}
	return a.runAs(c, target, args, func() { a.replaced(c, joinWords(slices.Concat([]string{a.program}, path, args))) })
}

// runAs runs a command with arguments in the place of the one that was called, and notes that before.
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

// given is a flag and its value as words of a command, none where the value is empty.
func given(flag, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + flag, value}
}
