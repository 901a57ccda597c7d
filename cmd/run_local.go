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
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// runLocalOptions are the flags of run local.
type runLocalOptions struct {
	watch, samples, webhooks bool
	// webhooksAsked tells that --webhooks was given, and is not just the default.
	webhooksAsked         bool
	kubeconfig, namespace string
	controlPlane          string
	root                  string
	config                *project.Config
}

// The values of --control-plane.
const (
	planeAuto       = "auto"
	planeEmbedded   = "embedded"
	planeKubeconfig = "kubeconfig"
)

// errInterrupted ends a command that was asked to end before it had got anywhere.
var errInterrupted = errors.New("interrupted")

func newRunLocal(a *app) *cobra.Command {
	o := &runLocalOptions{}
	c := &cobra.Command{
		Use:   "local",
		Short: "Build the manager and run it on this machine",
		Long: `Generate code and manifests, install the CRDs, build the manager and run it on this machine
until it is interrupted, against the cluster of a kubeconfig or, without one, against an API
server of its own: real etcd, API server, controllers and scheduler, and one node whose
containers are simulated. Nothing of that is left in the end.`,
		Example: fmt.Sprintf(`  # See the operator at work on the project's samples, without a cluster:
  %[1]s run local --control-plane embedded --samples

  # Rebuild and restart at every change:
  %[1]s run local --watch

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
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "`file` that names the cluster (default: KUBECONFIG, then ~/.kube/config if its cluster answers)")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the samples, and the only one that a namespaced manager watches")
	flags.StringVar(&o.controlPlane, "control-plane", planeAuto, "auto, embedded or kubeconfig")
	flags.BoolVar(&o.webhooks, "webhooks", true, "serve and register the project's webhooks; on the cluster of a kubeconfig only if given")
	completeValues(c, "control-plane", planeAuto, planeEmbedded, planeKubeconfig)
	return c
}

// check returns what is wrong with the flags.
func (o *runLocalOptions) check() error {
	var findings project.Findings
	if !slices.Contains([]string{planeAuto, planeEmbedded, planeKubeconfig}, o.controlPlane) {
		near, _ := project.Nearest(o.controlPlane, []string{planeAuto, planeEmbedded, planeKubeconfig})
		findings = append(findings, project.Finding{Field: "--control-plane", Value: o.controlPlane,
			Problem: "must be auto, embedded or kubeconfig", Suggestion: near})
	}
	if o.controlPlane == planeEmbedded && o.kubeconfig != "" {
		findings = append(findings, project.Finding{Field: "--kubeconfig", Value: o.kubeconfig,
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
		return &usageError{err: err}
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
		// What stands in the way of a run is found before anything is written.
		if err := codegen.CheckGo(a.Environ, o.root); err != nil {
			return err
		}
		if err := r.choose(ctx); err != nil {
			return err
		}
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
	if closing := r.close(); err == nil || err == errInterrupted {
		err = errors.Join(err, closing)
	}
	if ctx.Err() != nil && !r.running && (err == nil || errors.Is(err, context.Canceled)) {
		return errInterrupted
	}
	return err
}

// generateAll brings generated files up to date, in projects of any layout.
func (a *app) generateAll(ctx context.Context, root string) error {
	return a.apply(ctx, root, func(tree *scaffold.Tree) error {
		return a.generate(ctx, tree, codegen.All)
	})
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
	// running tells that the manager has been started.
	running bool
}

// run runs the manager until ctx ends; what it started is for close to end.
func (r *localRun) run(ctx context.Context) error {
	var err error
	if r.workspace, err = tempdir.New(r.Getenv("TMPDIR"), "run"); err != nil {
		return err
	}
	kept := r.openMemory(r.o.root)
	if kept != "" {
		kept = filepath.Join(kept, "manager")
	}
	r.session, err = local.New(local.Options{
		Root: r.o.root, Name: r.o.config.ProjectName(), Workspace: r.workspace.Path, Keep: kept, Environ: r.Environ,
		Watched: r.o.config.Namespaced() || r.o.namespace != "", Webhooks: r.webhooks(),
		Log: &local.PrefixWriter{Out: r.Out, Prefix: "manager | "},
	})
	if err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.launch(ctx); err != nil && !r.survives(ctx, err) {
		return err
	}
	r.progressf("press Ctrl-C to stop")
	return r.follow(ctx)
}

// webhooks tells whether the manager is to serve webhooks. Those for conversion are in PROJECT only.
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
		begin := r.Now()
		if build = r.session.Build(ctx); build != nil {
			cancel()
			return
		}
		r.verbosef("built the manager in %s", r.Now().Sub(begin).Round(time.Millisecond))
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
	return r.install(ctx)
}
