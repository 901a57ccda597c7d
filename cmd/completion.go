package cmd

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completePaths has shells complete the flags whose values are files or folders by their usage.
func completePaths(c *cobra.Command) {
	mark := func(f *pflag.Flag) {
		switch kind, _ := pflag.UnquoteUsage(f); kind {
		case "file", "Dockerfile", "paths":
			_ = c.MarkFlagFilename(f.Name) // the only error is a flag that does not exist
		case "folder":
			_ = c.MarkFlagDirname(f.Name)
		}
	}
	c.LocalNonPersistentFlags().VisitAll(mark)
	for _, sub := range c.Commands() {
		completePaths(sub)
	}
}

// completableName matches the names that the scripts of all shells can use in the names of functions and variables.
var completableName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func newCompletion(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "completion",
		Short:   "Print a script that completes commands and flags in your shell",
		Example: fmt.Sprintf("  source <(%s completion bash)", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	shell := func(name, example string, write func(root *cobra.Command) error) {
		c.AddCommand(&cobra.Command{
			Use:     name,
			Short:   "Print the completion script for " + name,
			Example: example,
			Args:    noArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				if completableName.MatchString(a.called) {
					c.Root().Use = a.called // the shell completes the command that the user types
				}
				return write(c.Root())
			},
		})
	}
	shell("bash", fmt.Sprintf("  source <(%s completion bash)", a.program),
		func(root *cobra.Command) error { return root.GenBashCompletionV2(a.Out, true) })
	shell("zsh", fmt.Sprintf("  %[1]s completion zsh > \"${fpath[1]}/_%[1]s\"", a.program),
		func(root *cobra.Command) error { return root.GenZshCompletion(a.Out) })
	shell("fish", fmt.Sprintf("  %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish", a.program),
		func(root *cobra.Command) error { return root.GenFishCompletion(a.Out, true) })
	shell("powershell", fmt.Sprintf("  %s completion powershell | Out-String | Invoke-Expression", a.program),
		func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(a.Out) })
	return c
}
