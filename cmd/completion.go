package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
)

// completableName matches the names that the scripts of all shells can use in the names of functions and variables.
var completableName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func newCompletion(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "completion",
		Short: "Print a shell completion script",
		Long: fmt.Sprintf(`Print a script that completes commands, flags and their values in a shell.

Bash, which needs the package bash-completion (on macOS: 'brew install bash-completion@2'):

  # In the current shell:
  source <(%[1]s completion bash)
  # In all new shells:
  dir=~/.local/share/bash-completion/completions; mkdir -p $dir
  %[1]s completion bash > $dir/%[1]s

Zsh, which needs 'autoload -U compinit; compinit' in ~/.zshrc:

  # In the current shell:
  source <(%[1]s completion zsh)
  # In all new shells:
  %[1]s completion zsh > "${fpath[1]}/_%[1]s"

Fish:

  # In the current shell:
  %[1]s completion fish | source
  # In all new shells:
  %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish

PowerShell:

  # In the current shell; for all new shells, add the line to $PROFILE:
  %[1]s completion powershell | Out-String | Invoke-Expression`, a.program),
		Example: fmt.Sprintf("  source <(%s completion bash)", a.program),
		Args:    noArgs,
		RunE:    showHelp,
	}
	shell := func(name, example string, write func(root *cobra.Command, descriptions bool) error) {
		var bare bool
		sub := &cobra.Command{
			Use:     name,
			Short:   "Print the completion script for " + name,
			Example: example,
			Args:    noArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				if completableName.MatchString(a.called) {
					c.Root().Use = a.called // the shell completes the command that the user types
				}
				return write(c.Root(), !bare)
			},
		}
		sub.Flags().BoolVar(&bare, "no-descriptions", false, "complete without descriptions")
		c.AddCommand(sub)
	}
	shell("bash", fmt.Sprintf("  source <(%s completion bash)", a.program),
		func(root *cobra.Command, descriptions bool) error {
			return root.GenBashCompletionV2(a.Out, descriptions)
		})
	shell("zsh", fmt.Sprintf("  %[1]s completion zsh > \"${fpath[1]}/_%[1]s\"", a.program),
		func(root *cobra.Command, descriptions bool) error {
			if descriptions {
				return root.GenZshCompletion(a.Out)
			}
			return root.GenZshCompletionNoDesc(a.Out)
		})
	shell("fish", fmt.Sprintf("  %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish", a.program),
		func(root *cobra.Command, descriptions bool) error { return root.GenFishCompletion(a.Out, descriptions) })
	shell("powershell", fmt.Sprintf("  %s completion powershell | Out-String | Invoke-Expression", a.program),
		func(root *cobra.Command, descriptions bool) error {
			if descriptions {
				return root.GenPowerShellCompletionWithDesc(a.Out)
			}
			return root.GenPowerShellCompletion(a.Out)
		})
	return c
}

// completionProject returns the project that the shell is in, or nil.
func (a *app) completionProject() *project.Config {
	root, err := a.completionRoot()
	if err != nil {
		return nil
	}
	config, err := project.Load(a.FS, root, a.Facts()...)
	if err != nil {
		return nil
	}
	return config
}

// completionRoot returns the directory of the project that the shell is in. The flags need not be parsed yet.
func (a *app) completionRoot() (string, error) {
	if a.dir == "" && a.entered == "" {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.Usage = func() {}
		flags.ParseErrorsAllowlist.UnknownFlags = true
		flags.StringVarP(&a.dir, "directory", "C", "", "")
		_ = flags.Parse(a.args)
		defer func() { a.dir = "" }()
	}
	dir, err := a.workDir()
	if err != nil {
		return "", err
	}
	return project.FindRoot(a.FS, dir)
}
