package behavior

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// RunOptions are the options of Run. All are required.
type RunOptions struct {
	// Client is an administrator's.
	Client *kube.Client
	// Requests returns the requests of the operator so far.
	Requests func() []gateway.Record
	// Busy says what the operator is doing, or "".
	Busy func() string
	// Samples are the custom resources to create and delete, in the Namespace if they don't name one.
	Samples   []*kube.Object
	Namespace string
	// Unwatched says what the operator must watch before it counts as settled, or ""; see stage.AwaitWatches.
	Unwatched func() string
	// Timeout is how long a step may take until the operator is at rest, and Rest how long it is then left alone once, with all samples.
	Timeout, Rest time.Duration
	Now           func() time.Time
	// Progress receives a line about each step.
	Progress func(string)
}

// A run is one call of Run.
type run struct {
	o        RunOptions
	settling stage.Settling
	history  *stage.History
	observed Observation
}

// quiet is how long nothing must change after a step.
const quiet = 2 * time.Second

// Run creates each sample, deletes what the operator made for it, deletes the sample, and returns what the operator did. It waits after
// each step until the operator is at rest. If it fails, for example because the manager ends, it also returns what happened before.
func Run(ctx context.Context, o RunOptions) (*Observation, error) {
	history, err := stage.NewHistory(ctx, o.Client, o.Now)
	if err != nil {
		return nil, err
	}
	defer history.Close()
	r := &run{o: o, history: history}
	r.settling = stage.Settling{Quiet: quiet, Limit: o.Timeout, Busy: stage.FirstOf(o.Unwatched, o.Busy)}
	before := uids(history.Objects())
	err = r.steps(ctx)
	if err == nil && r.o.Unwatched() == "" {
		for _, object := range history.Objects() {
			if !before[string(object.GetUID())] && !stage.IsHeartbeat(object) {
				r.observed.Left = append(r.observed.Left, object)
			}
		}
	}
	r.observed.Requests = o.Requests()
	r.observed.Writes = history.Writes(r.observed.Requests)
	r.observed.Changes = history.Changes(0)
	return &r.observed, err
}

// steps does what Run says. If the operator doesn't begin, the first step is the only one.
func (r *run) steps(ctx context.Context) error {
	if err := r.step(ctx, "start of the operator", func() error { return nil }); err != nil || r.o.Unwatched() != "" {
		return err
	}
	var created []*kube.Object
	for _, sample := range r.o.Samples {
		err := r.step(ctx, "create "+kube.Name(sample), func() error {
			err := r.o.Client.Apply(ctx, sample, r.o.Namespace)
			switch {
			case err == nil:
				created = append(created, sample)
			case ctx.Err() == nil:
				r.observed.Refused = append(r.observed.Refused, Refusal{sample, err})
				err = nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	if err := r.repairs(ctx); err != nil {
		return err
	}
	for _, sample := range slices.Backward(created) {
		if err := r.step(ctx, "delete "+kube.Name(sample), func() error { return r.o.Client.Delete(ctx, sample, r.o.Namespace) }); err != nil {
			return err
		}
	}
	return nil
}

func uids(objects []*kube.Object) map[string]bool {
	set := map[string]bool{}
	for _, o := range objects {
		set[string(o.GetUID())] = true
	}
	return set
}

// step does something, and waits until the operator has settled.
func (r *run) step(ctx context.Context, name string, do func() error) error {
	r.o.Progress(name)
	step := Step{Name: name, Start: r.o.Now()}
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err := r.history.Settle(ctx, r.settling)
	var unsettled *stage.UnsettledError
	switch {
	case errors.As(err, &unsettled):
		step.Unsettled = err
	case err != nil:
		return err
	default:
		step.Settled = r.o.Now()
	}
	step.End = r.o.Now()
	r.observed.Steps = append(r.observed.Steps, step)
	return nil
}

// rest leaves the operator alone, if it has settled: the last step ends later.
func (r *run) rest(ctx context.Context) error {
	last := &r.observed.Steps[len(r.observed.Steps)-1]
	if last.Unsettled != nil {
		return nil
	}
	r.o.Progress("leave the operator alone")
	select {
	case <-time.After(r.o.Rest):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	last.End = r.o.Now()
	return nil
}

// repairs deletes each object that the operator has made, and records those that it doesn't make again.
func (r *run) repairs(ctx context.Context) error {
	made := map[string]bool{}
	for _, w := range r.history.Writes(r.o.Requests()) {
		if w.Created() {
			made[w.UID] = true
		}
	}
	for _, object := range r.history.Objects() {
		if !made[string(object.GetUID())] || len(object.GetOwnerReferences()) == 0 || stage.IsHeartbeat(object) {
			continue
		}
		err := r.step(ctx, "delete "+kube.FullName(object)+" by hand", func() error { return r.o.Client.Delete(ctx, object, object.GetNamespace()) })
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(r.history.Objects(), func(o *kube.Object) bool {
			return o.GroupVersionKind().GroupKind() == object.GroupVersionKind().GroupKind() && o.GetNamespace() == object.GetNamespace() && o.GetName() == object.GetName()
		}) {
			r.observed.NotRepaired = append(r.observed.NotRepaired, object)
		}
	}
	return nil
}
