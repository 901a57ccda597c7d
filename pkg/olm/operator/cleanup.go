package operator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// cleanUpTime is the maximum time for the removal after a failure.
const cleanUpTime = 3 * time.Minute

// CleanupOptions are the options of Cleanup.
type CleanupOptions struct {
	Client             *kube.Client
	Namespace, Package string
	// DeleteCRDs deletes the operator's CRDs with all custom resources.
	DeleteCRDs bool
	// DeleteGroups deletes the OperatorGroup if Run created it and no other Subscription needs it.
	DeleteGroups bool
	// DryRun reports what would be deleted, and deletes nothing.
	DryRun bool

	olm.Reporter
}

// cleanup is one call of Cleanup.
type cleanup struct {
	CleanupOptions
	removed int
}

// Cleanup removes the operator of a package with everything that Run created, and returns the number of deleted objects. It keeps
// other objects, such as catalogs and OperatorGroups of the user, and completes an interrupted removal.
//
// The order is: the Subscription, so that nothing is installed again; custom resources, while the operator can handle their
// finalizers; their definitions; the ClusterServiceVersion, with which OLM deletes what it created; the catalog; the OperatorGroup.
func Cleanup(ctx context.Context, o CleanupOptions) (removed int, err error) {
	c := &cleanup{CleanupOptions: o}
	err = c.removeAll(ctx)
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	if err != nil {
		err = fmt.Errorf("%w; clean up again to continue", olm.ExplainForbidden(err))
	}
	return c.removed, err
}

func (c *cleanup) removeAll(ctx context.Context) error {
	subscription, err := findSubscription(ctx, c.Client, c.Namespace, c.Package)
	if err != nil {
		return err
	}
	csvs, err := c.csvs(ctx, subscription)
	if err != nil {
		return err
	}
	left, err := c.leftovers(ctx, csvs)
	if err != nil {
		return err
	}
	if subscription != nil {
		if err := c.remove(ctx, subscription); err != nil {
			return err
		}
	}
	if c.DeleteCRDs {
		if err := c.definitions(ctx, csvs); err != nil {
			return err
		}
	}
	if err := c.remove(ctx, csvs...); err != nil {
		return err
	}
	if err := c.catalog(ctx); err != nil {
		return err
	}
	if err := c.component(ctx); err != nil {
		return err
	}
	if err := c.removeLeftovers(ctx, left); err != nil || !c.DeleteGroups {
		return err
	}
	return c.groups(ctx)
}

// componentLabel is the label with which OLM marks all objects of an operator.
func (c *cleanup) componentLabel() string {
	return olm.Group + "/" + c.componentName()
}

func (c *cleanup) componentName() string {
	name := c.Package + "." + c.Namespace
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], ".-_")
	}
	return name
}

// csvs returns the ClusterServiceVersions of the package: the ones that OLM marked, and the ones that the Subscription names.
func (c *cleanup) csvs(ctx context.Context, subscription *kube.Object) ([]*kube.Object, error) {
	all, err := c.Client.List(ctx, olm.ResourceOf("clusterserviceversions", olm.CSVKind), c.Namespace, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	if subscription != nil {
		for _, fields := range [][]string{{"status", "installedCSV"}, {"status", "currentCSV"}, {"spec", "startingCSV"}} {
			if name, ok := kube.ValueAt(subscription.Object, fields...).(string); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	return slices.DeleteFunc(all, func(o *kube.Object) bool {
		_, marked := o.GetLabels()[c.componentLabel()]
		return o.GetLabels()["olm.copiedFrom"] != "" || !marked && !slices.Contains(names, o.GetName())
	}), nil
}

// catalog removes the catalog and its registry, if Run created them.
func (c *cleanup) catalog(ctx context.Context) error {
	name := catalogName(c.Package)
	live, err := c.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CatalogSourceKind, c.Namespace, name))
	if err != nil {
		return err
	}
	var objects []*kube.Object
	if live != nil && (isManaged(live, c.Package) || kube.ValueAt(live.Object, "spec", "publisher") == "operator-sdk") {
		objects = append(objects, live)
	}
	query := url.Values{"labelSelector": {managerLabel + "=" + kube.Manager + "," + packageLabel + "=" + labelValue(c.Package)}}
	for _, r := range registryResources() {
		found, err := c.Client.ListNames(ctx, r, c.Namespace, query)
		if err != nil {
			return err
		}
		for _, o := range found {
			if o.GetName() != c.recordName() {
				objects = append(objects, o)
			}
		}
	}
	return c.remove(ctx, objects...)
}

// component removes OLM's Operator object, which OLM recreates while any object is marked.
func (c *cleanup) component(ctx context.Context) error {
	record := kube.Named(olm.Group+"/v1", "Operator", "", c.componentName())
	live, err := c.Client.Get(ctx, record)
	if err != nil || live == nil {
		return err
	}
	if left := kube.ListAt(live.Object, "status", "components", "refs"); len(left) > 0 && !c.DeleteCRDs {
		return nil
	}
	return c.remove(ctx, live)
}

// remove deletes objects and waits for their deletion.
func (c *cleanup) remove(ctx context.Context, objects ...*kube.Object) error {
	if c.DryRun {
		for _, o := range objects {
			c.Reportf("%s would be deleted", kube.FullName(o))
			c.removed++
		}
		return nil
	}
	for _, o := range objects {
		remove := func() error { return c.Client.Delete(ctx, o, o.GetNamespace()) }
		if err := c.awaitConversion(ctx, func() error { return kube.Retry(ctx, remove) }); err != nil {
			return fmt.Errorf("deleting %s: %w", kube.FullName(o), err)
		}
	}
	for _, o := range objects {
		held := ""
		for {
			live, err := c.Client.Get(ctx, o)
			if err != nil && !kube.IsTransient(err) && ctx.Err() == nil {
				return err
			}
			if err == nil && (live == nil || live.GetUID() != o.GetUID()) {
				c.Reportf("%s %q deleted", strings.ToLower(o.GetKind()), o.GetName())
				c.removed++
				break
			}
			if err == nil {
				held = ""
				if len(live.GetFinalizers()) > 0 {
					held = ", which has the finalizers " + strings.Join(live.GetFinalizers(), ", ")
				}
			}
			c.Waitf("waiting for the deletion of %s%s", kube.FullName(o), held)
			if !kube.Pause(ctx) {
				return fmt.Errorf("%s was not deleted: %w%s", kube.FullName(o), context.Cause(ctx), held)
			}
		}
	}
	return nil
}
