package olm

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// UninstallOptions are the options of Uninstall.
type UninstallOptions struct {
	Client *kube.Client
	// Found is the result of Find. Data is the result of Inventory, which the user agreed to lose.
	Found *Installation
	Data  *UserData
	// Grace is the time after which finalizers of deleted objects are removed.
	Grace time.Duration

	Reporter
}

type removal struct {
	UninstallOptions
}

// Uninstall removes OLM and Data, until nothing remains or ctx ends. Nothing is deleted before objects whose deletion needs it:
// subscriptions come first, then operators while OLM can clean up after them, the API service before the namespaces, which
// Kubernetes cannot delete while it is unavailable, and definitions after the finalizers of their resources. The cluster role
// comes last: while it exists, the next run continues.
func Uninstall(ctx context.Context, o UninstallOptions) error {
	if err := o.Found.CheckNamespace(); err != nil {
		return err
	}
	r := &removal{UninstallOptions: o}
	for _, step := range []func(context.Context) error{
		r.subscriptions, r.resources, r.operators, r.packagesAPI, r.deployments, r.finalizers,
		r.leftovers, r.namespaces, r.definitions, r.roles,
	} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
				err = fmt.Errorf("%w (%v)", context.Cause(ctx), err)
			}
			return fmt.Errorf("%w; uninstall again to continue", ExplainForbidden(err))
		}
	}
	return nil
}

func (r *removal) subscriptions(ctx context.Context) error {
	return r.removeAll(ctx, ResourceOf("subscriptions", "Subscription"), r.Grace)
}

// resources deletes custom resources in the namespaces of OLM while their operators can handle finalizers.
func (r *removal) resources(ctx context.Context) error {
	var objects []*kube.Object
	for _, operator := range r.Data.Operators {
		for _, kind := range operator.Kinds {
			objects = append(objects, kind.deleted...)
		}
	}
	return r.remove(ctx, objects, r.Grace)
}

// operators deletes ClusterServiceVersions: first the originals, whose copies olm-operator deletes.
func (r *removal) operators(ctx context.Context) error {
	grace := r.Grace
	live, err := r.Client.Get(ctx, kube.Named("apps/v1", "Deployment", r.Found.Namespace, olmOperator))
	if err != nil {
		return err
	}
	if live == nil || !kube.HealthOf(live).Ready {
		grace = 0 // olm-operator will not remove their finalizers
	}
	if err := r.remove(ctx, r.Data.csvs, grace); err != nil {
		return err
	}
	return r.removeAll(ctx, ResourceOf("clusterserviceversions", CSVKind), grace)
}

// packagesAPI deletes the API services of OLM and of operators: Kubernetes does not delete namespaces while one is unavailable.
func (r *removal) packagesAPI(ctx context.Context) error {
	services, err := r.Client.ListNames(ctx, kube.Resource{APIVersion: "apiregistration.k8s.io/v1", Name: "apiservices", Kind: "APIService"}, "", nil)
	if err != nil {
		return err
	}
	services = slices.DeleteFunc(services, func(o *kube.Object) bool {
		_, operators := o.GetLabels()["olm.owner"]
		return !operators && o.GetName() != packagesAPI
	})
	return r.remove(ctx, services, r.Grace)
}

// deployments deletes the controllers, which would recreate other objects.
func (r *removal) deployments(ctx context.Context) error {
	var objects []*kube.Object
	for _, name := range []string{olmOperator, catalogOperator, packageServer} {
		objects = append(objects, kube.Named("apps/v1", "Deployment", r.Found.Namespace, name))
	}
	return r.remove(ctx, objects, r.Grace)
}

// finalizers removes the finalizers of OLM's kinds, whose controllers are deleted.
func (r *removal) finalizers(ctx context.Context) error {
	resources, _, err := r.Client.Resources(ctx)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		if resource.Group() != Group {
			continue
		}
		objects, err := r.Client.ListNames(ctx, resource, "", nil)
		if err != nil {
			return err
		}
		objects = slices.DeleteFunc(objects, func(o *kube.Object) bool { return len(o.GetFinalizers()) == 0 })
		if err := r.remove(ctx, objects, 0); err != nil {
			return err
		}
	}
	return nil
}

// leftovers deletes what OLM created for operators outside of their namespaces, where objects have no owners.
func (r *removal) leftovers(ctx context.Context) error {
	rbac, admission := "rbac.authorization.k8s.io/v1", "admissionregistration.k8s.io/v1"
	for _, selector := range []string{"olm.owner", "olm.managed=true"} {
		for _, kind := range []struct {
			resource  kube.Resource
			namespace string
		}{
			{kube.Resource{APIVersion: admission, Name: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"}, ""},
			{kube.Resource{APIVersion: admission, Name: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"}, ""},
			{kube.Resource{APIVersion: rbac, Name: "clusterrolebindings", Kind: "ClusterRoleBinding"}, ""},
			{kube.Resource{APIVersion: rbac, Name: "clusterroles", Kind: "ClusterRole"}, ""},
			{kube.Resource{APIVersion: rbac, Name: "rolebindings", Kind: "RoleBinding"}, "kube-system"},
		} {
			objects, err := r.Client.ListNames(ctx, kind.resource, kind.namespace, url.Values{"labelSelector": {selector}})
			if err != nil {
				return err
			}
			if err := r.remove(ctx, objects, r.Grace); err != nil {
				return err
			}
		}
	}
	return r.namespaceLabels(ctx)
}

// namespaceLabels removes the labels by which OperatorGroups select namespaces.
func (r *removal) namespaceLabels(ctx context.Context) error {
	namespaces, err := r.Client.ListNames(ctx, kube.Resource{APIVersion: "v1", Name: "namespaces", Kind: "Namespace"}, "", nil)
	if err != nil {
		return err
	}
	for _, namespace := range namespaces {
		labels := map[string]any{}
		for label := range namespace.GetLabels() {
			if strings.HasPrefix(label, "olm.operatorgroup.uid/") {
				labels[label] = nil
			}
		}
		if len(labels) == 0 || slices.Contains(r.Found.Namespaces(), namespace.GetName()) {
			continue
		}
		patch := map[string]any{"metadata": map[string]any{"labels": labels}}
		if err := r.Client.Patch(ctx, namespace, patch); err != nil && !kube.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (r *removal) definitions(ctx context.Context) error {
	return r.remove(ctx, r.Found.crds, r.Grace)
}

func (r *removal) roles(ctx context.Context) error {
	const rbac = "rbac.authorization.k8s.io/v1"
	return r.remove(ctx, []*kube.Object{
		kube.Named(rbac, "ClusterRole", "", "aggregate-olm-edit"),
		kube.Named(rbac, "ClusterRole", "", "aggregate-olm-view"),
		kube.Named(rbac, "ClusterRoleBinding", "", "olm-operator-binding-"+r.Found.Namespace),
		kube.Named(rbac, "ClusterRole", "", clusterRole),
	}, r.Grace)
}
