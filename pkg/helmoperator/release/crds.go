package release

import (
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

// installCRDs creates or updates the objects of the crds directory of the chart, as Options.CRDs says, before an installation or
// upgrade, and waits until the kinds of new CRDs are served.
func (r *Release) installCRDs(ctx context.Context) error {
	if r.options.Chart == nil {
		return r.errorf("the chart is required")
	}
	changed, err := r.ensureCRDs(ctx)
	if err != nil {
		return err
	}
	return r.waitCRDs(ctx, changed)
}

// repairCRDs updates CRDs that others have changed and creates deleted ones, if they are to be replaced.
func (r *Release) repairCRDs(ctx context.Context) ([]Repaired, error) {
	if r.options.Chart == nil || r.options.CRDs != CRDsCreateReplace {
		return nil, nil
	}
	changed, err := r.ensureCRDs(ctx)
	if err != nil {
		return nil, err
	}
	repaired := make([]Repaired, len(changed))
	for i, crd := range changed {
		repaired[i] = Repaired{Object{GroupVersionKind: crd.Mapping.GroupVersionKind, Name: crd.Name}, crd.created}
	}
	return repaired, r.waitCRDs(ctx, changed)
}

// A changedCRD is an object of the crds directory that was created or updated.
type changedCRD struct {
	*resource.Info
	created bool
}

// waitCRDs waits until the kinds of new CRDs are served.
func (r *Release) waitCRDs(ctx context.Context, changed []changedCRD) error {
	if len(changed) == 0 {
		return nil
	}
	for _, crd := range changed {
		if !crd.created {
			continue
		}
		info := crd.Info
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
