package olm

import (
	"context"
	"fmt"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// explainTime is how long the search for causes may take after the time for the rest is up.
const explainTime = 20 * time.Second

// NotReadyError tells which objects did not become ready in time.
type NotReadyError struct {
	// Cause is why the wait ended.
	Cause error
	Causes
}

func (e *NotReadyError) Unwrap() error { return e.Cause }

func (e *NotReadyError) Error() string { return e.text(fmt.Sprintf("OLM is not ready: %v", e.Cause)) }

// notReady finds out why objects are not ready, after ctx has ended.
func (in *installation) notReady(ctx context.Context, objects []*kube.Object) error {
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTime)
	defer cancel()
	e := &NotReadyError{Cause: context.Cause(ctx)}
	for _, object := range objects {
		s, err := inspect(looking, in.Client, object)
		if err != nil {
			e.trouble(kube.FullName(object), "cannot be read: "+err.Error())
			continue
		}
		if !s.Ready {
			e.explain(looking, in.Client, object, s)
		}
	}
	e.advise("run 'olm install' again to go on from here, with a longer --timeout if the cluster is slow")
	return e
}

// explain adds an object that is not ready, and what OLM has made of it.
func (e *NotReadyError) explain(ctx context.Context, client *kube.Client, object *kube.Object, s state) {
	t := Trouble{Object: kube.FullName(object), Reason: s.Reason}
	switch {
	case s.live == nil:
	case object.GetKind() == "Deployment":
		t.Lines = e.pods(ctx, client, s.live)
	case object.GetKind() == csvKind:
		t.Lines = reasons(s.live)
	default:
		for _, c := range kube.Conditions(s.live) {
			if c.Status == "False" {
				t.Lines = append(t.Lines, fmt.Sprintf("condition %s=%s: %s %s", c.Type, c.Status, c.Reason, c.Message))
			}
		}
	}
	if s.live != nil && object.GetKind() == csvKind && len(e.Troubles) == 0 && at(s.live.Object, "status", "phase") == nil {
		e.advise("olm-operator runs, but does nothing about %s: see 'kubectl logs deployment/%s --namespace %s'", t.Object, olmOperator, object.GetNamespace())
	}
	e.Troubles = append(e.Troubles, t)
	for _, p := range s.parts {
		if p.Ready || p.live == nil {
			continue
		}
		t := Trouble{Object: kube.FullName(p.wanted), Reason: p.Reason}
		if p.wanted.GetKind() == "Deployment" {
			t.Lines = e.pods(ctx, client, p.live)
		} else {
			e.advise("the API server must reach the pods of service %s/%s-service on port 5443: look for firewalls and network policies between them",
				object.GetNamespace(), packageServer)
		}
		e.Troubles = append(e.Troubles, t)
	}
}

// pods tells why those of a deployment are not ready.
func (e *NotReadyError) pods(ctx context.Context, client *kube.Client, live *kube.Object) []string {
	cause := e.workload(ctx, client, live,
		"give --image-registry with a registry that they reach and that has it, or --olm-image", "Linux, free resources, no taints, not cordoned")
	if cause.Crashed {
		e.advise("what stands above says why %s ends; an image of another version does not take its arguments", kube.FullName(live))
	}
	return cause.Lines
}
