package release

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/resource"
)

const (
	crdTimeout  = time.Minute
	crdInterval = 100 * time.Millisecond
)

// installCRDs creates the objects of the crds directory of the chart that do not exist, and waits until their kinds are served.
// They do not belong to the release: they are neither updated nor deleted.
func (r *Release) installCRDs(ctx context.Context) error {
	if r.options.Chart == nil {
		return r.errorf("the chart is required")
	}
	var created []*resource.Info
	for _, crd := range r.options.Chart.CRDObjects() {
		if crd.File == nil || len(bytes.TrimSpace(crd.File.Data)) == 0 {
			continue
		}
		objects, err := parseManifest(string(crd.File.Data))
		if err != nil {
			return r.errorf("%s: %w", crd.Filename, err)
		}
		for _, object := range objects {
			info, err := r.info(object.Unstructured)
			if err != nil {
				return r.errorf("%s: %w", crd.Filename, err)
			}
			if _, err := r.get(ctx, info); !isMissing(err) {
				if err != nil {
					return r.errorf("%s: %s: %w", crd.Filename, info.Name, err)
				}
				continue
			}
			if _, err := r.create(ctx, info); err != nil {
				return r.errorf("%s: create %s: %w", crd.Filename, info.Name, err)
			}
			created = append(created, info)
		}
	}
	if len(created) == 0 {
		return nil
	}
	for _, info := range created {
		if err := r.waitEstablished(ctx, info); err != nil {
			return r.errorf("install %s: %w", info.Name, err)
		}
	}
	if resettable, ok := r.factory.mapper.(meta.ResettableRESTMapper); ok {
		resettable.Reset()
	}
	r.factory.capabilities.expire()
	return nil
}

// waitEstablished waits until the API server serves the kind of a CRD.
func (r *Release) waitEstablished(ctx context.Context, info *resource.Info) error {
	if info.Mapping.GroupVersionKind.Kind != "CustomResourceDefinition" {
		return nil
	}
	err := wait.PollUntilContextTimeout(ctx, crdInterval, crdTimeout, true, func(ctx context.Context) (bool, error) {
		live, err := r.get(ctx, info)
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
		for _, item := range conditions {
			if condition, ok := item.(map[string]any); ok && condition["type"] == "Established" && condition["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("not established after %s", crdTimeout)
	}
	return err
}
