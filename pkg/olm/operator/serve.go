package operator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// push pushes the image of the catalog, if it is served from one.
func (r *run) push(ctx context.Context) (err error) {
	if r.PushCatalog != nil {
		r.Serving.CatalogImage, err = r.PushCatalog(ctx)
	}
	return err
}

// serve applies the catalog and its registry and waits until OLM has read the catalog.
func (r *run) serve(ctx context.Context, o *objectSet) error {
	for _, object := range o.registry {
		if err := r.apply(ctx, object); err != nil {
			return err
		}
	}
	if o.deployment != nil {
		if err := r.waitRegistry(ctx, o.deployment); err != nil {
			return err
		}
	}
	if err := r.apply(ctx, o.catalog); err != nil {
		return err
	}
	r.Reportf("Created CatalogSource: %s", o.catalog.GetName())
	if err := r.adopt(ctx, o); err != nil {
		return err
	}
	if err := r.waitCatalog(ctx, o.catalog); err != nil {
		return err
	}
	return r.removeFormer(ctx, o)
}

// adopt sets the catalog as the owner of the registry's objects, so that they are deleted with it.
func (r *run) adopt(ctx context.Context, o *objectSet) error {
	live, err := r.Client.Get(ctx, o.catalog)
	if err != nil || live == nil {
		return err
	}
	for _, object := range o.registry {
		owner := map[string]any{"apiVersion": olm.V1Alpha1, "kind": olm.CatalogSourceKind, "name": live.GetName(), "uid": string(live.GetUID())}
		object.Object["metadata"].(map[string]any)["ownerReferences"] = []any{owner}
		if err := r.apply(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// waitCatalog waits until OLM has read the catalog from its current address: bundles of a former catalog of the same name must
// not be installed.
func (r *run) waitCatalog(ctx context.Context, catalog *kube.Object) error {
	address := kube.StringAt(catalog.Object, "spec", "address")
	for {
		live, err := r.Client.Get(ctx, catalog)
		if err != nil && !kube.IsTransient(err) && ctx.Err() == nil {
			return err
		}
		if live != nil {
			from := kube.StringAt(live.Object, "status", "connectionState", "address")
			served := address == from
			if r.Serving.CatalogImage != "" {
				var reason string
				if served, reason = r.servedImage(ctx, catalog); reason != "" {
					return r.failed(ctx, fmt.Errorf("the pod of the catalog's image does not start: %s", reason))
				}
			}
			if served && olm.CatalogHealth(live).Ready {
				return nil
			}
			r.Waitf("waiting for OLM to read the catalog")
		}
		if !kube.Pause(ctx) {
			return r.failed(ctx, errors.New("OLM does not read the catalog"))
		}
	}
}

// servedImage reports whether a pod of OLM serves the catalog's image, not a former one, or why none ever will.
func (r *run) servedImage(ctx context.Context, catalog *kube.Object) (served bool, failure string) {
	pods, err := r.Client.List(ctx, kube.Pods(), r.Namespace, catalogPods(catalog))
	if err != nil {
		return false, ""
	}
	for _, pod := range pods {
		containers := kube.ListAt(pod.Object, "spec", "containers")
		ofImage := slices.ContainsFunc(containers, func(c any) bool { return kube.ValueAt(c, "image") == r.Serving.CatalogImage })
		if ofImage && pod.GetDeletionTimestamp() == nil {
			return kube.IsPodReady(pod), kube.PodFailure(pod)
		}
	}
	return false, ""
}

// catalogPods selects the pods that OLM creates for a catalog's image.
func catalogPods(catalog *kube.Object) url.Values {
	return url.Values{"labelSelector": {"olm.catalogSource=" + catalog.GetName()}}
}

// removeFormer removes the registry of a former catalog.
func (r *run) removeFormer(ctx context.Context, o *objectSet) error {
	query := url.Values{"labelSelector": {managerLabel + "=" + kube.Manager + "," + packageLabel + "=" + labelValue(r.Bundle.Package)}}
	for _, resource := range registryResources() {
		found, err := r.Client.ListNames(ctx, resource, r.Namespace, query)
		if err != nil {
			return err
		}
		for _, former := range found {
			if slices.ContainsFunc(o.registry, func(own *kube.Object) bool {
				return own.GetKind() == former.GetKind() && own.GetName() == former.GetName()
			}) {
				continue
			}
			if err := r.Client.Delete(ctx, former, r.Namespace); err != nil {
				return fmt.Errorf("deleting %s: %w", kube.FullName(former), err)
			}
		}
	}
	return nil
}

// registryResources returns the resources of the registry.
func registryResources() []kube.Resource {
	return []kube.Resource{kube.Deployments(), {APIVersion: "v1", Name: "services", Kind: "Service"}, {APIVersion: "v1", Name: "configmaps", Kind: "ConfigMap"}}
}

// waitRegistry waits until the registry serves the catalog.
func (r *run) waitRegistry(ctx context.Context, deployment *kube.Object) error {
	for {
		live, err := r.Client.Get(ctx, deployment)
		if err != nil && !kube.IsTransient(err) && ctx.Err() == nil {
			return err
		}
		if live != nil {
			health := kube.HealthOf(live)
			if health.Ready {
				r.Reportf("Created registry pod: %s", r.podOf(ctx, live))
				return nil
			}
			if reason := r.Client.PermanentFailure(ctx, live); reason != "" {
				return r.failed(ctx, fmt.Errorf("the registry that serves the catalog does not start: %s", reason))
			}
			r.Waitf("waiting for the registry pod: %s", health.Reason)
		}
		if !kube.Pause(ctx) {
			return r.failed(ctx, errors.New("the registry that serves the catalog is not ready"))
		}
	}
}

// podOf returns the name of the registry's newest pod.
func (r *run) podOf(ctx context.Context, deployment *kube.Object) string {
	pods, err := r.Client.ListNames(ctx, kube.Pods(), r.Namespace,
		map[string][]string{"labelSelector": {registryLabel + "=" + deployment.GetName()}})
	pods = slices.DeleteFunc(pods, func(o *kube.Object) bool { return o.GetDeletionTimestamp() != nil })
	if err != nil || len(pods) == 0 {
		return deployment.GetName()
	}
	newest := slices.MaxFunc(pods, func(a, b *kube.Object) int { return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time) })
	return newest.GetName()
}
