package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

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
			RunE:    func(c *cobra.Command, _ []string) error { return write(c.Root()) },
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
