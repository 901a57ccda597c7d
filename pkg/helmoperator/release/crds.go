package release

import (
	"bytes"
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
