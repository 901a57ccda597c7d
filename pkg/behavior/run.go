package behavior

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/scenario"
	"github.com/operon-sdk/operon/pkg/stage"
)

// RunOptions are the options of Run. All but Retries, Scenarios, Command and Grants are required.
type RunOptions struct {
	// Client is an administrator's.
	Client *kube.Client
	// Requests returns the requests of the operator so far.
	Requests func() []gateway.Record
	// Busy says what the operator is doing, or "".
	Busy func() string
	// Retries returns how often it has failed or asked for another look, and whether that is known. It may be nil.
	Retries func() (n int, known bool)
	// Samples are the custom resources to create and delete, in the Namespace if they don't name one.
	Samples   []*kube.Object
	Namespace string
	// Scenarios follow the samples, up to Parallel at the same time, and Command replaces both.
	Scenarios []*scenario.Scenario
	Parallel  int
	Command   *Command
	// Unwatched says what the operator must watch before it counts as settled, or ""; see stage.AwaitWatches.
	Unwatched func() string
	// Timeout is how long a step may take until the operator is at rest, and Rest how long it is then left alone once, with all samples.
	Timeout, Rest time.Duration
	Now           func() time.Time
	// Progress receives a line about each step.
	Progress func(string)
	// Grants are the permissions of the operator, or nil if it is an administrator. Run records what is used of them.
	Grants *stage.Grants
}

// Objects returns the objects of samples and scenarios.
func (o *RunOptions) Objects() []*kube.Object {
	objects := slices.Clone(o.Samples)
	for _, s := range o.Scenarios {
		objects = append(objects, s.Objects()...)
	}
	return objects
}

// A run is one call of Run.
type run struct {
	o        RunOptions
	settling stage.Settling
	history  *stage.History
	// known are the UIDs of the objects that existed before, or were recorded as left.
	known    map[string]bool
	observed Observation
	// namespace is that of a scenario that is performed beside others, or "".
	namespace string
}

// maxRequests is after how many requests a run ends, which needs some 500 MB then.
const maxRequests = 500_000

// quiet is how long nothing must change after a step.
const quiet = 2 * time.Second

// Run creates each sample, changes and deletes by hand what the operator made for it, and deletes the sample. Then it performs the scenarios. It returns what
// the operator did, and waits after each step until the operator is at rest. If it fails, for example because the manager ends, it also returns what happened before.
func Run(ctx context.Context, o RunOptions) (*Observation, error) {
	history, err := stage.NewHistory(ctx, o.Client, o.Now)
	if err != nil {
		return nil, err
	}
	defer history.Close()
	r := &run{o: o, history: history}
	r.settling = stage.Settling{Quiet: quiet, Limit: o.Timeout, Busy: stage.FirstOf(o.Unwatched, o.Busy)}
	r.know()
	err = r.steps(ctx)
	r.observed.Requests = o.Requests()
	r.observed.Writes = history.Writes(r.observed.Requests)
	r.observed.Changes = history.Changes(0)
	if r.observed.Grants = o.Grants; o.Grants != nil {
		r.observed.use()
	}
	return &r.observed, err
}

// steps does what Run says. If the operator doesn't begin, the first step is the only one.
func (r *run) steps(ctx context.Context) error {
	if err := r.step(ctx, "start of the operator", func() error { return nil }); err != nil || r.o.Unwatched() != "" {
		return err
	}
	if r.o.Command != nil {
		return r.command(ctx, r.o.Command)
	}
	if len(r.o.Samples) > 0 || len(r.o.Scenarios) == 0 {
		if err := r.samples(ctx); err != nil {
			return err
		}
		r.recordLeft("", nil)
	}
	return r.scenarios(ctx)
}

// samples creates the samples, looks at the operator, and deletes them.
func (r *run) samples(ctx context.Context) error {
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

// step does something, and waits until the operator has settled.
func (r *run) step(ctx context.Context, name string, do func() error) error {
	r.o.Progress(name)
	step := Step{Name: name, Start: r.o.Now(), Namespace: r.namespace}
	settling := r.settling
	settling.Content = stage.Content(r.o.Retries, r.o.Requests)
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err := r.history.Settle(ctx, settling)
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
	if n := len(r.o.Requests()); n > maxRequests {
		return fmt.Errorf("the run ends early: the operator has sent %d requests, and a run records no more than %d", n, maxRequests)
	}
	return nil
}

// stepByHand is step for something that is done by hand to objects of the operator.
func (r *run) stepByHand(ctx context.Context, name string, do func() error) error {
	err := r.step(ctx, name, do)
	if err == nil {
		r.lastStep().ByHand = true
	}
	return err
}

func (r *run) lastStep() *Step { return &r.observed.Steps[len(r.observed.Steps)-1] }

// rest leaves the operator alone, if it has settled: the last step ends later.
func (r *run) rest(ctx context.Context) error {
	last := r.lastStep()
	if last.Unsettled != nil {
		return nil
	}
	r.o.Progress("leave the operator alone")
	if err := pause(ctx, r.o.Rest); err != nil {
		return err
	}
	last.End = r.o.Now()
	return nil
}

// made returns the UIDs of the objects that the operator has created.
func (r *run) made() map[string]bool {
	made := map[string]bool{}
	for _, w := range r.history.Writes(r.o.Requests()) {
		if w.Created() {
			made[w.UID] = true
		}
	}
	return made
}
