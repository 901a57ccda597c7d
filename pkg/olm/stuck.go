package olm

import (
	"context"
	"fmt"
	"net/http"

	"github.com/operon-sdk/operon/pkg/kube"
)

// namespaces deletes OLM's namespaces. After grace, it removes the finalizers of objects in them, whose operators are deleted,
// and deletes pods whose nodes do not respond.
func (r *removal) namespaces(ctx context.Context) error {
	graceful, cancel := context.WithTimeout(ctx, r.Grace)
	defer cancel()
	var left []*kube.Object
	for _, name := range r.Found.Namespaces() {
		namespace := kube.Named("v1", "Namespace", "", name)
		live, err := r.Client.Get(ctx, namespace)
		if err != nil {
			return err
		}
		if live == nil {
			continue
		}
		if live.GetDeletionTimestamp() != nil { // since an earlier command
			if err := r.freeNamespace(ctx, name, false); err != nil {
				return err
			}
		}
		if err := r.Client.Delete(ctx, namespace, ""); err != nil {
			return fmt.Errorf("deleting %s: %w", kube.FullName(namespace), err)
		}
		left = append(left, live)
	}
	for {
		remaining, err := r.remainingOf(ctx, left)
		if err == nil {
			if left = remaining; len(left) == 0 {
				return nil
			}
			if graceful.Err() != nil {
				err = r.freeNamespaces(ctx, left)
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		r.Waitf("waiting for the deletion of %s", kube.FullName(left[0]))
		if !kube.Pause(ctx) {
			return r.stuckError(ctx, left[0])
		}
	}
}

func (r *removal) freeNamespaces(ctx context.Context, namespaces []*kube.Object) error {
	for _, namespace := range namespaces {
		if err := r.freeNamespace(ctx, namespace.GetName(), true); err != nil {
			return err
		}
	}
	return nil
}

// freeNamespace removes what delays the deletion of a namespace. Pods are deleted only if their nodes had time to stop them.
func (r *removal) freeNamespace(ctx context.Context, namespace string, pods bool) error {
	resources, _, err := r.Client.Resources(ctx)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		if !resource.Namespaced {
			continue
		}
		objects, err := r.Client.ListNames(ctx, resource, namespace, nil)
		if err != nil {
			return err
		}
		var waiting []*kube.Object
		for _, o := range objects {
			if o.GetDeletionTimestamp() == nil {
				continue
			}
			if o.GetKind() != "Pod" || len(o.GetFinalizers()) > 0 {
				waiting = append(waiting, o)
				continue
			}
			if !pods {
				continue
			}
			r.Reportf("deleting %s without waiting for its node", kube.FullName(o))
			if err := r.forceDelete(ctx, o); err != nil {
				return err
			}
		}
		if err := r.dropFinalizers(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}

// forceDelete deletes a pod without waiting for its node.
func (r *removal) forceDelete(ctx context.Context, pod *kube.Object) error {
	path, err := r.Client.Path(ctx, pod, pod.GetNamespace())
	if err == nil {
		err = r.Client.Do(ctx, http.MethodDelete, path, "", map[string]any{
			"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
			"preconditions": map[string]any{"uid": string(pod.GetUID())},
		}, nil)
	}
	if kube.IsNotFound(err) || kube.IsConflict(err) {
		return nil
	}
	return err
}

// stuckError explains why a namespace was not deleted, after ctx has ended.
func (r *removal) stuckError(ctx context.Context, namespace *kube.Object) error {
	diagnosis, cancel := DiagnosisContext(ctx)
	defer cancel()
	related := Remaining(ctx, r.Client, namespace)
	services, err := r.Client.List(diagnosis, kube.Resource{APIVersion: "apiregistration.k8s.io/v1", Name: "apiservices", Kind: "APIService"}, "", nil)
	if err != nil {
		services = nil // the conditions of the namespace must suffice
	}
	for _, service := range services {
		if health := kube.HealthOf(service); !health.Ready {
			related = append(related, detailf("apiservice %s is not available (%s), which prevents the deletion of all namespaces: repair its pods, or 'kubectl delete apiservice %[1]s'",
				service.GetName(), health.Reason))
		}
	}
	return notDeleted(ctx, namespace, related)
}
