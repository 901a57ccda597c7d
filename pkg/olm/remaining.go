package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// definitionFinalizer is Kubernetes' finalizer of definitions, which is removed after the last resource.
const definitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// notDeletedError explains why objects still exist, after ctx has ended.
func (r *removal) notDeletedError(ctx context.Context, left []*kube.Object) error {
	var text strings.Builder
	for i, o := range left {
		if i == maxNames {
			fmt.Fprintf(&text, "\nand %d more", len(left)-i)
			break
		}
		if i > 0 {
			fmt.Fprintf(&text, "\n%s was not deleted either", kube.FullName(o))
		}
		text.WriteString(remaining(ctx, r.Client, o))
	}
	return fmt.Errorf("%s was not deleted: %w%s", kube.FullName(left[0]), context.Cause(ctx), text.String())
}

// remaining describes what delays the deletion of an object, one line each: conditions of a namespace or definition, the
// resources of a definition, and finalizers. It omits what cannot be read. ctx may have ended.
func remaining(ctx context.Context, client *kube.Client, o *kube.Object) string {
	ctx, cancel := DiagnosisContext(ctx)
	defer cancel()
	live, err := client.Get(ctx, o)
	if err != nil || live == nil {
		return ""
	}
	var text strings.Builder
	for _, c := range kube.Conditions(live) {
		if c.Status == "True" && (strings.HasPrefix(c.Type, "Namespace") || c.Type == "Terminating") && c.Message != "" {
			fmt.Fprintf(&text, "\n  %s: %s", c.Type, c.Message)
		}
	}
	if live.GetKind() == kube.CRDKind {
		text.WriteString(remainingResources(ctx, client, live))
	}
	for _, finalizer := range live.GetFinalizers() {
		if finalizer != definitionFinalizer {
			fmt.Fprintf(&text, "\n  its finalizer %s is not removed; remove it with 'kubectl edit' of the %s", finalizer, strings.ToLower(live.GetKind()))
		}
	}
	return text.String()
}

func remainingResources(ctx context.Context, client *kube.Client, crd *kube.Object) string {
	objects, err := client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
	if err != nil {
		return "\n  cannot list its resources: " + err.Error()
	}
	if len(objects) == 0 {
		return "\n  no resources of it remain"
	}
	var names []string
	for _, o := range objects {
		name := strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
		if len(o.GetFinalizers()) > 0 {
			name += " (finalizers " + strings.Join(o.GetFinalizers(), ", ") + ")"
		}
		names = append(names, name)
	}
	return "\n  remaining resources: " + enumerate(names)
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
