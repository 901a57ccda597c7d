package operator

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// definitions deletes the custom resources of the operator, and waits for its finalizers, and then their
// definitions. Those that another operator serves too stay, with their resources.
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
		others, err := c.servedElsewhere(ctx, name)
		if err != nil {
			return err
		}
		if others != "" {
			c.Reportf("kept %s, which %s serves too", kube.FullName(crd), others)
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
		if ctx.Err() != nil && len(csvs) > 0 && !notConverted(err) {
			return fmt.Errorf("%w\nthe operator %s still runs, and its finalizers hold them: its log says why; 'kubectl patch' can take the finalizers away", err, csvs[0].GetName())
		}
		return err
	}
	return c.remove(ctx, crds...)
}

// owned are the definitions of the operator: what the ClusterServiceVersions say, and what OLM has marked.
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
		// OLM marks what an operator requires, too.
		if len(csvs) == 0 || slices.Contains(names, crd.GetName()) {
			names = append(names, crd.GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// ownedBy are the definitions that a ClusterServiceVersion calls its own, one for each version of a kind.
func ownedBy(csv *kube.Object) []string {
	var names []string
	list := kube.ListAt(csv.Object, "spec", "customresourcedefinitions", "owned")
	for _, item := range list {
		if name := kube.StringAt(item, "name"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// servedElsewhere names another operator that serves a definition, or nothing.
func (c *cleanup) servedElsewhere(ctx context.Context, crd string) (string, error) {
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

// resources are the custom resources of a definition, in all namespaces.
func (c *cleanup) resources(ctx context.Context, crd *kube.Object) ([]*kube.Object, error) {
	var found []*kube.Object
	err := c.converting(ctx, func() (err error) {
		found, err = c.Client.ListNames(ctx, kube.DefinedBy(crd), "", nil)
		return err
	})
	return found, err
}

// converting repeats a request for as long as the operator does not convert custom resources that are stored in another
// version. It may be about to restart.
func (c *cleanup) converting(ctx context.Context, do func() error) error {
	var failed error // the last failed conversion
	for {
		err := do()
		switch {
		case notConverted(err):
			failed = err
			c.Waitf("waiting for the operator to convert custom resources: %v", err)
		case failed == nil || ctx.Err() == nil:
			return err
		}
		if !kube.Pause(ctx) {
			return fmt.Errorf("%w\nthe operator does not convert custom resources, and its log may say why; with its ClusterServiceVersion OLM takes the conversion back: delete that if the operator cannot be mended", failed)
		}
	}
}

// notConverted tells an API server's error that it could not convert an object.
func notConverted(err error) bool {
	return err != nil && strings.Contains(err.Error(), "conversion webhook")
}
