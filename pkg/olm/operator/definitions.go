package operator

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// definitions deletes the custom resources of the operator, waits for its finalizers, and then deletes their definitions. It
// keeps definitions that another operator owns, too, with their resources.
func (c *cleanup) definitions(ctx context.Context, csvs []*kube.Object) error {
	names, err := c.owned(ctx, csvs)
	if err != nil {
		return err
	}
	var crds []*kube.Object
	for _, name := range names {
		crd, err := c.Client.Get(ctx, kube.Named(kube.CRDVersion, kube.CRDKind, "", name))
		if err != nil {
			return err
		}
		if crd == nil {
			continue
		}
		other, err := c.otherOwner(ctx, name)
		if err != nil {
			return err
		}
		if other != "" {
			c.Reportf("kept %s, which %s owns, too", kube.FullName(crd), other)
			continue
		}
		crds = append(crds, crd)
	}
	var resources []*kube.Object
	for _, crd := range crds {
		found, err := c.resources(ctx, crd)
		if err != nil {
			return err
		}
		resources = append(resources, found...)
	}
	if err := c.remove(ctx, resources...); err != nil {
		if ctx.Err() != nil && len(csvs) > 0 && !isConversionError(err) {
			return diag.Explain(err, fmt.Sprintf("the operator %s still runs and has not removed its finalizers: see its log; 'kubectl patch' can remove the finalizers", csvs[0].GetName()))
		}
		return err
	}
	return c.remove(ctx, crds...)
}

// owned returns the definitions of the operator: the ones that its ClusterServiceVersions own, and the ones that OLM marked.
func (c *cleanup) owned(ctx context.Context, csvs []*kube.Object) ([]string, error) {
	var names []string
	for _, csv := range csvs {
		names = append(names, ownedBy(csv)...)
	}
	marked, err := c.Client.ListNames(ctx, kube.CRDs(), "", url.Values{"labelSelector": {c.componentLabel()}})
	if err != nil {
		return nil, err
	}
	for _, crd := range marked {
		// OLM marks required definitions, too.
		if len(csvs) == 0 || slices.Contains(names, crd.GetName()) {
			names = append(names, crd.GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// ownedBy returns the owned definitions of a ClusterServiceVersion, once for each version of a kind.
func ownedBy(csv *kube.Object) []string {
	var names []string
	for _, item := range kube.ListAt(csv.Object, "spec", "customresourcedefinitions", "owned") {
		if name := kube.StringAt(item, "name"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// otherOwner returns the name of another operator that owns a definition; empty if there is none.
func (c *cleanup) otherOwner(ctx context.Context, crd string) (string, error) {
	all, err := c.Client.List(ctx, olm.ResourceOf("clusterserviceversions", olm.CSVKind), "", nil)
	if err != nil {
		return "", err
	}
	for _, csv := range all {
		_, marked := csv.GetLabels()[c.componentLabel()]
		if csv.GetLabels()["olm.copiedFrom"] != "" || marked {
			continue
		}
		if csv.GetNamespace() != c.Namespace && slices.Contains(ownedBy(csv), crd) {
			return kube.FullName(csv), nil
		}
	}
	return "", nil
}

// resources returns the custom resources of a definition in all namespaces.
func (c *cleanup) resources(ctx context.Context, crd *kube.Object) ([]*kube.Object, error) {
	var found []*kube.Object
	err := c.awaitConversion(ctx, func() (err error) {
		found, err = c.Client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
		return err
	})
	return found, err
}

// awaitConversion repeats a request while the operator does not convert custom resources that are stored in another version,
// which happens during a restart.
func (c *cleanup) awaitConversion(ctx context.Context, do func() error) error {
	var failed error // the last failed conversion
	for {
		err := do()
		switch {
		case isConversionError(err):
			failed = err
			c.Waitf("waiting for the operator to convert custom resources: %v", err)
		case failed == nil || ctx.Err() == nil:
			return err
		}
		if !kube.Pause(ctx) {
			return diag.Explain(failed, "the operator does not convert custom resources; see its log. If it cannot be repaired, delete its ClusterServiceVersion: OLM then removes the conversion")
		}
	}
}

// isConversionError reports whether the API server could not convert an object.
func isConversionError(err error) bool {
	return err != nil && strings.Contains(err.Error(), "conversion webhook")
}
