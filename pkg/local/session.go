package local

import (
	"context"
	"slices"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// A Session is a running manager in an embedded control plane, or in a preview.
type Session struct {
	// Client is an administrator's, or the user's in a preview, and Kubeconfig the file of the same user for other programs.
	Client     *kube.Client
	Kubeconfig string
	// Namespace is that of objects that don't name one.
	Namespace string
	// Samples are Options.SampleObjects, or the objects of config/samples; none in a preview.
	Samples []*kube.Object
	// Requests returns the requests of the manager so far. They are recorded in a preview, and if it isn't an administrator.
	Requests func() []gateway.Record
	// Permissions are those of the manager, or nil if it is an administrator.
	Permissions *stage.Permissions
	// Busy says which controller of the manager is at work, or "". It is "", too, if the manager serves no metrics.
	Busy func() string
	// Retries returns how many calls of the manager's reconcilers have failed or asked for another call, and whether its metrics say so.
	Retries func() (n int, known bool)
}

// recorded returns the requests so far.
func (r *runner) recorded() []gateway.Record {
	r.recording.Lock()
	defer r.recording.Unlock()
	return slices.Clone(r.requests)
}

// drive calls Options.Drive and returns its error. If the manager or the control plane ends first, it ends Drive, and returns why.
func (r *runner) drive(ctx context.Context) error {
	samples := withSpecs(r.o.SampleObjects)
	if len(samples) == 0 && r.o.Preview == nil {
		var err error
		if samples, err = r.source().samples(); err != nil {
			return err
		}
	}
	var permissions *stage.Permissions
	if r.access != nil {
		permissions = r.access.Permissions()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	driven := make(chan error, 1)
	go func() {
		driven <- r.o.Drive(ctx, &Session{
			Client: r.cluster, Kubeconfig: r.kubeconfig, Namespace: r.namespace, Samples: samples, Permissions: permissions, Busy: r.reconciling, Retries: r.retries, Requests: r.recorded,
		})
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
