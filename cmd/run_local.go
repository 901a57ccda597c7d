package cmd

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/tempdir"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// runLocalOptions are the flags of run local.
type runLocalOptions struct {
	watch, samples, webhooks bool
	// webhooksAsked reports whether --webhooks was given.
	webhooksAsked         bool
	kubeconfig, namespace string
	controlPlane, logs    string
	root                  string
	config                *project.Config
}

// The values of --control-plane.
const (
	planeAuto       = "auto"
	planeEmbedded   = "embedded"
	planeKubeconfig = "kubeconfig"
)

// The values of --logs.
const (
	logsCompact = "compact"
	logsFull    = "full"
)

// errInterrupted is the error of an interrupted command.
var errInterrupted = errors.New("interrupted")

func newRunLocal(a *app) *cobra.Command {
	o := &runLocalOptions{}
	c := &cobra.Command{
		Use:   "local",
		Short: "Build the manager and run it on this machine",
		Long: `Generate code and manifests, install the CRDs, build the manager and run it on this machine until it
is interrupted, against the cluster of a kubeconfig or, without one, against a temporary control
plane: real etcd, API server, controllers and scheduler, and one node whose containers are
simulated. The control plane is removed at the end.

While a temporary control plane runs, 'tool kubectl' uses it, and .operon/kubeconfig is its
kubeconfig.

At a terminal, each entry of the manager's log is one line: time, level, controller, message and
fields. Stack traces and fields that repeat others are left out.`,
		Example: fmt.Sprintf(`  # Run the operator with the project's samples, without a cluster:
  %[1]s run local --control-plane embedded --samples

  # Rebuild and restart after every change:
  %[1]s run local --watch

  # With the manager's log as the manager writes it:
  %[1]s run local --logs full

  # Against a cluster:
  %[1]s run local --kubeconfig ~/.kube/dev --namespace team-a`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.webhooksAsked = c.Flags().Changed("webhooks")
			return a.runLocal(c, o)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&o.watch, "watch", false, "rebuild and restart when Go files, go.mod or config change")
	flags.BoolVar(&o.samples, "samples", false, "apply config/samples once the manager runs")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: KUBECONFIG, then ~/.kube/config if its cluster is reachable)")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "`namespace` of the samples, and the only one that a namespaced manager watches")
	flags.StringVar(&o.controlPlane, "control-plane", planeAuto, "control plane; auto is the kubeconfig's cluster if there is one, otherwise embedded")
	flags.BoolVar(&o.webhooks, "webhooks", true, "serve and register the project's webhooks (default: only with the embedded control plane)")
	flags.StringVar(&o.logs, "logs", "", "log format of the manager (default: compact at a terminal, otherwise full)")
	completeValues(c, "control-plane", planeAuto, planeEmbedded, planeKubeconfig)
	completeValues(c, "logs", logsCompact, logsFull)
	return c
}

// check returns the findings about the flags as an error.
func (o *runLocalOptions) check() error {
	var findings diag.Findings
	if planes := []string{planeAuto, planeEmbedded, planeKubeconfig}; !slices.Contains(planes, o.controlPlane) {
		near, _ := diag.Nearest(o.controlPlane, planes)
		findings = append(findings, diag.Finding{Field: "--control-plane", Value: o.controlPlane,
			Problem: "must be auto, embedded or kubeconfig", Suggestion: near})
	}
	if formats := []string{logsCompact, logsFull}; o.logs != "" && !slices.Contains(formats, o.logs) {
		near, _ := diag.Nearest(o.logs, formats)
		findings = append(findings, diag.Finding{Field: "--logs", Value: o.logs, Problem: "must be compact or full", Suggestion: near})
	}
	if o.controlPlane == planeEmbedded && o.kubeconfig != "" {
		findings = append(findings, diag.Finding{Field: "--kubeconfig", Value: o.kubeconfig,
			Problem: "has no use with --control-plane embedded; leave one of them out"})
	}
	if o.namespace != "" {
		findings = append(findings, checkNamespace("--namespace", o.namespace)...)
	}
	return findings.Err()
}

func (a *app) runLocal(c *cobra.Command, o *runLocalOptions) error {
	var err error
	if o.root, err = a.projectRoot(); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.config, err = project.Load(a.FS, o.root); err != nil {
		return err
	}
	if _, err := local.MainPackage(o.root); err != nil {
		if other := o.config.CheckOlderLayout(); other != nil {
			return other
		}
		return err
	}
	// The reader of the output may end first, as tee does when a terminal is closed.
	ctx, stop := signal.NotifyContext(c.Context(), append(EndSignals(), syscall.SIGPIPE)...)
	defer stop()
	watch, err := a.watch(o.root)
	if err != nil {
		return err
	}
	r := &localRun{app: a, o: o, watch: watch}
	if !a.dryRun {
		// Obstacles are detected before anything is written.
		if err := codegen.CheckGo(a.Environ, o.root); err != nil {
			return err
		}
		if err := r.choose(ctx); err != nil {
			return err
		}
		a.progressf("generating code and manifests")
	}
	if err := a.generateAll(ctx, o.root); err != nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	if a.dryRun {
		return nil
	}
	err = r.run(ctx)
	if closing := r.close(); err == nil || errors.Is(err, errInterrupted) {
		err = errors.Join(err, closing)
	}
	if ctx.Err() != nil && !r.running && (err == nil || errors.Is(err, context.Canceled)) {
		return errInterrupted
	}
	return err
}

// generateAll updates the generated files of a project.
func (a *app) generateAll(ctx context.Context, root string) error {
	p := a.at(root)
	return a.printed(p.Update(ctx, func(tree *worktree.Tree) error { return p.GenerateIn(ctx, tree, codegen.All) }))
}

// localRun is one run of run local.
type localRun struct {
	*app
	o     *runLocalOptions
	watch *local.Watch

	// cluster is nil until an embedded control plane runs.
	cluster    *kube.Client
	kubeconfig string
	workspace  *tempdir.Dir
	plane      *controlplane.ControlPlane // nil on a kubeconfig's cluster
	session    *local.Session
	log        *local.LogWriter
	// published reports whether the kubeconfig of the plane is in the project.
	published bool
	// running reports whether a manager has been started.
	running bool
}

// run runs the manager until ctx ends. Call close afterwards.
func (r *localRun) run(ctx context.Context) error {
	var err error
	if r.workspace, err = tempdir.New(r.Getenv("TMPDIR"), "run"); err != nil {
		return err
	}
	kept := r.at(r.o.root).OpenCache()
	if kept != "" {
		kept = filepath.Join(kept, "manager")
	}
	r.log = r.managerLog()
	r.session, err = local.New(local.Options{
		Root: r.o.root, Name: r.o.config.ProjectName(), Workspace: r.workspace.Path, Keep: kept, Environ: r.Environ,
		Watched: r.o.config.Namespaced() || r.o.namespace != "", Webhooks: r.webhooks(),
		Log: r.log,
	})
	if err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.launch(ctx); err != nil && !r.survives(ctx, err, false) {
		return err
	}
	r.progressf("press Ctrl-C to stop")
	return r.follow(ctx)
}

// managerLog returns the writer of the manager's log.
func (r *localRun) managerLog() *local.LogWriter {
	return &local.LogWriter{
		Out: r.Out, Prefix: "manager | ", Location: r.Now().Location(),
		Compact: r.o.logs == logsCompact || r.o.logs == "" && r.OutTerminal,
		Color:   r.colors(r.OutTerminal),
	}
}

// webhooks reports whether the manager is to serve webhooks. Those for conversion are in PROJECT only.
func (r *localRun) webhooks() bool {
	if !r.o.webhooks || local.HasWebhooks(r.o.root) {
		return r.o.webhooks
	}
	config, err := project.Load(r.FS, r.o.root)
	if err != nil {
		config = r.o.config
	}
	return slices.ContainsFunc(config.Resources(), func(res project.Resource) bool {
		return res.Webhooks != nil && (res.Webhooks.Conversion || res.Webhooks.Defaulting || res.Webhooks.Validation)
	})
}

// prepare builds the manager while an embedded control plane starts, and installs the CRDs.
func (r *localRun) prepare(ctx context.Context) error {
	// Either failing ends the other.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var build, start error
	var wg sync.WaitGroup
	wg.Go(func() {
		r.progressf("building the manager")
		var took string
		if took, build = r.build(ctx); build != nil {
			cancel()
			return
		}
		r.progressf("built the manager in %s", took)
	})
	if r.cluster == nil {
		start = r.embed(ctx)
	}
	if start != nil {
		cancel()
	}
	wg.Wait()
	for _, err := range []error{build, start} {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if err := errors.Join(build, start); err != nil {
		return err
	}
	namespace := r.o.namespace
	if namespace == "" {
		namespace = r.cluster.Namespace
	} else if r.plane != nil {
		if err := r.provideNamespace(ctx, namespace); err != nil {
			return err
		}
	}
	r.session.Connect(r.cluster, r.kubeconfig, namespace)
	if slices.ContainsFunc(r.o.config.Resources(), project.Resource.HasAPI) {
		r.progressf("installing the CRDs")
	}
	return r.install(ctx)
}

// build builds the manager and returns how long that took.
func (r *localRun) build(ctx context.Context) (took string, err error) {
	start := r.Now()
	err = r.session.Build(ctx)
	return fmt.Sprintf("%.1f s", r.Now().Sub(start).Seconds()), err
}
