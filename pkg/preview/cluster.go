package preview

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// Begin returns what makes the writes of an operator dry runs that p collects. It compares the operator's CRDs with the cluster's.
func (p *Preview) Begin(ctx context.Context, cluster *kube.Client, definitions []*kube.Object) (*gateway.DryRun, error) {
	services, err := cluster.List(ctx, kube.Resource{APIVersion: "apiregistration.k8s.io/v1", Name: "apiservices", Kind: "APIService"}, "", nil)
	if err != nil {
		return nil, fmt.Errorf("finding out which APIs other servers serve, where dry runs may not be supported: %w", err)
	}
	for _, o := range services {
		spec := kube.ValueAt(o.Object, "spec")
		if kube.ValueAt(spec, "service") != nil {
			p.remote[kube.StringAt(spec, "group")+"/"+kube.StringAt(spec, "version")] =
				kube.StringAt(spec, "service", "namespace") + "/" + kube.StringAt(spec, "service", "name")
		}
	}
	for _, crd := range definitions {
		if err := p.compare(ctx, cluster, crd); err != nil {
			return nil, err
		}
	}
	return &gateway.DryRun{Refuse: p.refuse, Wrote: p.add}, nil
}

// compare warns if the cluster doesn't have a CRD, or another version of it.
func (p *Preview) compare(ctx context.Context, cluster *kube.Client, crd *kube.Object) error {
	live, err := cluster.Get(ctx, crd)
	switch {
	case kube.IsForbidden(err):
		p.o.Warnf("the CRD %s can't be compared with the cluster's, which this user may not read", crd.GetName())
		return nil
	case err != nil:
		return err
	case live == nil:
		p.missing[crd.GetName()] = true
		p.o.Warnf("the cluster doesn't have the CRD %s, and a preview doesn't install it: there are no resources for the manager to act on", crd.GetName())
		return nil
	}
	next := crd.DeepCopy()
	next.SetResourceVersion(live.GetResourceVersion())
	path, err := cluster.Path(ctx, next, "")
	if err != nil {
		return err
	}
	var replaced kube.Object
	err = cluster.Do(ctx, http.MethodPut, path+"?dryRun=All", "", next.Object, &replaced)
	switch {
	case kube.IsForbidden(err):
		p.o.Warnf("the CRD %s can't be compared with the cluster's: this user may not update it, not even in a dry run", crd.GetName())
	case kube.IsStatus(err):
		p.o.Warnf("the cluster would refuse the CRD %s: %s", crd.GetName(), kube.Brief(err))
	case err != nil:
		return fmt.Errorf("comparing the CRD %s: %w", crd.GetName(), err)
	case !reflect.DeepEqual(specOf(live), specOf(&replaced)):
		p.o.Warnf("the CRD %s differs from the one in the cluster, which applies in this preview: the API server validates, defaults and prunes fields as the installed one says", crd.GetName())
	}
	return nil
}

// specOf returns what a CRD defines. The certificate for conversion is the cluster's.
func specOf(crd *kube.Object) any {
	spec, _ := kube.ValueAt(crd.DeepCopy().Object, "spec").(map[string]any)
	delete(spec, "conversion")
	return spec
}
