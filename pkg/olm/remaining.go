package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// definitionFinalizer is Kubernetes' finalizer of definitions, which is removed after the last resource.
const definitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// maxNames is the maximum number of objects that an error explains.
const maxNames = 5

// notDeletedError explains why objects still exist, after ctx has ended.
func (r *removal) notDeletedError(ctx context.Context, left []*kube.Object) error {
	var related diag.Findings
	for i, o := range left {
		if i == maxNames {
			related = append(related, diag.Finding{Problem: fmt.Sprintf("and %d more", len(left)-i)})
			break
		}
		if i > 0 {
			related = append(related, diag.Finding{Object: kube.FullName(o), Problem: "was not deleted either"})
		}
		related = append(related, Remaining(ctx, r.Client, o)...)
	}
	return notDeleted(ctx, left[0], related)
}

// notDeleted returns the error for an object that still exists after ctx has ended.
func notDeleted(ctx context.Context, o *kube.Object, related diag.Findings) error {
	cause := context.Cause(ctx)
	return diag.Finding{Object: kube.FullName(o), Problem: fmt.Sprintf("was not deleted: %v", cause), Related: related, Err: cause}
}

// detailf returns a circumstance of a problem, whose text is indented below it.
func detailf(format string, args ...any) diag.Finding {
	text := fmt.Sprintf(format, args...)
	return diag.Finding{Problem: text, Listed: "  " + text}
}

// Remaining describes what delays the deletion of an object: conditions of a namespace or definition, the
// resources of a definition, and finalizers. It omits what cannot be read. ctx may have ended.
func Remaining(ctx context.Context, client *kube.Client, o *kube.Object) (found diag.Findings) {
	ctx, cancel := DiagnosisContext(ctx)
	defer cancel()
	live, err := client.Get(ctx, o)
	if err != nil || live == nil {
		return nil
	}
	for _, c := range kube.Conditions(live) {
		if c.Status == "True" && (strings.HasPrefix(c.Type, "Namespace") || c.Type == "Terminating") && c.Message != "" {
			found = append(found, detailf("%s: %s", c.Type, c.Message))
		}
	}
	if live.GetKind() == kube.CRDKind {
		found = append(found, remainingResources(ctx, client, live))
	}
	for _, finalizer := range live.GetFinalizers() {
		if finalizer != definitionFinalizer {
			found = append(found, detailf("its finalizer %s is not removed; remove it with 'kubectl edit' of the %s", finalizer, strings.ToLower(live.GetKind())))
		}
	}
	return found
}

func remainingResources(ctx context.Context, client *kube.Client, crd *kube.Object) diag.Finding {
	objects, err := client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
	if err != nil {
		return detailf("cannot list its resources: %v", err)
	}
	if len(objects) == 0 {
		return detailf("no resources of it remain")
	}
	var names []string
	for _, o := range objects {
		name := strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
		if len(o.GetFinalizers()) > 0 {
			name += " (finalizers " + strings.Join(o.GetFinalizers(), ", ") + ")"
		}
		names = append(names, name)
	}
	return detailf("remaining resources: %s", diag.Enumerate(names))
}

// removalNote is an annotation without meaning; see freeDefinition.
const removalNote = "operon/removal"

// freeDefinition removes the finalizers of the resources of a definition and changes the definition: the controller that
// completes its removal stops after a conflict of its own updates until something changes.
func (r *removal) freeDefinition(ctx context.Context, crd *kube.Object) error {
	objects, err := r.Client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o *kube.Object) bool { return o.GetDeletionTimestamp() == nil })
	if err := r.dropFinalizers(ctx, objects); err != nil {
		return err
	}
	var note any = "true"
	if _, noted := crd.GetAnnotations()[removalNote]; noted {
		note = nil
	}
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{removalNote: note}}}
	err = kube.Retry(ctx, func() error { return r.Client.Patch(ctx, crd, patch) })
	if err != nil && !kube.IsNotFound(err) {
		return fmt.Errorf("annotating %s: %w", kube.FullName(crd), err)
	}
	return nil
}
