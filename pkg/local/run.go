package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// The control planes that Options.ControlPlane selects: the cluster of the kubeconfig, one that Run starts, or the former if it can be
// reached.
const (
	PlaneAuto       = "auto"
	PlaneEmbedded   = "embedded"
	PlaneKubeconfig = "kubeconfig"
)

// unregisterTimeout is the timeout of the removal of webhooks.
const unregisterTimeout = 10 * time.Second

// Options are the options of Run.
type Options struct {
	// Root is the project's directory, Config its PROJECT file. With Manifests, they are the directory of the Program, and empty.
	Root   string
	Config *project.Config
	// StateDirs are the candidates for the user's state directory, as of userstate.Dirs. Name distinguishes the run from others of
	// the project; empty is the one whose control plane KubectlEnviron finds.
	StateDirs []string
	Name      string
	// ControlPlane is PlaneAuto, PlaneEmbedded or PlaneKubeconfig. Locator finds the cluster of the kubeconfig.
	ControlPlane string
	Locator      kube.Locator
	// Namespace is the samples' namespace, and the only one that the manager watches. Empty means default for the samples, and that the manager watches all.
	Namespace string
	// AsAdmin gives the manager all permissions in an embedded control plane, instead of those of config/default.
	AsAdmin bool
	// Denied is called for each permission that the manager lacks, once.
	Denied func(stage.Denial)
	// Drive, if it isn't nil, uses the running manager. Run ends when Drive returns, with its error.
	Drive func(context.Context, *Session) error
	// Watch detects the changes after which the manager is restarted; nil disables it.
	Watch *Watch
	// Samples applies config/samples. SampleObjects, unless it is empty, replaces them in a Session.
	Samples       bool
	SampleObjects []*kube.Object
	// Manifests, unless they are empty, are those of the operator in place of the project's, with its definitions, permissions and
	// webhooks. They need a Program.
	Manifests []*kube.Object
	// CRDs are definitions of others that the operator needs.
	CRDs []*kube.Object
	// Webhooks enables the project's webhooks, RemoteWebhooks also for the cluster of the kubeconfig.
	Webhooks, RemoteWebhooks bool
	// CertDir is where the manager reads the certificate of its webhooks, if it takes no flag for that; empty means controller-runtime's
	// default. Run writes the files and removes them.
	CertDir string
	// Environ is the environment of go, the manager and the control plane.
	Environ []string
	// TempDir is the parent of temporary directories; empty means the system's.
	TempDir string
	// Program is the manager of a project without Go code; the zero Program is built from the project's code.
	Program Program
	// Keep is the file that stores the built manager for the next run; empty disables it.
	Keep string
	// Log receives the manager's output.
	Log *LogWriter
	// Now is the clock.
	Now func() time.Time
	// Command is the start of command lines for the project, such as "operon -C dir".
	Command string
	// Build builds the kustomization in a directory of the project; nil refuses references to other machines.
	Build func(dir string) ([]byte, error)
	// Generate updates the project's generated files.
	Generate func(ctx context.Context) error
	// Progress receives lines about steps, Report the errors after which Run waits for a change.
	Progress func(message string)
	Report   func(err error)
	// Interrupted returns a channel that is closed when the user interrupts the end of Run, which then kills the manager.
	Interrupted func() (again <-chan struct{}, stop context.CancelFunc)
}

// runner is one call of Run.
type runner struct {
	o         Options
	workspace *tempdir.Dir
	claim     *claim

	// cluster is nil until an embedded control plane runs; plane is nil on a kubeconfig's cluster.
	cluster    *kube.Client
	kubeconfig string
	plane      *controlplane.ControlPlane
	// access is the manager's way to the plane; nil if the manager is an administrator. recording guards what is known of its requests.
	access    *stage.Access
	recording sync.Mutex
	denials   stage.Denials
	requests  []gateway.Record
	// namespace is used for namespaced objects that don't name one; empty until objects are applied.
	namespace string
	// metrics is the address of the manager's metrics for Options.Drive; empty if it serves none.
	metrics string
	// published reports whether the kubeconfig of the plane is in the project.
	published bool
	// running reports whether a manager has been started.
	running bool

	builds int
	binary string
	// stale are former binaries; one of them may still run.
	stale   []string
	flags   map[string]bool
	port    int
	program *controlplane.Process
	// serving enables the project's webhooks, with the certificate of ca.
	serving bool
	ca      []byte
	// registered are the webhook configurations in the cluster.
	registered []*kube.Object
}

// Run builds a project's manager and runs it against a cluster or a temporary control plane until ctx ends. It returns nil if ctx ends
// while the manager runs, and the error of ctx before that.
func Run(ctx context.Context, o Options) error {
	r := &runner{o: o}
	// Before anything that a run at the same time would hold, such as the port of webhooks.
	var err error
	if r.claim, err = claimRun(o.StateDirs, o.Root, o.Name); err != nil {
		return err
	}
	defer r.claim.release()
	if err := r.choose(ctx); err != nil {
		return err
	}
	if !r.isGiven() {
		r.progressf("generating code and manifests")
	}
	if err := o.Generate(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	err = r.run(ctx)
	if closing := r.close(); err == nil {
		err = closing
	}
	if err == nil && !r.running {
		err = ctx.Err()
	}
	return err
}

func (r *runner) progressf(format string, args ...any) { r.o.Progress(fmt.Sprintf(format, args...)) }

// run runs the manager until ctx ends. Call close afterwards.
func (r *runner) run(ctx context.Context) error {
	var err error
	if r.workspace, err = tempdir.New(r.o.TempDir, "run"); err != nil {
		return err
	}
	if err := r.setWebhooks(); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.launch(ctx); err != nil && !r.survives(ctx, err, false) {
		return err
	}
	if r.o.Drive != nil {
		return r.drive(ctx)
	}
	r.progressf("press Ctrl-C to stop")
	return r.follow(ctx)
}

// webhooks reports whether the manager is to serve webhooks.
func (r *runner) webhooks() bool { return r.o.Webhooks && r.source().servesWebhooks() }

// prepare builds the manager while an embedded control plane starts, and installs the CRDs.
func (r *runner) prepare(ctx context.Context) error {
	// Either failing ends the other.
	building, cancel := context.WithCancel(ctx)
	defer cancel()
	var build, start error
	var wg sync.WaitGroup
	wg.Go(func() {
		if build = r.firstBuild(building); build != nil {
			cancel()
		}
	})
	if r.cluster == nil {
		start = r.embed(building)
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
	if r.o.Namespace != "" && r.plane != nil {
		if err := r.provideNamespace(ctx); err != nil {
			return err
		}
	}
	if r.namespace = r.o.Namespace; r.namespace == "" {
		r.namespace = r.cluster.Namespace
	}
	if r.hasAPIs() {
		r.progressf("installing the CRDs")
	}
	if err := r.install(ctx); err != nil || r.plane == nil || r.o.Drive == nil {
		return err
	}
	return r.startWorkloads(ctx)
}

// firstBuild builds the manager and reports how long that took.
func (r *runner) firstBuild(ctx context.Context) error {
	if r.o.Program.Name != "" {
		return r.useProgram(ctx)
	}
	r.progressf("building the manager")
	took, err := r.timedBuild(ctx)
	if err == nil {
		r.progressf("built the manager in %s", took)
	}
	return err
}

// hasAPIs reports whether the project has CRDs.
func (r *runner) hasAPIs() bool {
	return slices.ContainsFunc(r.o.Config.Resources(), project.Resource.HasAPI)
}

// timedBuild builds the manager and returns how long that took.
func (r *runner) timedBuild(ctx context.Context) (took string, err error) {
	start := r.o.Now()
	err = r.build(ctx)
	return fmt.Sprintf("%.1f s", r.o.Now().Sub(start).Seconds()), err
}

// install applies the CRDs, waits until they are served, and grants the manager its permissions.
func (r *runner) install(ctx context.Context) error {
	names, err := r.applyCRDs(ctx)
	if err == nil && len(names) > 0 {
		r.progressf("installed %s", strings.Join(names, ", "))
	}
	if err != nil {
		return err
	}
	return r.grant(ctx)
}

// launch starts the manager and applies the samples.
func (r *runner) launch(ctx context.Context) error {
	r.progressf("starting the manager")
	r.running = true
	if err := r.start(ctx); err != nil {
		return err
	}
	if !r.o.Samples {
		return nil
	}
	names, err := r.applySamples(ctx)
	for _, name := range names {
		r.progressf("applied %s", name)
	}
	if err == nil && len(names) == 0 {
		r.progressf("there are no samples in config/samples")
	}
	return err
}

// close stops the manager, unregisters its webhooks, stops the control plane and removes temporary files.
func (r *runner) close() error {
	again, stop := r.o.Interrupted()
	defer stop()
	var errs []error
	if r.running {
		r.progressf("stopping")
	}
	if !r.stop(again) {
		r.progressf("the manager did not stop by itself and was killed")
	}
	r.o.Log.Flush()
	if r.o.Drive == nil { // which has them in its findings
		r.reportDenials()
	}
	if r.access != nil {
		r.access.Close()
	}
	if r.plane == nil {
		ctx, cancel := context.WithTimeout(context.Background(), unregisterTimeout)
		errs = append(errs, r.unregister(ctx))
		cancel()
	}
	errs = append(errs, r.removeCertificate())
	if r.published {
		errs = append(errs, r.claim.withdraw(r.plane.Kubeconfig()))
	}
	if r.plane != nil {
		errs = append(errs, r.plane.Stop())
	}
	if r.workspace != nil {
		errs = append(errs, r.workspace.Remove())
	}
	err := errors.Join(errs...)
	if r.running && err == nil {
		r.progressf("stopped")
	}
	return err
}
