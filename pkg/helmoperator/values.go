package helmoperator

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// valuesOf returns the values of a release: those from Secrets and ConfigMaps, below the spec of its custom resource, or its translation,
// with the overrides. Content that messages must not contain is added to secrets.
func (r *Reconciler) valuesOf(ctx context.Context, obj *unstructured.Unstructured, secrets *redactor) (map[string]any, error) {
	values := map[string]any{}
	if err := r.addValuesFrom(ctx, obj, values, secrets); err != nil {
		return nil, err
	}
	spec, err := r.translate(ctx, obj)
	if err != nil {
		return nil, err
	}
	mergeValues(values, spec)
	// Strings win over typed overrides, as they often come from the environment of a cluster.
	mergeValues(values, runtime.DeepCopyJSON(r.typedOverrides))
	if err := setOverrides(values, r.overrides); err != nil {
		return nil, err
	}
	return values, nil
}

// translate returns a copy of the spec, or what the translator of the reconciler makes of the resource.
func (r *Reconciler) translate(ctx context.Context, obj *unstructured.Unstructured) (map[string]any, error) {
	if r.translator != nil {
		values, err := r.translator(ctx, obj.DeepCopy())
		if err != nil {
			return nil, fmt.Errorf("translating the resource to values: %w", err)
		}
		if values == nil {
			values = map[string]any{}
		}
		return values, nil
	}
	spec, found := obj.Object["spec"]
	if !found || spec == nil {
		return map[string]any{}, nil
	}
	values, ok := spec.(map[string]any)
	if !ok {
		return nil, errors.New("spec must be an object")
	}
	return runtime.DeepCopyJSON(values), nil
}
