package operator

import (
	"context"
	"fmt"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// Installed is an operator that OLM installed from a package.
type Installed struct {
	// Subscription and CSV are the names of its Subscription and ClusterServiceVersion, Channel is the channel of its upgrades.
	Subscription, CSV, Channel string
	// Catalog is the CatalogSource of the upgrades, as namespace/name.
	Catalog string
}

// FindInstalled returns the operator of a package in a namespace, no matter how it was installed.
func FindInstalled(ctx context.Context, client *kube.Client, namespace, pkg string) (*Installed, error) {
	if err := checkCluster(ctx, client, namespace); err != nil {
		return nil, err
	}
	live, err := findSubscription(ctx, client, namespace, pkg)
	if err != nil {
		return nil, err
	}
	if live == nil {
		return nil, fmt.Errorf("no Subscription to the package %[2]s in the namespace %[1]s; 'operon run bundle' installs it", namespace, pkg)
	}
	text := func(fields ...string) string { return kube.StringAt(live.Object, fields...) }
	i := &Installed{
		Subscription: live.GetName(), CSV: text("status", "installedCSV"), Channel: text("spec", "channel"),
		Catalog: text("spec", "sourceNamespace") + "/" + text("spec", "source"),
	}
	if i.CSV == "" {
		return nil, fmt.Errorf("%s has installed nothing yet; 'operon run bundle' completes the installation", kube.FullName(live))
	}
	if i.Channel == "" {
		i.Channel = Channel
	}
	return i, nil
}

// Replaces returns the ClusterServiceVersion that an upgrade to the given one replaces; empty if OLM has already replaced it in an
// interrupted upgrade.
func (i *Installed) Replaces(csv string) string {
	if i.CSV == csv {
		return ""
	}
	return i.CSV
}

// Upgrade replaces an installed operator by the one of a bundle, whose catalog must contain it as the replacement, and waits until
// it is ready or ctx ends. It completes an interrupted upgrade. The Subscription is changed to a catalog of its own, as other
// Subscriptions may use the current one.
func Upgrade(ctx context.Context, o RunOptions, installed *Installed) error {
	o.CleanUp = false // it would delete the custom resources
	r := &run{RunOptions: o, subscription: installed.Subscription, former: installed.CSV}
	r.Reportf("Found existing subscription with name %s and namespace %s", installed.Subscription, r.Namespace)
	if installed.CSV == r.Bundle.CSV {
		r.Reportf("%s is already installed", r.Bundle.CSV)
		return r.follow(ctx)
	}
	objects, err := r.upgradeObjects(ctx)
	if err != nil {
		return err
	}
	if err := r.serve(ctx, objects); err != nil {
		return err
	}
	if err := r.subscribe(ctx, objects, installed); err != nil {
		return err
	}
	if err := r.follow(ctx); err != nil {
		return err
	}
	r.Reportf("Successfully upgraded to %q", r.Bundle.CSV)
	return nil
}

// UpgradeObjects returns the objects that Upgrade would apply before it changes the Subscription.
func UpgradeObjects(ctx context.Context, o RunOptions, installed *Installed) ([]*kube.Object, error) {
	r := &run{RunOptions: o, subscription: installed.Subscription, former: installed.CSV}
	objects, err := r.upgradeObjects(ctx)
	if err != nil {
		return nil, err
	}
	return append(objects.registry, objects.catalog), nil
}

func (r *run) upgradeObjects(ctx context.Context) (*objectSet, error) {
	if err := r.checkCatalog(ctx); err != nil {
		return nil, err
	}
	if err := r.readNamespace(ctx); err != nil {
		return nil, err
	}
	targets, _, err := r.group(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.push(ctx); err != nil {
		return nil, err
	}
	return r.objects(targets)
}

// checkCatalog returns an error if the CatalogSource exists and was created neither by Run nor by operator-sdk.
func (r *run) checkCatalog(ctx context.Context) error {
	live, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CatalogSourceKind, r.Namespace, catalogName(r.Bundle.Package)))
	if err != nil || live == nil || isManaged(live, r.Bundle.Package) || kube.ValueAt(live.Object, "spec", "publisher") == "operator-sdk" {
		return err
	}
	return fmt.Errorf("%s was not created by this command, which would replace it; delete or rename it, or choose another namespace", kube.FullName(live))
}

// subscribe changes the Subscription to the catalog of the upgrade.
func (r *run) subscribe(ctx context.Context, o *objectSet, installed *Installed) error {
	wanted := r.Namespace + "/" + o.catalog.GetName()
	if installed.Catalog != wanted {
		r.Reportf("changing the CatalogSource of the Subscription %s to %s, from %s", installed.Subscription, wanted, installed.Catalog)
	}
	patch := map[string]any{"spec": map[string]any{"source": o.catalog.GetName(), "sourceNamespace": r.Namespace, "channel": r.Bundle.Channel}}
	subscription := kube.Named(olm.V1Alpha1, "Subscription", r.Namespace, installed.Subscription)
	if err := kube.Retry(ctx, func() error { return r.Client.Patch(ctx, subscription, patch) }); err != nil {
		return fmt.Errorf("changing the Subscription %s/%s: %w", r.Namespace, installed.Subscription, olm.ExplainForbidden(err))
	}
	return nil
}
