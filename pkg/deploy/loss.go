package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/stage"
)

// A Loss is what users lose with a definition: its custom resources, in all namespaces.
type Loss struct {
	CRD       string
	Resources []*kube.Object
}

// Line describes the loss.
func (l Loss) Line() string {
	if len(l.Resources) == 0 {
		return l.CRD + ": no custom resources"
	}
	var names []string
	for _, o := range l.Resources {
		names = append(names, strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
	}
	return fmt.Sprintf("%s: %s: %s", l.CRD, diag.Count(len(names), "custom resource"), diag.Enumerate(names))
}

func anyLost(losses []Loss) bool {
	return slices.ContainsFunc(losses, func(l Loss) bool { return len(l.Resources) > 0 })
}

// losses lists the custom resources of the definitions.
func (u *undeployment) losses(ctx context.Context) (losses []Loss, err error) {
	for _, crd := range u.crds {
		l := Loss{CRD: crd.GetName()}
		l.Resources, err = u.Client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
		if err != nil {
			if !u.DeleteCRDs {
				err = nil // they are kept, whatever they are
				continue
			}
			return nil, diag.Explain(fmt.Errorf("listing what would be lost with %s: %w", kube.FullName(crd), err),
				"nothing was deleted; if the manager doesn't convert stored versions, repair it first: deploy it, and see its log")
		}
		losses = append(losses, l)
	}
	return losses, nil
}

// reportKept reports the definitions that are kept, with their custom resources.
func (u *undeployment) reportKept(losses []Loss) {
	for _, l := range losses {
		u.Reportf("kept customresourcedefinition %s; --delete-crds deletes it with its data", l.Line())
		held := slices.DeleteFunc(slices.Clone(l.Resources), func(o *kube.Object) bool { return len(o.GetFinalizers()) == 0 })
		if len(held) > 0 {
			u.Reportf("  %d of them have finalizers, which only a running manager removes: they can't be deleted until it is deployed again", len(held))
		}
	}
}

// removeResources deletes custom resources while the manager can handle their finalizers, and waits until they are gone.
func (u *undeployment) removeResources(ctx context.Context, losses []Loss) error {
	var resources []*kube.Object
	for _, l := range losses {
		resources = append(resources, l.Resources...)
	}
	err := u.remove(ctx, true, resources...)
	if err == nil || ctx.Err() == nil {
		return err
	}
	advice := "the manager is not deployed, so that nothing removes the finalizers: deploy it, or remove them with 'kubectl patch'"
	if manager := stage.ManagerOf(u.objects); manager != nil {
		diagnosis, cancel := olm.DiagnosisContext(ctx)
		defer cancel()
		advice = fmt.Sprintf("the manager still runs and has not removed the finalizers: see 'kubectl logs deployment/%s --namespace %s'", manager.GetName(), manager.GetNamespace())
		if live, err := u.Client.Get(diagnosis, manager); err == nil && live != nil && !kube.HealthOf(live).Ready {
			advice = fmt.Sprintf("the manager, which removes finalizers, is not available (%s): repair it, or remove the finalizers with 'kubectl patch'", kube.HealthOf(live).Reason)
		}
	}
	return diag.Explain(err, advice)
}

// removeNamespaces deletes namespaces without objects of others.
func (u *undeployment) removeNamespaces(ctx context.Context) error {
	for _, namespace := range u.namespaces {
		others, err := u.others(ctx, namespace.GetName())
		if err != nil {
			u.Reportf("kept %s, whose content can't be listed: %v", kube.FullName(namespace), err)
			continue
		}
		if len(others) > 0 {
			u.Reportf("kept %s, which contains other objects: %s", kube.FullName(namespace), diag.Enumerate(others))
			continue
		}
		if err := u.remove(ctx, u.Wait, namespace); err != nil {
			return err
		}
	}
	return nil
}

// others returns the objects in a namespace that neither the deployment nor controllers created.
func (u *undeployment) others(ctx context.Context, namespace string) (names []string, err error) {
	resources, _, err := u.Client.Resources(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range resources {
		if !r.Namespaced {
			continue
		}
		found, err := u.Client.ListNames(ctx, r, namespace, nil)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			certificate := o.GetAnnotations()["cert-manager.io/certificate-name"] != "" // cert-manager leaves its secrets
			if !olm.IsManaged(o) && !certificate && o.GetDeletionTimestamp() == nil && !has(u.objects, o) {
				names = append(names, kube.FullName(o))
			}
		}
	}
	return names, nil
}
