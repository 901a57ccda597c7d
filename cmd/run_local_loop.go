package cmd

import (
	"context"
	"errors"
	"strings"
	"sync"
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
			if err := r.session.Crash(); !r.survives(ctx, err) {
				return err
			}
		case err := <-lost:
			if ctx.Err() != nil {
				return nil
			}
			return err
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
