package cmd

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/operon-sdk/operon/pkg/local"
)

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

// survives reports whether a run continues after an error: with --watch, the next change may fix it. previous reports whether the
// former manager still runs.
func (r *localRun) survives(ctx context.Context, err error, previous bool) bool {
	if !r.o.watch || ctx.Err() != nil {
		return false
	}
	r.report(err)
	switch {
	case previous && errors.Is(err, local.ErrBuild):
		r.progressf("build failed, the previous manager goes on; waiting for a change")
	case previous:
		r.progressf("the previous manager goes on; waiting for a change")
	default:
		r.progressf("waiting for a change")
	}
	return true
}

// follow waits for the end, and restarts the manager after each change with --watch.
func (r *localRun) follow(ctx context.Context) error {
	changes, lost := make(chan []string), make(chan error, 1)
	if r.o.watch {
		var wg sync.WaitGroup
		watching, stop := context.WithCancel(ctx)
		defer wg.Wait()
		defer stop()
		wg.Go(func() {
			for {
				changed, err := r.watch.Next(watching)
				if err != nil {
					lost <- err
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
			err := r.session.Crash()
			r.log.Flush()
			if !r.survives(ctx, err, false) {
				return err
			}
		case err := <-lost:
			if ctx.Err() != nil {
				return nil
			}
			return err
		case changed := <-changes:
			r.progressf("changed: %s", strings.Join(changed, ", "))
			err := r.update(ctx)
			previous := err != nil && r.session.Done() != nil
			if err == nil {
				err = r.restart(ctx)
			}
			if err != nil && !r.survives(ctx, err, previous) {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
		}
	}
}

// update builds the manager after a change and installs its CRDs. The running manager is not affected.
func (r *localRun) update(ctx context.Context) error {
	if err := r.generateAll(ctx, r.o.root); err != nil {
		return err
	}
	if err := r.session.SetWebhooks(r.webhooks()); err != nil {
		return err
	}
	took, err := r.build(ctx)
	if err != nil {
		return err
	}
	r.progressf("built in %s, restarting", took)
	return r.install(ctx)
}

// restart replaces the running manager with the last build.
func (r *localRun) restart(ctx context.Context) error {
	r.session.Stop(ctx.Done())
	r.log.Flush()
	return r.launch(ctx)
}

// close stops the manager, unregisters its webhooks, stops the control plane and removes temporary files.
func (r *localRun) close() error {
	hurried, stop := secondInterrupt()
	defer stop()
	var errs []error
	if r.running {
		r.progressf("stopping")
	}
	if r.session != nil {
		if !r.session.Stop(hurried) {
			r.progressf("the manager did not stop by itself and was killed")
		}
		r.log.Flush()
		if r.plane == nil {
			ctx, cancel := context.WithTimeout(context.Background(), reachTimeout)
			errs = append(errs, r.session.Unregister(ctx))
			cancel()
		}
	}
	if r.published {
		errs = append(errs, local.RemoveKubeconfig(r.o.root, r.plane.Kubeconfig()))
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
