package stage

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// RenderOptions are the options of Render. All but Watched and Busy are required.
type RenderOptions struct {
	// Client is an administrator's.
	Client *kube.Client
	// Requests returns the requests of the operator so far.
	Requests func() []gateway.Record
	// Objects are applied, in the Namespace if they don't name one.
	Objects   []*kube.Object
	Namespace string
	// Watched are the resources, such as memcacheds.cache.example.com, that the operator must watch: before, it can't have begun.
	Watched []string
	// Busy says what the operator is doing, or "". It may be nil.
	Busy func() string
	// Timeout is how long to wait for the operator.
	Timeout time.Duration
	Now     func() time.Time
}

// renderQuiet is how long nothing must happen: an operator that waits longer between two steps isn't done.
const renderQuiet = 2 * time.Second

// Render applies objects and returns them with what an operator makes of them, as soon as that settles, normalized.
func Render(ctx context.Context, o RenderOptions) ([]*kube.Object, error) {
	h, err := NewHistory(ctx, o.Client, o.Now)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	uids := map[string]bool{}
	for _, object := range o.Objects {
		if err := o.Client.Apply(ctx, object, o.Namespace); err != nil {
			return nil, fmt.Errorf("applying %s: %w", kube.Name(object), err)
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
	err = h.Settle(ctx, Settling{Quiet: renderQuiet, Limit: o.Timeout, Busy: FirstOf(AwaitWatches(o.Watched, o.Requests), o.Busy)})
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

// AwaitWatches returns a Settling.Busy that says which of the resources, such as memcacheds.cache.example.com, the operator doesn't watch
// yet.
func AwaitWatches(resources []string, requests func() []gateway.Record) func() string {
	missing := slices.Clone(resources)
	return func() string {
		if len(missing) == 0 {
			return "" // without another look at all requests
		}
		records := requests()
		missing = slices.DeleteFunc(missing, func(resource string) bool {
			return slices.ContainsFunc(records, func(r gateway.Record) bool {
				return r.Verb == "watch" && r.Code == http.StatusOK && r.GroupResource() == resource
			})
		})
		if len(missing) == 0 {
			return ""
		}
		return "the operator doesn't watch " + missing[0]
	}
}
