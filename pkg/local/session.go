package local

import (
	"context"
	"slices"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// A Session is a running manager in an embedded control plane.
type Session struct {
	// Client is an administrator's.
	Client *kube.Client
	// Namespace is that of objects that don't name one.
	Namespace string
	// Samples are Options.SampleObjects, or the objects of config/samples.
	Samples []*kube.Object
	// Requests returns the requests of the manager so far. They are recorded only if it isn't an administrator.
	Requests func() []gateway.Record
	// Busy says which controller of the manager is at work, or "". It is "", too, if the manager serves no metrics.
	Busy func() string
}

// drive calls Options.Drive and returns its error. If the manager or the control plane ends first, it ends Drive, and returns why.
func (r *runner) drive(ctx context.Context) error {
	samples := withSpecs(r.o.SampleObjects)
	if len(samples) == 0 {
		var err error
		if samples, err = r.source().samples(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	driven := make(chan error, 1)
	go func() {
		driven <- r.o.Drive(ctx, &Session{Client: r.cluster, Namespace: r.namespace, Samples: samples, Busy: r.reconciling, Requests: func() []gateway.Record {
			r.recording.Lock()
			defer r.recording.Unlock()
			return slices.Clone(r.requests)
		}})
	}()
	var planeDone <-chan struct{}
	if r.plane != nil {
		planeDone = r.plane.Done()
	}
	select {
	case err := <-driven:
		return err
	case <-planeDone:
		cancel()
		<-driven
		return r.plane.Err()
	case <-r.exited():
		cancel()
		<-driven
		return r.crash()
	}
}
