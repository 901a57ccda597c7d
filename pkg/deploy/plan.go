package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// formerManagers returns the field managers of 'make deploy', client-side and server-side, whose fields Deploy takes over. Interactive
// commands such as kubectl edit have other managers.
func formerManagers() []string {
	return []string{"kubectl", "kubectl-client-side-apply", "kubectl-create", "kubectl-replace"}
}

// A step applies one object.
type step struct {
	object *kube.Object
	// live is the object in the cluster, or nil. preview is the object as it will be; what is applied if the server can't tell yet.
	live, preview *kube.Object
}

// problems are the reasons why nothing can be applied, and what to do about them.
type problems struct {
	findings diag.Findings
	advice   []string
}

// add adds a problem and advice, once.
func (p *problems) add(o *kube.Object, advice, format string, args ...any) {
	problem := fmt.Sprintf(format, args...)
	p.findings = append(p.findings, diag.Finding{Object: kube.FullName(o), Problem: problem, Listed: kube.FullName(o) + ": " + problem})
	if advice != "" && !slices.Contains(p.advice, advice) {
		p.advice = append(p.advice, advice)
	}
}

// plan lets the server check all objects, and returns what to do. The error lists all problems.
func (d *deployment) plan(ctx context.Context) ([]step, error) {
	var found problems
	var steps []step
	for _, o := range d.objects {
		s := step{object: o, preview: o}
		if err := d.check(ctx, &s, &found); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	if len(found.findings) > 0 {
		heading := fmt.Sprintf("%d of %s can't be applied, and nothing was changed:", len(distinctObjects(found.findings)), diag.Count(len(d.objects), "object"))
		return nil, diag.List(heading, found.findings, found.advice...)
	}
	return steps, nil
}

// distinctObjects returns the objects of findings.
func distinctObjects(findings diag.Findings) []string {
	var names []string
	for _, f := range findings {
		names = append(names, f.Object)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// check completes a step, and adds the reasons for which the server would reject it. The error is one of the connection.
func (d *deployment) check(ctx context.Context, s *step, found *problems) error {
	o := s.object
	err := kube.Retry(ctx, func() error { _, err := d.Client.ResourceOf(ctx, o); return err })
	switch {
	case kube.IsNotFound(err) && defines(d.objects, o):
		return nil
	case kube.IsNotFound(err):
		found.add(o, missingKindAdvice(o), "the cluster has no kind %s of %s", o.GetKind(), o.GetAPIVersion())
		return nil
	}
	if err == nil {
		err = kube.Retry(ctx, func() (err error) { s.live, err = d.Client.Get(ctx, o); return err })
	}
	if err == nil && s.live != nil {
		if s.live.GetDeletionTimestamp() != nil { // in a dry run, which doesn't wait
			s.live = nil
			return nil
		}
		if id := d.otherSet(s.live); id != "" && !d.ForceConflicts {
			found.add(o, "undeploy them there first, use another namePrefix in the kustomization, or take them over with --force-conflicts",
				"was deployed from another project or to another namespace (%s)", id)
			return nil
		}
	}
	if err == nil {
		err = kube.RetryIf(ctx, func() error { return d.dryRun(ctx, s) }, isTransient)
	}
	return d.classify(s, err, found)
}

// dryRun lets the server preview a step. Conflicts with the managers of 'make deploy' are none.
func (d *deployment) dryRun(ctx context.Context, s *step) error {
	preview, err := d.Client.ApplyWith(ctx, s.object, d.namespace, kube.ApplyOptions{Force: d.ForceConflicts, DryRun: true})
	if conflicts := kube.FieldConflicts(err); len(conflicts) > 0 && len(foreign(conflicts)) == 0 {
		preview, err = d.Client.ApplyWith(ctx, s.object, d.namespace, kube.ApplyOptions{Force: true, DryRun: true})
	}
	if err == nil {
		s.preview = preview
	}
	return err
}

// isTransient reports whether a request may succeed when repeated, unlike one with conflicts of field managers, or with unknown fields, for
// which API servers respond that they have failed.
func isTransient(err error) bool {
	return kube.IsTransient(err) && len(kube.FieldConflicts(err)) == 0 && !strings.Contains(err.Error(), "failed to create typed patch object")
}

// foreign returns the conflicts with others than the managers of 'make deploy'. kubectl scale has the manager of kubectl apply, too.
func foreign(conflicts []kube.FieldConflict) []kube.FieldConflict {
	return slices.DeleteFunc(slices.Clone(conflicts), func(c kube.FieldConflict) bool {
		return c.Subresource == "" && slices.Contains(formerManagers(), c.Manager)
	})
}

// classify adds the reason for which the server rejects a step. The returned error is one of the connection.
func (d *deployment) classify(s *step, err error, found *problems) error {
	o := s.object
	if conflicts := kube.FieldConflicts(err); len(conflicts) > 0 {
		for _, c := range foreign(conflicts) {
			by := fmt.Sprintf("%q", c.Manager)
			if c.Subresource != "" {
				by += " (" + c.Subresource + ")"
			}
			found.add(o, "remove these fields from the manifests if their other manager should keep them, or take them over with --force-conflicts",
				"%s is set to another value by %s", strings.TrimPrefix(c.Field, "."), by)
		}
		return nil
	}
	switch {
	case err == nil:
	case kube.IsNotFound(err):
		if namespace := kube.Named("v1", "Namespace", "", o.GetNamespace()); !has(d.objects, namespace) {
			found.add(o, fmt.Sprintf("create the namespace with 'kubectl create namespace %s', or add it to the kustomization", o.GetNamespace()),
				"the cluster has no namespace %s", o.GetNamespace())
		}
	case kube.IsBeingDeleted(err):
		if namespace := kube.Named("v1", "Namespace", "", o.GetNamespace()); !has(d.objects, namespace) {
			found.add(o, "wait until the namespace is deleted, and create it again", "the namespace %s is being deleted", o.GetNamespace())
		}
	case kube.IsForbidden(err):
		found.add(o, "ask an administrator of the cluster for the missing rights: deploying an operator with CRDs and cluster roles usually takes cluster-admin",
			"the cluster forbids it: %s", strings.TrimPrefix(kube.Brief(err), "reading "+kube.FullName(o)+": "))
	case kube.IsImmutable(err):
		found.add(o, fmt.Sprintf("'kubectl delete %s' lets the object be created again", deletable(o)), "a field can't be changed: %s", kube.Brief(err))
	case kube.IsStatus(err):
		found.add(o, "", "the cluster rejects it: %s", kube.Brief(err))
	default:
		return fmt.Errorf("dry run of %s: %w", kube.FullName(o), err)
	}
	return nil
}

// missingKindAdvice returns how the cluster gets a kind that config can contain.
func missingKindAdvice(o *kube.Object) string {
	switch group, _, _ := strings.Cut(o.GetAPIVersion(), "/"); group {
	case "cert-manager.io":
		return "install cert-manager in the cluster (https://cert-manager.io/docs/installation), or remove ../certmanager from the kustomization"
	case "monitoring.coreos.com":
		return "install the Prometheus operator in the cluster, or remove ../prometheus from the kustomization"
	}
	return "install what defines these kinds in the cluster, or remove the objects from the kustomization"
}

// terminating returns an error for an object whose deletion didn't end in time.
func terminating(ctx context.Context, client *kube.Client, o *kube.Object) error {
	cause := context.Cause(ctx)
	return diag.Explain(diag.Finding{
		Object: kube.FullName(o), Problem: fmt.Sprintf("is being deleted and still exists: %v", cause), Related: olm.Remaining(ctx, client, o), Err: cause,
	}, "fix what delays the deletion, or wait for it with a longer --timeout; then run the command again to continue")
}
