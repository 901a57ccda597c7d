package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// crdTimeout limits the wait for a CRD.
const crdTimeout = time.Minute

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
		repaired[i] = Repaired{Object: Object{GroupVersionKind: crd.Mapping.GroupVersionKind, Name: crd.Name}, Created: crd.created}
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
	return r.await(ctx, Waiting{Object: describeObject(info)}, info, crdTimeout, func(live *unstructured.Unstructured) (bool, error) {
		if live == nil {
			return false, errors.New("it was deleted")
		}
		if message, refused := conditionMessage(live, "NamesAccepted", "False"); refused {
			return false, fmt.Errorf("its names are not accepted: %s", message)
		}
		_, established := conditionMessage(live, "Established", "True")
		return established, nil
	})
}
