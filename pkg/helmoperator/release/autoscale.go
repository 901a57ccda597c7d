package release

import (
	"cmp"
	"context"
	"encoding/json"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
)

// autoscalerManager is the field manager of HorizontalPodAutoscalers. It writes the subresource scale.
const autoscalerManager = "kube-controller-manager"

var replicasPath = []string{"spec", "replicas"}

// replicasOf returns spec.replicas, or nil.
func replicasOf(object *unstructured.Unstructured) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, replicasPath...)
	return value
}

// isScaled reports whether a HorizontalPodAutoscaler has set the replicas of a live object.
func isScaled(live *unstructured.Unstructured) bool {
	for _, entry := range live.GetManagedFields() {
		if entry.Manager != autoscalerManager || entry.Subresource != "scale" || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Spec struct {
				Replicas *struct{} `json:"f:replicas"`
			} `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil && fields.Spec.Replicas != nil {
			return true
		}
	}
	return false
}

// scaleTargets returns the objects that the HorizontalPodAutoscalers among the objects of a manifest scale.
func (r *Release) scaleTargets(objects []*unstructured.Unstructured) map[scaleTarget]bool {
	targets := map[scaleTarget]bool{}
	for _, object := range objects {
		if gvk := object.GroupVersionKind(); gvk.Group != "autoscaling" || gvk.Kind != "HorizontalPodAutoscaler" {
			continue
		}
		ref, _, _ := unstructured.NestedStringMap(object.Object, "spec", "scaleTargetRef")
		if group, err := schema.ParseGroupVersion(ref["apiVersion"]); err == nil {
			targets[scaleTarget{group.Group, ref["kind"], cmp.Or(object.GetNamespace(), r.namespace), ref["name"]}] = true
		}
	}
	return targets
}

type scaleTarget struct{ group, kind, namespace, name string }

func (r *Release) scaleTargetOf(object *unstructured.Unstructured) scaleTarget {
	gvk := object.GroupVersionKind()
	return scaleTarget{gvk.Group, gvk.Kind, cmp.Or(object.GetNamespace(), r.namespace), object.GetName()}
}

// Update implements kube.Interface. It takes over objects of others if it may. An object whose replicas an autoscaler sets keeps them, unless the upgrade changes the chart's number.
// Helm reads the result also after an error.
func (c *client) Update(original, target kube.ResourceList, options ...kube.ClientUpdateOption) (*kube.Result, error) {
	ctx := context.Background()
	if err := c.keepReplicas(ctx, original, target); err != nil {
		return &kube.Result{}, err
	}
	original, err := c.adopt(ctx, original, target)
	if err != nil {
		return &kube.Result{}, err
	}
	return c.Client.Update(original, target, options...)
}

func (c *client) keepReplicas(ctx context.Context, original, target kube.ResourceList) error {
	targets := c.release.scaleTargets(objectsOf(target))
	for _, info := range target {
		object, ok := info.Object.(*unstructured.Unstructured)
		if !ok || replicasOf(object) == nil {
			continue
		}
		live, err := c.release.get(ctx, info)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return err
		}
		replicas := replicasOf(live)
		if replicas == nil {
			continue
		}
		before := original.Get(info)
		unchanged := before != nil && equalReplicas(before, object)
		if targets[c.release.scaleTargetOf(object)] || unchanged && isScaled(live) {
			if err := unstructured.SetNestedField(object.Object, replicas, replicasPath...); err != nil {
				return err
			}
		}
	}
	return nil
}

func equalReplicas(before *resource.Info, object *unstructured.Unstructured) bool {
	old, ok := before.Object.(*unstructured.Unstructured)
	return ok && replicasOf(old) == replicasOf(object)
}

func objectsOf(list kube.ResourceList) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, info := range list {
		if object, ok := info.Object.(*unstructured.Unstructured); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

func unstructuredOf(objects []manifestObject) []*unstructured.Unstructured {
	result := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		result[i] = object.Unstructured
	}
	return result
}
