package olm

import (
	"context"
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// unready collects the objects that were not ready in time, and why.
type unready struct{ Diagnosis }

// notReady finds the causes of objects that are not ready, after ctx has ended.
func (in *installation) notReady(ctx context.Context, objects []*kube.Object) error {
	cause := context.Cause(ctx)
	ctx, cancel := DiagnosisContext(ctx)
	defer cancel()
	d := &unready{}
	for _, object := range objects {
		s, err := inspect(ctx, in.Client, object)
		if err != nil {
			d.AddProblem(kube.FullName(object), "cannot be read: "+err.Error())
			continue
		}
		if !s.Ready {
			d.explain(ctx, in.Client, object, s)
		}
	}
	d.Advise("run 'operon olm install' again to continue, with a longer --timeout if the cluster is slow")
	return d.Err(fmt.Sprintf("OLM is not ready: %v", cause), cause)
}

// explain adds an object that is not ready, and what OLM created for it.
func (d *unready) explain(ctx context.Context, client *kube.Client, object *kube.Object, s state) {
	t := diag.Finding{Object: kube.FullName(object), Problem: s.Reason}
	switch {
	case s.live == nil:
	case object.GetKind() == "Deployment":
		t.Related = d.pods(ctx, client, s.live)
	case object.GetKind() == CSVKind:
		t.Related = UnmetRequirements(s.live)
	default:
		for _, c := range kube.Conditions(s.live) {
			if c.Status == "False" {
				t.Related = append(t.Related, diag.Finding{Problem: fmt.Sprintf("condition %s=%s: %s %s", c.Type, c.Status, c.Reason, c.Message)})
			}
		}
	}
	if s.live != nil && object.GetKind() == CSVKind && len(d.Problems) == 0 && kube.ValueAt(s.live.Object, "status", "phase") == nil {
		d.Advise("olm-operator runs, but does not process %s: see 'kubectl logs deployment/%s --namespace %s'", t.Object, olmOperator, object.GetNamespace())
	}
	d.Problems = append(d.Problems, t)
	for _, p := range s.parts {
		if p.Ready || p.live == nil {
			continue
		}
		t := diag.Finding{Object: kube.FullName(p.wanted), Problem: p.Reason}
		if p.wanted.GetKind() == "Deployment" {
			t.Related = d.pods(ctx, client, p.live)
		} else {
			d.Advise("the API server must reach the pods of service %s/%s-service on port 5443: check firewalls and network policies between them",
				object.GetNamespace(), packageServer)
		}
		d.Problems = append(d.Problems, t)
	}
}

// pods describes why the pods of a deployment are not ready.
func (d *unready) pods(ctx context.Context, client *kube.Client, live *kube.Object) diag.Findings {
	found := d.ExplainDeployment(ctx, client, live,
		"pass --image-registry with a registry that they can reach and that has it, or --olm-image", "Linux, free resources, no taints, not cordoned")
	if len(found.WithRule(kube.Crashed)) > 0 {
		d.Advise("the lines above show why %s exits; an image of another version rejects its arguments", kube.FullName(live))
	}
	return found
}
