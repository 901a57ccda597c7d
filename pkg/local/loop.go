package local

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// survives reports whether a run continues after an error: the next change that is watched for may fix it. previous reports whether
// the former manager still runs.
func (r *runner) survives(ctx context.Context, err error, previous bool) bool {
	if r.o.Watch == nil || ctx.Err() != nil {
		return false
	}
	r.o.Report(err)
	switch {
	case r.o.NoManager:
		r.progressf("waiting for changes")
	case previous && errors.Is(err, errBuild):
		r.progressf("build failed; still running the previous build; waiting for changes")
	case previous:
		r.progressf("still running the previous build; waiting for changes")
	default:
		r.progressf("waiting for changes")
	}
	return true
}

// follow waits for the end, and restarts the manager after each change that is watched for.
func (r *runner) follow(ctx context.Context) error {
	changes, lost := make(chan []string), make(chan error, 1)
	if r.watch != nil {
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
		var err error
		previous := false
		select {
		case <-ctx.Done():
			return nil
		case <-planeDone:
			return r.plane.Err()
		case err := <-lost:
			switch {
			case ctx.Err() != nil:
				return nil
			case r.o.Watch != nil:
				return err
			}
			r.o.Report(err) // the manager can do without its samples
		case <-r.exited():
			err = r.crash()
			r.o.Log.Flush()
		case changed := <-changes:
			onlySamples := (r.program != nil || r.o.NoManager) && areSamples(changed)
			if onlySamples && !r.o.Samples {
				continue
			}
			r.progressf("changed: %s", strings.Join(changed, ", "))
			if onlySamples {
				err = r.applySamples(ctx)
				break
			}
			err = r.update(ctx)
			previous = err != nil && r.program != nil
			if err == nil {
				err = r.restart(ctx)
			}
		}
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil && !r.survives(ctx, err, previous) {
			return err
		}
	}
}

// update builds the manager after a change and installs its CRDs. The running manager is not affected.
func (r *runner) update(ctx context.Context) error {
	if err := r.o.Generate(ctx); err != nil {
		return err
	}
	if err := r.setWebhooks(); err != nil {
		return err
	}
	switch {
	case r.o.NoManager:
		return r.install(ctx)
	case r.o.Program.Name != "":
		r.progressf("restarting")
		return r.install(ctx)
	}
	took, err := r.timedBuild(ctx)
	if err != nil {
		return err
	}
	r.progressf("built in %s, restarting", took)
	return r.install(ctx)
}

// restart replaces the running manager with the last build.
func (r *runner) restart(ctx context.Context) error {
	r.stop(ctx.Done())
	r.o.Log.Flush()
	return r.launch(ctx)
}
