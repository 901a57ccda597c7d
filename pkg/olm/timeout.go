package olm

import (
	"context"
	"fmt"

	"github.com/operon-sdk/operon/pkg/kube"
)

// NotReadyError tells which objects did not become ready in time.
type NotReadyError struct {
	// Cause is why the wait ended.
	Cause error
	Diagnosis
}

func (e *NotReadyError) Unwrap() error { return e.Cause }

func (e *NotReadyError) Error() string { return e.Text(fmt.Sprintf("OLM is not ready: %v", e.Cause)) }

// notReady finds out why objects are not ready, after ctx has ended.
func (in *installation) notReady(ctx context.Context, objects []*kube.Object) error {
	looking, cancel := DiagnosisContext(ctx)
	defer cancel()
	e := &NotReadyError{Cause: context.Cause(ctx)}
	for _, object := range objects {
		s, err := inspect(looking, in.Client, object)
		if err != nil {
			e.AddProblem(kube.FullName(object), "cannot be read: "+err.Error())
			continue
		}
		if !s.Ready {
			e.explain(looking, in.Client, object, s)
		}
	}
	e.Advise("run 'olm install' again to go on from here, with a longer --timeout if the cluster is slow")
	return e
}

// explain adds an object that is not ready, and what OLM has made of it.
func (e *NotReadyError) explain(ctx context.Context, client *kube.Client, object *kube.Object, s state) {
	t := Problem{Object: kube.FullName(object), Reason: s.Reason}
	switch {
	case s.live == nil:
	case object.GetKind() == "Deployment":
		t.Lines = e.pods(ctx, client, s.live)
	case object.GetKind() == CSVKind:
		t.Lines = UnmetRequirements(s.live)
	default:
		for _, c := range kube.Conditions(s.live) {
			if c.Status == "False" {
				t.Lines = append(t.Lines, fmt.Sprintf("condition %s=%s: %s %s", c.Type, c.Status, c.Reason, c.Message))
			}
		}
	}
	if s.live != nil && object.GetKind() == CSVKind && len(e.Problems) == 0 && kube.ValueAt(s.live.Object, "status", "phase") == nil {
		e.Advise("olm-operator runs, but does nothing about %s: see 'kubectl logs deployment/%s --namespace %s'", t.Object, olmOperator, object.GetNamespace())
	}
	e.Problems = append(e.Problems, t)
	for _, p := range s.parts {
		if p.Ready || p.live == nil {
			continue
		}
		t := Problem{Object: kube.FullName(p.wanted), Reason: p.Reason}
		if p.wanted.GetKind() == "Deployment" {
			t.Lines = e.pods(ctx, client, p.live)
		} else {
			e.Advise("the API server must reach the pods of service %s/%s-service on port 5443: look for firewalls and network policies between them",
				object.GetNamespace(), packageServer)
		}
		e.Problems = append(e.Problems, t)
	}
}

// pods tells why those of a deployment are not ready.
func (e *NotReadyError) pods(ctx context.Context, client *kube.Client, live *kube.Object) []string {
	cause := e.ExplainDeployment(ctx, client, live,
		"give --image-registry with a registry that they reach and that has it, or --olm-image", "Linux, free resources, no taints, not cordoned")
	if cause.Crashed {
		e.Advise("what stands above says why %s ends; an image of another version does not take its arguments", kube.FullName(live))
	}
	return cause.Lines
}
