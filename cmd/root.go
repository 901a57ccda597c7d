package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/complete"
	"github.com/operon-sdk/operon/cmd/internal/help"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// app is an Env with what all commands share: the program's name and the flags of the root command.
type app struct {
	*Env
	// print prints what the command does. It has -q, --verbose and -o.
	print   *output.Printer
	program string
	// called is the base name that the program was called by, which is not the program's name for every link.
	called string
	// args are the arguments of the program, and line is the command as it was called, with them.
	args []string
	line string
	// interrupted is closed when the program is asked to end.
	interrupted <-chan struct{}
	// dir is -C, entered its value after enterDirectory, and dryRun is --dry-run.
	dir, entered string
	dryRun       bool
	// helpError is the error of printing a help text, which cobra does not return.
	helpError error
	// allowRemote is --allow-remote-resources.
	allowRemote bool
	// lockTimeout is how long to wait for another command in the project; 0 is as long as it runs.
	lockTimeout time.Duration
	// answered are the flags that give the answers of the user to the prompts so far.
	answered []string
	// offline is --offline, of the commands that download modules.
	offline bool
	// version is --version of the root command.
	version bool
	// plugins and projectVersion are the flags of those names.
	plugins        []string
	projectVersion string
}

// newApp returns an app without arguments.
func newApp(e *Env, program string) *app {
	return &app{Env: e, print: &output.Printer{Env: e, Program: program}, program: program}
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   a.program,
		Short: "Build Kubernetes operators: scaffold, generate, bundle",
		Long: `Operon builds Kubernetes operators in Go, from Helm charts or with Ansible: it scaffolds the project,
generates its code and manifests, runs it, and packages and installs it with the Operator Lifecycle
Manager (OLM).
Scaffolding and generating need no make, kustomize, controller-gen or network.`,
		Example: fmt.Sprintf(`  # Create an operator that runs memcached:
  %[1]s init --domain example.com --repo github.com/example/memcached-operator
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine

  # After changing the types:
  %[1]s generate`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if a.version {
				return printVersion(a.print)
			}
			return c.Help()
		},
		SilenceErrors:     true,
		TraverseChildren:  true,
		SilenceUsage:      true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.prepare(c) },
	}
	root.Flags().BoolVarP(&a.version, "version", "v", false, "print version information")
	flags := root.PersistentFlags()
	flags.BoolP("help", "h", false, "show the help of the command; -h is shorter than --help")
	flags.StringVarP(&a.dir, "directory", "C", "", "run as if started in this `directory`")
	flags.BoolVar(&a.dryRun, "dry-run", false, "print the changes as a diff and write nothing")
	flags.BoolVar(&a.print.Verbose, "verbose", false, "print each step and how long it takes")
	flags.BoolVarP(&a.print.Quiet, "quiet", "q", false, "print only errors and requested output")
	flags.DurationVar(&a.lockTimeout, "lock-timeout", 0, "maximum `duration` to wait for another command in the project (default: no limit)")
	a.addPlugins(flags, "`layout` of the project")
	a.addProjectVersion(flags)
	for _, name := range []string{"plugins", "project-version"} {
		_ = flags.MarkHidden(name) // the only error is a flag that does not exist
	}
	root.SetFlagErrorFunc(a.flagError)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.print.Text())
	group := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
	}
	helpCommand := newHelp(a)
	group("Develop", newInit(a), newCreate(a), newGenerate(a), newEdit(a), newRename(a), newDelete(a))
	group("Run and install", newRun(a), newTest(a), newRender(a), newDeploy(a), newUndeploy(a), newCleanup(a), newOLM(a), newHelmOperator(a), newAnsibleOperator(a))
	group("Bundle and publish", newBundle(a), newScorecard(a), newImage(a), newCatalog(a), newPkgmanToBundle(a))
	group("Maintain", newUpgrade(a), newChart(a), newAlpha(a))
	group("Other", newTool(a), newCompletion(a), newDocs(a), newVersion(a), helpCommand)
	root.AddCommand(help.Topics()...)
	root.AddCommand(newBuild(a), newScorecardTest(a)) // hidden
	root.AddCommand(oldCommands(a)...)
	root.SetHelpCommand(helpCommand)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		a.fitFlags(c)
		short := slices.Contains(a.args, "-h") && !slices.Contains(a.args, "--help")
		if _, err := fmt.Fprint(a.Out, help.Text(c, help.Width(a.Out, a.OutTerminal), short)); err != nil {
			a.helpError = fmt.Errorf("printing the help: %w", err)
		}
	})
	root.CompletionOptions.DisableDefaultCmd = true
	help.NameValues(root)
	if len(a.args) > 0 && strings.HasPrefix(a.args[0], cobra.ShellCompRequestCmd) { // only shells need it
		shell := complete.Project{FS: a.FS, Dir: a.Dir, Root: a.completionRoot, Config: a.completionProject}
		shell.Contexts = func(kubeconfig string) []string {
			return a.locator(clusterChoice{kubeconfig: kubeconfig}).Files().Contexts()
		}
		shell.All(root)
		a.hideRefused(root)
	}
	return root
}

// commandGroup returns a command that only groups others. In its example, %[1]s stands for the program.
func (a *app) commandGroup(name, short, example string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Args: noArgs, RunE: showHelp}
	if example != "" {
		c.Example = fmt.Sprintf(example, a.program)
	}
	c.AddCommand(commands...)
	return c
}

// showHelp runs a command that only groups others.
func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

func newHelp(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show help for a command or topic",
		Example: fmt.Sprintf("  %s help create api", a.program),
		RunE: func(c *cobra.Command, args []string) error {
			target, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(target, strings.Join(rest, " "))
			}
			return target.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			target, _, err := c.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range target.Commands() {
				if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
					names = append(names, sub.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// addPlugins adds --plugins. The peers accept it before and after the name of every command.
func (a *app) addPlugins(f *pflag.FlagSet, usage string) {
	f.StringSliceVar(&a.plugins, "plugins", nil, usage)
}

// addProjectVersion adds --project-version, which the peers accept like --plugins.
func (a *app) addProjectVersion(f *pflag.FlagSet) {
	f.StringVar(&a.projectVersion, "project-version", project.ProjectVersion, "`version` of the PROJECT file")
}

// prepare enters the directory of -C and validates --lock-timeout, and --plugins and --project-version for the commands that
// do not use them.
func (a *app) prepare(c *cobra.Command) error {
	if err := a.enterDirectory(); err != nil {
		return err
	}
	if a.version && c.HasParent() {
		return usagef(c, "--version cannot be combined with a command; run '%s --version'", a.program)
	}
	var findings diag.Findings
	own := c.LocalNonPersistentFlags()
	if own.Lookup("plugins") == nil {
		findings = a.parsedPlugins().Findings
	}
	if own.Lookup("project-version") == nil {
		findings = append(findings, project.CheckProjectVersion(a.projectVersion)...)
	}
	if a.lockTimeout < 0 {
		findings.Add("--lock-timeout", a.lockTimeout.String(), "must not be negative")
	}
	return findings.Err()
}

// pluginArguments returns the values of --plugins among arguments that need not be valid.
func pluginArguments(args []string) []string {
	var plugins []string
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--plugins="); ok {
			plugins = append(plugins, value)
		} else if arg == "--plugins" && i+1 < len(args) {
			plugins = append(plugins, args[i+1])
		}
	}
	return plugins
}

// flagError returns a usage error for an error of pflag, with the nearest flag for an unknown one. A flag can be unknown
// because it belongs to an unsupported plugin, which is reported instead.
func (a *app) flagError(c *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		problem := "is not a valid " + invalid.GetFlag().Value.Type()
		if invalid.GetFlag().Value.Type() == "bool" {
			problem = "must be true or false"
		}
		return usagef(c, "--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), problem)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return usagef(c, "%w", err)
	}
	name := unknown.GetSpecifiedName()
	if findings := project.ParsePlugins(pluginArguments(a.args), a.Facts()...).Findings; len(findings) > 0 {
		return findings
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near, ok := diag.Nearest(name, names); ok {
		return usagef(c, "unknown flag --%s; did you mean --%s?", name, near)
	}
	return usagef(c, "unknown flag --%s", name)
}

// enterDirectory makes -C the working directory of the command: paths in flags, arguments and variables are relative
// to it from here on.
func (a *app) enterDirectory() error {
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	a.Dir, a.entered, a.dir = dir, a.dir, ""
	return nil
}

// workDir returns the directory of the command: the working directory, or -C.
func (a *app) workDir() (string, error) {
	if a.dir == "" {
		return a.Dir, nil
	}
	dir := a.Absolute(a.dir)
	info, err := a.FS.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", diag.Usage(fmt.Errorf("-C %q: no such directory", a.dir))
	}
	return filepath.Clean(dir), nil
}
