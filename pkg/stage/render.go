package stage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// RenderOptions are the options of Render. All but Unwatched, Busy and Retries are required.
type RenderOptions struct {
	// Client is an administrator's.
	Client *kube.Client
	// Requests returns the requests of the operator so far.
	Requests func() []gateway.Record
	// Objects are applied, in the Namespace if they don't name one.
	Objects   []*kube.Object
	Namespace string
	// Unwatched says what the operator must watch before it can have begun, or ""; see AwaitWatches.
	Unwatched func() string
	// Busy says what the operator is doing, or "". It may be nil.
	Busy func() string
	// Retries returns how often it has failed or asked for another look, and whether that is known. It may be nil.
	Retries func() (n int, known bool)
	// Timeout is how long to wait for the operator.
	Timeout time.Duration
	Now     func() time.Time
}

// An ApplyError says why Render can't apply an object.
type ApplyError struct {
	Object *kube.Object
	Err    error
}

// Error implements error.
func (e *ApplyError) Error() string {
	return fmt.Sprintf("applying %s: %v", kube.Name(e.Object), e.Err)
}

// Unwrap returns the cause.
func (e *ApplyError) Unwrap() error { return e.Err }

// renderQuiet is how long nothing must happen: an operator that waits longer between two steps isn't done.
const renderQuiet = 2 * time.Second

// Render applies objects and returns them with what an operator makes of them, as soon as that settles, normalized.
func Render(ctx context.Context, o RenderOptions) ([]*kube.Object, error) {
	h, err := NewHistory(ctx, o.Client, o.Now)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	content, uids := Content(o.Retries, o.Requests), map[string]bool{}
	for _, object := range o.Objects {
		if err := o.Client.Apply(ctx, object, o.Namespace); err != nil {
			return nil, &ApplyError{object, err}
		}
		placed := object.DeepCopy()
		if placed.GetNamespace() == "" {
			placed.SetNamespace(o.Namespace)
		}
		applied, err := o.Client.Get(ctx, placed)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", kube.Name(object), err)
		}
		if applied != nil {
			uids[string(applied.GetUID())] = true
		}
	}
	err = h.Settle(ctx, Settling{Quiet: renderQuiet, Limit: o.Timeout, Busy: FirstOf(o.Unwatched, o.Busy), Content: content})
	if err != nil {
		return nil, err
	}
	for _, r := range o.Requests() {
		if r.Done() && r.UID != "" {
			uids[r.UID] = true
		}
	}
	all := h.Objects()
	return Normalize(slices.DeleteFunc(slices.Clone(all), func(object *kube.Object) bool { return !uids[string(object.GetUID())] }), all), nil
}
