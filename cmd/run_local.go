package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
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

// reachTimeout is how long a cluster may take to answer at first.
const reachTimeout = 10 * time.Second

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
	if o.namespace != "" && len(validation.IsDNS1123Label(o.namespace)) > 0 {
		findings = append(findings, project.Finding{Field: "--namespace", Value: o.namespace,
			Problem: "must consist of lower-case letters, digits and dashes, and be no longer than 63"})
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
		return &usageError{err: err}
	}
	ctx, stop := untilInterrupted(c.Context())
	defer stop()
	watch := local.NewWatch(o.root)
	if err := a.generateAll(ctx, o.root); err != nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	if a.dryRun {
		return nil
	}
	r := &localRun{app: a, o: o, watch: watch}
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
		return a.generate(ctx, tree, codegen.All, online)
	})
}

// localRun is one run of run local.
type localRun struct {
	*app
	o     *runLocalOptions
	watch *local.Watch

	workspace *controlplane.Workspace
	plane     *controlplane.ControlPlane // nil on a kubeconfig's cluster
	session   *local.Session
	// running tells that the manager has been started.
	running bool
}

// run runs the manager until ctx ends; what it started is for close to end.
func (r *localRun) run(ctx context.Context) error {
	cluster, kubeconfig, err := r.choose(ctx)
	if err != nil {
		return err
	}
	if cluster != nil && !r.o.webhooksAsked && r.webhooks() {
		r.progressf("webhooks are left out: the cluster may not be able to call this machine; --webhooks registers them nevertheless")
		r.o.webhooks = false
	}
	if r.workspace, err = controlplane.NewWorkspace(r.Getenv("TMPDIR")); err != nil {
		return err
	}
	r.session, err = local.New(local.Options{
		Root: r.o.root, Name: r.o.config.ProjectName(), Workspace: r.workspace.Path, Environ: r.Environ,
		Watched: r.o.config.Namespaced() || r.o.namespace != "", Webhooks: r.webhooks(),
		Log: &local.PrefixWriter{Out: r.Out, Prefix: "manager | "},
	})
	if err != nil {
		return err
	}
	if err := r.prepare(ctx, cluster, kubeconfig); err != nil {
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

// choose finds the cluster to use; nil is for the embedded one.
func (r *localRun) choose(ctx context.Context) (cluster *kube.Client, kubeconfig string, err error) {
	o := r.o
	if o.controlPlane == planeEmbedded {
		return nil, "", nil
	}
	files, home := []string{o.kubeconfig}, false
	switch variable := r.Getenv("KUBECONFIG"); {
	case o.kubeconfig != "":
		if !filepath.IsAbs(o.kubeconfig) {
			files[0] = filepath.Join(r.Dir, o.kubeconfig)
		}
	case variable != "":
		files = filepath.SplitList(variable)
	default:
		home = true
		folder := r.Getenv("HOME")
		if folder == "" {
			folder = r.Getenv("USERPROFILE")
		}
		files[0] = filepath.Join(folder, ".kube", "config")
		if _, err := r.FS.Stat(files[0]); err != nil {
			if o.controlPlane == planeKubeconfig {
				return nil, "", fmt.Errorf("there is no kubeconfig: give --kubeconfig, set KUBECONFIG, or use --control-plane embedded")
			}
			return nil, "", nil
		}
	}
	cluster, err = kube.Load(files...)
	var version string
	if err == nil {
		version, err = cluster.Ping(ctx, reachTimeout)
	}
	if ctx.Err() != nil {
		return nil, "", errInterrupted
	}
	if err != nil {
		if home && o.controlPlane == planeAuto {
			r.progressf("~/.kube/config is not used: %v", err)
			return nil, "", nil
		}
		text := err.Error()
		for _, file := range files {
			// The folder is the machine's, not the user's words.
			text = strings.ReplaceAll(text, file, filepath.Base(file))
		}
		err = errors.New(text)
		return nil, "", fmt.Errorf("%w\ncorrect the kubeconfig, or use --control-plane embedded to run without a cluster", err)
	}
	r.progressf("using the cluster of context %q at %s (Kubernetes %s)", cluster.Context, cluster.URL, version)
	return cluster, strings.Join(files, string(filepath.ListSeparator)), nil
}

// prepare builds the manager while an embedded control plane starts, and installs the CRDs.
func (r *localRun) prepare(ctx context.Context, cluster *kube.Client, kubeconfig string) error {
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
	if cluster == nil {
		cluster, kubeconfig, start = r.embed(ctx)
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
		namespace = cluster.Namespace
	} else if err := r.provideNamespace(ctx, cluster, namespace); err != nil {
		return err
	}
	r.session.Connect(cluster, kubeconfig, namespace)
	return r.install(ctx)
}

// embed starts a control plane with controllers, a scheduler and a simulated node.
func (r *localRun) embed(ctx context.Context) (*kube.Client, string, error) {
	find := controlplane.DefaultOptions(r.Getenv)
	find.Parts, find.NoDownload, find.Environ = controlplane.WorkloadParts(), true, r.Environ
	find.Progress = func(e controlplane.Event) { r.progressf("%s", e.Message) }
	assets, err := controlplane.Ensure(ctx, find)
	if err != nil && find.KubebuilderAssets != "" {
		// The usual download for tests has neither controllers nor a scheduler.
		find.KubebuilderAssets = ""
		assets, err = controlplane.Ensure(ctx, find)
	}
	if err != nil {
		return nil, "", err
	}
	r.progressf("starting a control plane on this machine; its node and containers are simulated: pods become Running and Ready, but nothing runs in them")
	options := controlplane.StartOptions{TempDir: r.Getenv("TMPDIR"), Environ: r.Environ, ServiceAccounts: true}
	if r.plane, err = controlplane.Start(ctx, assets, options); err != nil {
		return nil, "", err
	}
	if err := r.plane.StartWorkloads(ctx, options, r.Now); err != nil {
		return nil, "", err
	}
	cluster, err := kube.New(r.plane.Kubeconfig())
	if err != nil {
		return nil, "", err
	}
	r.progressf("the API server is at %s; to look at it:\n  KUBECONFIG=%s kubectl get all --all-namespaces", r.plane.URL, r.plane.KubeconfigPath())
	return cluster, r.plane.KubeconfigPath(), nil
}

// provideNamespace makes --namespace in an embedded control plane, and looks for it elsewhere.
func (r *localRun) provideNamespace(ctx context.Context, cluster *kube.Client, name string) error {
	o := &kube.Object{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	o.SetName(name)
	if r.plane != nil {
		return cluster.Apply(ctx, o, "")
	}
	err := cluster.Do(ctx, "GET", "/api/v1/namespaces/"+name, "", nil, nil)
	if kube.IsNotFound(err) {
		return fmt.Errorf("--namespace %q: the cluster has no such namespace; make it with 'kubectl create namespace %s'", name, name)
	}
	if kube.IsForbidden(err) {
		return nil // one may be allowed to use it, and not to look at it
	}
	return err
}

func (r *localRun) install(ctx context.Context) error {
	names, err := r.session.Install(ctx)
	if err == nil && len(names) > 0 {
		r.progressf("installed %s", strings.Join(names, ", "))
	}
	return err
}

// launch starts the manager and applies the samples.
func (r *localRun) launch(ctx context.Context) error {
	r.progressf("starting the manager")
	r.running = true
	if err := r.session.Start(ctx); err != nil {
		return err
	}
	if !r.o.samples {
		return nil
	}
	names, err := r.session.Samples(ctx)
	for _, name := range names {
		r.progressf("applied %s", name)
	}
	if err == nil && len(names) == 0 {
		r.progressf("there are no samples in config/samples")
	}
	return err
}

// survives tells whether a run goes on after an error: with --watch, the next change may correct it.
func (r *localRun) survives(ctx context.Context, err error) bool {
	if !r.o.watch || ctx.Err() != nil {
		return false
	}
	r.report(err)
	r.progressf("waiting for a change")
	return true
}

// follow waits for the end, and restarts the manager at every change with --watch.
func (r *localRun) follow(ctx context.Context) error {
	changes := make(chan []string)
	if r.o.watch {
		var wg sync.WaitGroup
		watching, stop := context.WithCancel(ctx)
		defer wg.Wait()
		defer stop()
		wg.Go(func() {
			for {
				changed, err := r.watch.Next(watching)
				if err != nil {
					return
				}
				select {
				case changes <- changed:
				case <-watching.Done():
					return
				}
			}
		})
	}
	var planeDone <-chan struct{}
	if r.plane != nil {
		planeDone = r.plane.Done()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-planeDone:
			return r.plane.Err()
		case <-r.session.Done():
			if ctx.Err() != nil {
				return nil
			}
			if err := r.session.Crash(); !r.survives(ctx, err) {
				return err
			}
		case changed := <-changes:
			r.progressf("changed: %s", strings.Join(changed, ", "))
			if err := r.restart(ctx); err != nil && !r.survives(ctx, err) {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
		}
	}
}

// restart brings a change into the running manager. What does not build leaves it running.
func (r *localRun) restart(ctx context.Context) error {
	if err := r.generateAll(ctx, r.o.root); err != nil {
		return err
	}
	if err := r.session.SetWebhooks(r.webhooks()); err != nil {
		return err
	}
	if err := r.session.Build(ctx); err != nil {
		return err
	}
	if err := r.install(ctx); err != nil {
		return err
	}
	r.session.Stop(ctx.Done())
	return r.launch(ctx)
}

// close ends everything in order: the manager, what leads to it, the control plane, the files.
func (r *localRun) close() error {
	hurried, stop := hurry()
	defer stop()
	var errs []error
	if r.running {
		r.progressf("stopping")
	}
	if r.session != nil {
		if !r.session.Stop(hurried) {
			r.progressf("the manager did not stop by itself and was killed")
		}
		if r.plane == nil {
			ctx, cancel := context.WithTimeout(context.Background(), reachTimeout)
			errs = append(errs, r.session.Unregister(ctx))
			cancel()
		}
	}
	if r.plane != nil {
		errs = append(errs, r.plane.Stop())
	}
	if r.workspace != nil {
		errs = append(errs, r.workspace.Remove())
	}
	return errors.Join(errs...)
}
