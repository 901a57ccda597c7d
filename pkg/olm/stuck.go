package olm

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// namespaces deletes OLM's namespaces, and frees those that are stuck: objects in them that wait for operators
// that are gone lose their finalizers, and pods of nodes that are gone are given up.
func (r *removal) namespaces(ctx context.Context) error {
	patience, cancel := context.WithTimeout(ctx, r.Grace)
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
		if live.GetDeletionTimestamp() != nil { // it has had its time
			if err := r.free(ctx, name, false); err != nil {
				return err
			}
		}
		if err := r.Client.Delete(ctx, namespace, ""); err != nil {
			return fmt.Errorf("deleting %s: %w", kube.FullName(namespace), err)
		}
		left = append(left, live)
	}
	for {
		still, err := r.gone(ctx, left)
		if err == nil {
			if left = still; len(left) == 0 {
				return nil
			}
			if patience.Err() != nil {
				err = r.freeAll(ctx, left)
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		r.Waitf("waiting for %s to go", kube.FullName(left[0]))
		if !kube.Pause(ctx) {
			return r.stuck(ctx, left[0])
		}
	}
}

func (r *removal) freeAll(ctx context.Context, namespaces []*kube.Object) error {
	for _, namespace := range namespaces {
		if err := r.free(ctx, namespace.GetName(), true); err != nil {
			return err
		}
	}
	return nil
}

// free lets go what a namespace that is being deleted still holds. Pods take their time, which not even a
// namespace that has been deleted for long tells of.
func (r *removal) free(ctx context.Context, namespace string, pods bool) error {
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
			r.Reportf("the node of %s does not stop it; it is given up", kube.FullName(o))
			if err := r.giveUp(ctx, o); err != nil {
				return err
			}
		}
		if err := r.drop(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}

// giveUp deletes a pod without waiting for its node.
func (r *removal) giveUp(ctx context.Context, pod *kube.Object) error {
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

// stuck says why a namespace does not go, after ctx has ended.
func (r *removal) stuck(ctx context.Context, namespace *kube.Object) error {
	looking, cancel := DiagnosisContext(ctx)
	defer cancel()
	var text strings.Builder
	text.WriteString(remaining(ctx, r.Client, namespace))
	services, err := r.Client.List(looking, kube.Resource{APIVersion: "apiregistration.k8s.io/v1", Name: "apiservices", Kind: "APIService"}, "", nil)
	if err != nil {
		services = nil // what the namespace says has to do
	}
	for _, service := range services {
		if health := kube.HealthOf(service); !health.Ready {
			fmt.Fprintf(&text, "\n  apiservice %s does not answer (%s), and Kubernetes deletes no namespace meanwhile: repair its pods, or 'kubectl delete apiservice %[1]s'",
				service.GetName(), health.Reason)
		}
	}
	return fmt.Errorf("%s does not go: %w%s", kube.FullName(namespace), context.Cause(ctx), text.String())
}
