package cmd

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// runLocalOptions are the flags of run local.
type runLocalOptions struct {
	clusterChoice
	watch, samples, webhooks bool
	yes, asAdmin             bool
	namespace                string
	controlPlane, logs, name string
	preview, check           bool
	timeout                  time.Duration
	debug, noManager         bool
	debugListen              string
}

// The values of --logs.
const (
	logsCompact = "compact"
	logsFull    = "full"
)

func newRunLocal(a *app) *cobra.Command {
	o := &runLocalOptions{}
	c := &cobra.Command{
		Use:   "local",
		Short: "Build the manager and run it on this machine",
		Long: `Generate code and manifests, install the CRDs, build the manager and run it on this machine until
you interrupt it. It runs against the cluster of a kubeconfig or, without one, against a temporary
control plane: real etcd, API server, controllers and scheduler, and one node with simulated
containers. The control plane is removed at the end. In Helm and Ansible projects, the manager is
the program operon-runtime, which doesn't need to be built. For Ansible projects, this machine needs
Ansible, ansible-runner, the Python package kubernetes and the collections in requirements.yml.

The manager gets the environment variables in config/manager/manager.yaml, except for PATH, HOME and
others that name programs or directories of the pod.

In a temporary control plane, the manager has the permissions that config/default grants to its
service account, as in a cluster. A request that is forbidden is reported with the marker or the rule
that permits it. With --as-admin, the manager has all permissions.

While a temporary control plane runs, 'tool kubectl' uses it, and other programs find a copy of its
kubeconfig in .operon/kubeconfig. A project runs once at a time; to run it again, use --name, and
the copy is .operon/kubeconfig-NAME.

The first time in a project that you didn't create with 'init', the command asks at a terminal
before it runs the project's code, unless you pass --yes or set the environment variable CI.

With --debug, the manager is built without optimizations and runs under Delve, to which you can
attach an IDE. With --no-manager, the command starts the control plane without a manager, and prints
the variables with which you can run it yourself; it then has all permissions.

At a terminal, each entry of the manager's log is one line: time, level, controller, message and
fields. Stack traces, repeated fields, and messages about each part that starts or stops are left
out.

With --preview, the manager sees a real cluster but can't change it: each of its writes becomes a
server-side dry run. The command ends when the manager tries nothing new, and prints what it would
change as a diff, without the values of Secrets. It installs and registers nothing. Only requests to
the API server of the cluster are dry runs: what the manager does elsewhere, such as in the API of a
cloud provider, is real.`,
		Example: fmt.Sprintf(`  # Run the operator with the project's samples, without a cluster:
  %[1]s run local --control-plane embedded --samples

  # Rebuild and restart after every change:
  %[1]s run local --watch

  # With the manager's log as the manager writes it:
  %[1]s run local --logs full

  # A second time, with a control plane of its own:
  %[1]s run local --control-plane embedded --name second

  # Set breakpoints: attach the debugger of an IDE to the manager:
  %[1]s run local --control-plane embedded --samples --debug

  # Run the manager in the IDE instead:
  %[1]s run local --samples --no-manager

  # Against a cluster:
  %[1]s run local --kubeconfig ~/.kube/dev --namespace team-a

  # Show what this version would change in a cluster, without changing it:
  %[1]s run local --preview --kubeconfig ~/.kube/production`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runLocal(c, o) },
	}
	flags := c.Flags()
	flags.BoolVar(&o.watch, "watch", false, "rebuild and restart when Go files, go.mod, charts, roles, playbooks or config change")
	flags.BoolVar(&o.samples, "samples", false, "apply config/samples once the manager runs, and again when they change")
	o.addTo(flags, "KUBECONFIG, then ~/.kube/config if its cluster is reachable")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "`namespace` of the samples, and the only one that a namespaced manager watches")
	flags.StringVar(&o.controlPlane, "control-plane", local.PlaneAuto, "control plane; auto is the kubeconfig's cluster if there is one, otherwise embedded")
	flags.BoolVar(&o.asAdmin, "as-admin", false, "run the manager as an administrator of the embedded control plane (default: with the permissions of config/default)")
	a.addAllowRemote(flags)
	flags.BoolVarP(&o.yes, "yes", "y", false, "run a project's code for the first time without asking")
	flags.StringVar(&o.name, "name", "", "`name` of this run, to run the project more than once at the same time")
	flags.BoolVar(&o.webhooks, "webhooks", true, "serve and register the project's webhooks (default: only with the embedded control plane)")
	flags.StringVar(&o.logs, "logs", "", "log format of the manager (default: compact at a terminal, otherwise full)")
	flags.BoolVar(&o.preview, "preview", false, "make each write of the manager to the kubeconfig's cluster a dry run, and print what would change")
	flags.DurationVar(&o.timeout, "timeout", defaultPreviewTimeout, "with --preview, how long to wait until the manager tries nothing new")
	flags.BoolVar(&o.check, "check", false, "with --preview, exit with 1 if anything would change")
	flags.BoolVar(&o.debug, "debug", false, "run the manager under Delve (dlv), without optimizations, for the debugger of your IDE")
	flags.StringVar(&o.debugListen, "debug-listen", defaultDebugListen, "with --debug, the `address` at which debuggers reach Delve; who reaches it can run code")
	flags.BoolVar(&o.noManager, "no-manager", false, "only start the control plane and install the CRDs; run the manager yourself, for example in your IDE")
	completeValues(c, "control-plane", local.PlaneAuto, local.PlaneEmbedded, local.PlaneKubeconfig)
	completeValues(c, "logs", logsCompact, logsFull)
	return c
}

// checkFlags returns the findings about the flags as an error.
func (o *runLocalOptions) checkFlags(flags *pflag.FlagSet) error {
	findings := append(o.checkPreview(flags), o.checkDebug(flags)...)
	if planes := []string{local.PlaneAuto, local.PlaneEmbedded, local.PlaneKubeconfig}; !slices.Contains(planes, o.controlPlane) {
		near, _ := diag.Nearest(o.controlPlane, planes)
		findings = append(findings, diag.Finding{Field: "--control-plane", Value: o.controlPlane,
			Problem: "must be auto, embedded or kubeconfig", Suggestion: near})
	}
	if formats := []string{logsCompact, logsFull}; o.logs != "" && !slices.Contains(formats, o.logs) {
		near, _ := diag.Nearest(o.logs, formats)
		findings = append(findings, diag.Finding{Field: "--logs", Value: o.logs, Problem: "must be compact or full", Suggestion: near})
	}
	for _, given := range []struct{ flag, value string }{{"--kubeconfig", o.kubeconfig}, {"--context", o.context}} {
		if o.controlPlane == local.PlaneEmbedded && given.value != "" {
			findings.Add(given.flag, given.value, "has no use with --control-plane embedded; leave one of them out")
		}
	}
	if o.namespace != "" {
		findings = append(findings, checkNamespace("--namespace", o.namespace)...)
	}
	if !local.IsValidName(o.name) {
		findings.Add("--name", o.name, "must be at most 40 lower case letters, digits and dashes, and begin and end with a letter or digit")
	}
	return findings.Err()
}

func (a *app) runLocal(c *cobra.Command, o *runLocalOptions) error {
	root, err := a.ProjectRoot()
	if err != nil {
		return err
	}
	if err := o.checkFlags(c.Flags()); err != nil {
		return err
	}
	// The reader of the output may end first, as tee does when a terminal is closed.
	ctx, stop := signal.NotifyContext(c.Context(), append(env.EndSignals(), syscall.SIGPIPE)...)
	defer stop()
	options, check, err := a.localOptions(ctx, root)
	if err != nil {
		return err
	}
	if a.dryRun {
		return env.Interrupted(ctx, options.Generate(ctx))
	}
	if !o.noManager {
		if err := a.prepareLocal(ctx, &options, check, o.yes); err != nil {
			return err
		}
	}
	if o.watch {
		if options.Watch, err = a.watch(root); err != nil {
			return err
		}
	}
	options.Name, options.Namespace, options.Samples, options.AsAdmin = o.name, o.namespace, o.samples, o.asAdmin
	options.ControlPlane, options.Locator = o.controlPlane, a.locator(o.clusterChoice)
	options.Webhooks, options.RemoteWebhooks = o.webhooks, c.Flags().Changed("webhooks")
	options.Log = managerLog(a.Env, o.logs)
	options.Place = func(sample *kube.Object, field string) diag.Position { return a.placeOf(root, nil)(sample, field) }
	if err := a.setDebug(o, &options); err != nil {
		return err
	}
	if o.preview {
		return a.previewLocal(ctx, &options, o)
	}
	return local.Run(ctx, options)
}

// localOptions returns the options that commands which run the manager of a project share, and what checks this machine before a run,
// or nil.
func (a *app) localOptions(ctx context.Context, root string) (o local.Options, check func(context.Context) error, err error) {
	config, err := project.Load(a.FS, root, a.Facts()...)
	if err != nil {
		return o, nil, err
	}
	program, check, err := a.localProgram(root, config)
	if err != nil {
		return o, nil, err
	}
	o = a.commonOptions(ctx, root)
	o.Config, o.Program = config, program
	o.Generate = func(ctx context.Context) error {
		return a.runAt(ctx, a.actions(), root, func(p *action.Project) error {
			return a.print.Outcome(p.Update(ctx, func(tree *worktree.Tree) error { return p.GenerateIn(ctx, tree, codegen.All) }))
		})
	}
	o.Denied = func(d stage.Denial) {
		a.print.Warn(diag.Finding{Problem: fmt.Sprintf("forbidden: the manager has no permission to %s", d), Fix: grant(roleOf(program), d)})
	}
	return o, check, nil
}

// commonOptions returns the options that runs in a directory share, with and without a project.
func (a *app) commonOptions(ctx context.Context, root string) local.Options {
	return local.Options{
		Root: root, StateDirs: a.StateDirs(), Environ: a.Environ, HTTP: a.HTTP, Go: a.goTool(), TempDir: a.Getenv("TMPDIR"), Now: a.Now, Command: a.commandLine(),
		Build:    func(dir string) ([]byte, error) { return a.remote().Build(ctx, root, dir, nil) },
		Progress: a.print.Progress, Report: func(err error) { a.report(err) }, Interrupted: env.SecondInterrupt,
	}
}

// prepareLocal asks whether the project's code may run, and checks that this machine can run it.
func (a *app) prepareLocal(ctx context.Context, o *local.Options, check func(context.Context) error, yes bool) error {
	if err := a.confirmCode(o.Root, yes); err != nil {
		return err
	}
	if check != nil {
		if err := env.Interrupted(ctx, check(ctx)); err != nil {
			return err
		}
	}
	if o.Program.Name != "" {
		return nil
	}
	if err := goenv.New(a.Environ, false).Check(o.Root); err != nil {
		return err
	}
	if kept := a.at(o.Root).OpenCache(); kept != "" {
		o.Keep = filepath.Join(kept, "manager")
	}
	return nil
}

// localProgram returns the manager of a project without Go code, or the zero Program, and what checks this machine before a run, or nil.
func (a *app) localProgram(root string, config *project.Config) (program local.Program, check func(context.Context) error, err error) {
	runtime := config.Facts().Runtime
	if runtime == nil {
		if _, err = local.MainPackage(root); err != nil {
			if other := config.CheckOlderLayout(); other != nil {
				err = other
			}
		}
		return program, nil, err
	}
	program.Name, err = a.RuntimeProgram()
	program.Args, program.Flags = []string{runtime.Command, "run"}, runtime.Flags
	if runtime.Ansible {
		ansible := a.ansible(root)
		program.Environ, check = ansible.Environ(), ansible.Check
	}
	return program, check, err
}

// ansible returns what runs of a project's roles need.
func (a *app) ansible(root string) *local.Ansible {
	return &local.Ansible{
		Root: root, FS: a.FS, Getenv: a.Getenv, Slow: a.print.Slow, Notef: a.print.Notef,
		Run: func(ctx context.Context, variables []string, out, errOut io.Writer, name string, args ...string) error {
			directory := filepath.VolumeName(a.Dir) + string(filepath.Separator)
			return a.Run(ctx, Command{Dir: directory, Environ: slices.Concat(a.Environ, variables), Out: out, Err: errOut, Name: name, Args: args, Tied: true})
		},
	}
}

// managerLog returns the writer of the manager's log, given the value of --logs.
func managerLog(e *Env, logs string) *local.LogWriter {
	return &local.LogWriter{
		Out: e.Out, Prefix: "manager | ", Location: e.Now().Location(),
		Compact: logs == logsCompact || logs == "" && e.OutTerminal,
		Color:   e.Color(e.OutTerminal),
	}
}

// commandLine returns the start of a command line for the same project: the program, and -C if it was given.
func (a *app) commandLine() string {
	switch {
	case a.entered == "":
		return a.program
	case strings.ContainsAny(a.entered, " \t'$&;()<>|*?`~#!"):
		return a.program + " -C " + `"` + a.entered + `"`
	}
	return a.program + " -C " + a.entered
}
