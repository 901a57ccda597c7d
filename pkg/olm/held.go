package olm

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// definitionFinalizer is Kubernetes' own on definitions; it goes when the last resource has gone.
const definitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// doesNotGo says why objects are still there, after ctx has ended.
func (r *removal) doesNotGo(ctx context.Context, left []*kube.Object) error {
	var text strings.Builder
	for i, o := range left {
		if i == mostNames {
			fmt.Fprintf(&text, "\nand %d more", len(left)-i)
			break
		}
		if i > 0 {
			fmt.Fprintf(&text, "\n%s does not go either", kube.FullName(o))
		}
		text.WriteString(remaining(ctx, r.Client, o))
	}
	return fmt.Errorf("%s does not go: %w%s", kube.FullName(left[0]), context.Cause(ctx), text.String())
}

// remaining is what keeps an object that is being deleted, a line each: what the cluster says of a namespace or
// definition, the resources of a definition, and finalizers. It looks even if ctx has ended; what cannot be read
// is a line less.
func remaining(ctx context.Context, client *kube.Client, o *kube.Object) string {
	looking, cancel := DiagnosisContext(ctx)
	defer cancel()
	live, err := client.Get(looking, o)
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
		text.WriteString(remainingResources(looking, client, live))
	}
	for _, finalizer := range live.GetFinalizers() {
		if finalizer != definitionFinalizer {
			fmt.Fprintf(&text, "\n  nobody removes its finalizer %s; 'kubectl edit' of the %s does", finalizer, strings.ToLower(live.GetKind()))
		}
	}
	return text.String()
}

func remainingResources(ctx context.Context, client *kube.Client, crd *kube.Object) string {
	objects, err := client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
	if err != nil {
		return "\n  its resources cannot be listed: " + err.Error()
	}
	if len(objects) == 0 {
		return "\n  there are no resources of it any more"
	}
	var names []string
	for _, o := range objects {
		name := strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
		if len(o.GetFinalizers()) > 0 {
			name += " (held by " + strings.Join(o.GetFinalizers(), ", ") + ")"
		}
		names = append(names, name)
	}
	return "\n  resources of it are left: " + enumerate(names)
}

// removalNote is an annotation that says nothing; see freeDefinition.
const removalNote = "operon/removal"

// freeDefinition lets go the resources that keep a definition, and has the cluster look at it again: the
// controller that completes its removal gives up when two of its own updates meet, until something else changes.
func (r *removal) freeDefinition(ctx context.Context, crd *kube.Object) error {
	objects, err := r.Client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o *kube.Object) bool { return o.GetDeletionTimestamp() == nil })
	if err := r.drop(ctx, objects); err != nil {
		return err
	}
	var note any = "true"
	if _, noted := crd.GetAnnotations()[removalNote]; noted {
		note = nil
	}
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{removalNote: note}}}
	path := "/apis/" + kube.CRDVersion + "/customresourcedefinitions/" + url.PathEscape(crd.GetName())
	err = kube.Retry(ctx, func() error { return r.Client.Do(ctx, http.MethodPatch, path, kube.MergePatch, patch, nil) })
	if err != nil && !kube.IsNotFound(err) {
		return fmt.Errorf("annotating %s: %w", kube.FullName(crd), err)
	}
	return nil
}
