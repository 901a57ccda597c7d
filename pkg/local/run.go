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

// unregisterTimeout is the timeout of the removal of webhooks.
const unregisterTimeout = 10 * time.Second

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
	access *stage.Access
	// previewing is the manager's way to the cluster in a preview.
	previewing *gateway.Gateway
	recording  sync.Mutex
	denials    stage.Denials
	requests   []gateway.Record
	// namespace is used for namespaced objects that don't name one; empty until objects are applied.
	namespace string
	// metrics is the address of the manager's metrics for Options.Drive; empty if it serves none.
	metrics string
	// published reports whether the kubeconfig of the plane is in the project.
	published bool
	// running reports whether a manager has been started.
	running bool
	// watch is Options.Watch, or detects changes of the samples only; nil for neither.
	watch *Watch

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
	var err error
	if r.watch = o.Watch; r.watch == nil && o.Samples {
		if r.watch, err = NewWatch(o.Root, isSample); err != nil {
			return err
		}
	}
	// Before anything that a run at the same time would hold, such as the port of webhooks.
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

// prepare builds the manager, while an embedded control plane starts, and installs what it needs. Nothing is installed in a cluster of the
// kubeconfig before the manager is built.
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
	if r.plane != nil {
		if r.o.Drive == nil { // nobody else uses it
			r.publish(ctx)
		}
		return nil
	}
	r.setNamespace()
	if r.o.Preview != nil {
		return r.preview(ctx)
	}
	return r.install(ctx)
}

// setNamespace sets the namespace of objects that don't name one.
func (r *runner) setNamespace() {
	if r.namespace = r.o.Namespace; r.namespace == "" {
		r.namespace = r.cluster.Namespace
	}
}

// firstBuild builds the manager and reports how long that took.
func (r *runner) firstBuild(ctx context.Context) error {
	switch {
	case r.o.NoManager:
		return nil
	case r.o.Program.Name != "":
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
	if !r.running && r.hasAPIs() {
		r.progressf("installing the CRDs")
	}
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
	again := r.running
	r.running = true
	switch {
	case r.o.NoManager && !again:
		r.explainNoManager()
	case !r.o.NoManager:
		r.progressf("starting the manager")
		if err := r.start(ctx); err != nil {
			return err
		}
	}
	if !r.o.Samples {
		return nil
	}
	return r.applySamples(ctx)
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
	if r.previewing != nil {
		r.previewing.Stop()
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
