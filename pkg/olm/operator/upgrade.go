package operator

import (
	"context"
	"fmt"
	"net/http"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// Installed is an operator that OLM has installed from a package.
type Installed struct {
	// Subscription is its name, CSV what it has installed, Channel where its upgrades come from.
	Subscription, CSV, Channel string
	// Catalog is the CatalogSource of the upgrades, with its namespace.
	Catalog string
}

// FindInstalled finds the operator of a package in a namespace, however it was installed.
func FindInstalled(ctx context.Context, client *kube.Client, namespace, pkg string) (*Installed, error) {
	if err := present(ctx, client, namespace); err != nil {
		return nil, err
	}
	live, err := subscriptionOf(ctx, client, namespace, pkg)
	if err != nil {
		return nil, err
	}
	if live == nil {
		return nil, olm.Refusef("no subscription of the namespace %s is to the package %s, so there is nothing to upgrade; 'run bundle' installs it", namespace, pkg)
	}
	text := func(fields ...string) string { return kube.StringAt(live.Object, fields...) }
	i := &Installed{
		Subscription: live.GetName(), CSV: text("status", "installedCSV"), Channel: text("spec", "channel"),
		Catalog: text("spec", "sourceNamespace") + "/" + text("spec", "source"),
	}
	if i.CSV == "" {
		return nil, olm.Refusef("%s has installed nothing yet, so there is nothing to upgrade; 'run bundle' completes what it has begun", kube.FullName(live))
	}
	if i.Channel == "" {
		i.Channel = Channel
	}
	return i, nil
}

// Upgrade replaces an installed operator by the one of a bundle, whose catalog must say that it replaces it,
// and waits until it works, or ctx ends. An upgrade that was interrupted is completed. A catalog that
// others use too stays as it is: the subscription gets one of its own.
func Upgrade(ctx context.Context, o RunOptions, installed *Installed) error {
	o.CleanUp = false // it would take the custom resources along
	r := &run{RunOptions: o, subscription: installed.Subscription, former: installed.CSV}
	r.Reportf("Found existing subscription with name %s and namespace %s", installed.Subscription, r.Namespace)
	if installed.CSV == r.Bundle.CSV {
		r.Reportf("%s is installed already", r.Bundle.CSV)
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

// UpgradeObjects are what Upgrade would apply before it turns the subscription to them.
func UpgradeObjects(ctx context.Context, o RunOptions, installed *Installed) ([]*kube.Object, error) {
	r := &run{RunOptions: o, subscription: installed.Subscription, former: installed.CSV}
	objects, err := r.upgradeObjects(ctx)
	if err != nil {
		return nil, err
	}
	return append(objects.registry, objects.catalog), nil
}

func (r *run) upgradeObjects(ctx context.Context) (*objectSet, error) {
	if err := r.ownCatalog(ctx); err != nil {
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

// ownCatalog refuses to take the place of a CatalogSource that neither a run nor operator-sdk has made.
func (r *run) ownCatalog(ctx context.Context) error {
	live, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CatalogSourceKind, r.Namespace, CatalogName(r.Bundle.Package)))
	if err != nil || live == nil || isOurs(live, r.Bundle.Package) || kube.ValueAt(live.Object, "spec", "publisher") == "operator-sdk" {
		return err
	}
	return olm.Refusef("%s is not of this command, which would take its place; delete or rename it, or choose another namespace", kube.FullName(live))
}

// subscribe turns the subscription to the catalog of the upgrade.
func (r *run) subscribe(ctx context.Context, o *objectSet, installed *Installed) error {
	wanted := r.Namespace + "/" + o.catalog.GetName()
	if installed.Catalog != wanted {
		r.Reportf("the subscription %s takes its upgrades from the CatalogSource %s now, instead of %s", installed.Subscription, wanted, installed.Catalog)
	}
	patch := map[string]any{"spec": map[string]any{"source": o.catalog.GetName(), "sourceNamespace": r.Namespace, "channel": r.Bundle.Channel}}
	path, err := r.Client.Path(ctx, kube.Named(olm.V1Alpha1, "Subscription", r.Namespace, installed.Subscription), r.Namespace)
	if err == nil {
		err = kube.Retry(ctx, func() error { return r.Client.Do(ctx, http.MethodPatch, path, kube.MergePatch, patch, nil) })
	}
	if err != nil {
		return fmt.Errorf("changing the subscription %s/%s: %w", r.Namespace, installed.Subscription, olm.ExplainForbidden(err))
	}
	return nil
}
