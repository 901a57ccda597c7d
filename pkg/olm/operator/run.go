package operator

import (
	"context"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// Channel is the channel of a catalog that holds one bundle to try out.
const Channel = "operator-sdk-run-bundle"

// Bundle is a bundle that can be given to OLM.
type Bundle struct {
	// Package and CSV are its names, Channel is where the catalog has it.
	Package, CSV, Channel string
	// Image is where nodes pull the bundle from; empty where the catalog holds its manifests.
	Image string
	// Catalog is a file-based catalog with the bundle, as YAML.
	Catalog []byte
	// Modes are the install modes that its ClusterServiceVersion supports; Converts tells of conversion webhooks.
	Modes    []string
	Converts bool
}

// RunOptions tell Run and Upgrade what to do.
type RunOptions struct {
	Client    *kube.Client
	Namespace string
	Bundle    Bundle
	Mode      InstallMode
	Serving   Serving
	// PushCatalog makes an image of the catalog and names it, for Serving; nil is for a registry of ours. It
	// is called once it is sure that the bundle can be installed here.
	PushCatalog func(context.Context) (image string, err error)
	// CleanUp removes what was made when it does not work out.
	CleanUp bool

	olm.Reporter
}

// run is one attempt to bring an operator to OLM.
type run struct {
	RunOptions
	// groupMade tells that the OperatorGroup is this run's, deployment is the registry as it was brought.
	groupMade bool
	// subscription is its name, former the ClusterServiceVersion that is replaced.
	subscription, former string
	// unresolved counts how often in a row OLM saw no way to install the bundle.
	unresolved int
}

// Run installs the operator of a bundle through OLM and waits until it works, or ctx ends. A run that
// was interrupted is completed. Before it changes anything it asks whether it may.
func Run(ctx context.Context, o RunOptions) error {
	r := &run{RunOptions: o, subscription: subscriptionName(o.Bundle.CSV)}
	targets, group, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	err = r.install(ctx, targets, group)
	return r.finish(ctx, err)
}

// finish adds what to do to an error, and removes what was made if that is wanted.
func (r *run) finish(ctx context.Context, err error) error {
	if err == nil || !r.CleanUp {
		return err
	}
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	r.Reportf("removing what was made, as --cleanup-on-failure says")
	_, failed := Cleanup(rest, CleanupOptions{
		Client: r.Client, Namespace: r.Namespace, Package: r.Bundle.Package, DeleteCRDs: true, DeleteGroups: r.groupMade, Reporter: r.Reporter,
	})
	if failed != nil {
		return fmt.Errorf("%w\nand it could not be removed: %v", err, failed)
	}
	return err
}

// prepare finds out whether the bundle can be installed here.
func (r *run) prepare(ctx context.Context) (targets []string, group *kube.Object, err error) {
	if err := present(ctx, r.Client, r.Namespace); err != nil {
		return nil, nil, err
	}
	if err := r.unclaimed(ctx); err != nil {
		return nil, nil, err
	}
	if err := r.ownCatalog(ctx); err != nil {
		return nil, nil, err
	}
	return r.group(ctx)
}

// present refuses to work without OLM or without the namespace.
func present(ctx context.Context, client *kube.Client, namespace string) error {
	crd, err := client.Get(ctx, kube.Named(kube.CRDVersion, kube.CRDKind, "", "subscriptions."+olm.Group))
	if err != nil {
		return olm.ExplainForbidden(err)
	}
	if crd == nil {
		return olm.Refusef("OLM is not in the cluster; 'olm install' brings it there")
	}
	found, err := client.Get(ctx, kube.Named("v1", "Namespace", "", namespace))
	if err != nil {
		return olm.ExplainForbidden(err)
	}
	if found == nil {
		return olm.Refusef("there is no namespace %s; 'kubectl create namespace %[1]s' makes it", namespace)
	}
	return nil
}

// subscriptionOf finds the subscription to a package in a namespace, nil where there is none.
func subscriptionOf(ctx context.Context, client *kube.Client, namespace, pkg string) (*kube.Object, error) {
	all, err := client.List(ctx, olm.ResourceOf("subscriptions", "Subscription"), namespace, nil)
	if err != nil {
		return nil, olm.ExplainForbidden(err)
	}
	for _, s := range all {
		if kube.ValueAt(s.Object, "spec", "name") == pkg {
			return s, nil
		}
	}
	return nil, nil
}

// unclaimed refuses a package that is installed already, unless by an interrupted run of the same version.
func (r *run) unclaimed(ctx context.Context) error {
	subscription, err := subscriptionOf(ctx, r.Client, r.Namespace, r.Bundle.Package)
	if err != nil {
		return err
	}
	if subscription == nil {
		csv, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CSVKind, r.Namespace, r.Bundle.CSV))
		if err != nil {
			return err
		}
		if csv != nil && csv.GetLabels()["olm.copiedFrom"] != "" {
			return olm.Refusef("%s is installed for all namespaces already, in the namespace %s; 'cleanup %s' there removes it", r.Bundle.CSV, csv.GetLabels()["olm.copiedFrom"], r.Bundle.Package)
		}
		if csv != nil {
			return olm.Refusef("%s is in the namespace already, and no subscription belongs to it; 'cleanup %s' removes it", kube.FullName(csv), r.Bundle.Package)
		}
		return nil
	}
	installed := kube.StringAt(subscription.Object, "status", "installedCSV")
	if isOurs(subscription, r.Bundle.Package) && kube.ValueAt(subscription.Object, "spec", "startingCSV") == r.Bundle.CSV && (installed == "" || installed == r.Bundle.CSV) {
		r.Reportf("%s is there already, of a run before; it is completed", kube.FullName(subscription))
		r.subscription = subscription.GetName()
		return nil
	}
	what := "is not installed yet"
	if installed != "" {
		what = "has installed " + installed
	}
	return olm.Refusef("%s subscribes to the package %s already, and %s; 'run bundle-upgrade' replaces it, 'cleanup %[2]s' removes it",
		kube.FullName(subscription), r.Bundle.Package, what)
}

// install brings the objects into the cluster, one after the other, and waits.
func (r *run) install(ctx context.Context, targets []string, group *kube.Object) error {
	if err := r.push(ctx); err != nil {
		return err
	}
	objects, err := r.objects(targets)
	if err != nil {
		return err
	}
	if err := r.check(ctx, objects); err != nil {
		return err
	}
	if group == nil {
		if err := r.bring(ctx, objects.group); err != nil {
			return err
		}
		r.groupMade = true
		r.Reportf("OperatorGroup %q created", objects.group.GetName())
	}
	if err := r.serve(ctx, objects); err != nil {
		return err
	}
	if err := r.bring(ctx, objects.subscription); err != nil {
		return err
	}
	r.Reportf("Created Subscription: %s", objects.subscription.GetName())
	if err := r.follow(ctx); err != nil {
		return err
	}
	r.Reportf("OLM has successfully installed %q", r.Bundle.CSV)
	return nil
}

// bring applies an object, and again where the cluster was not ready for it.
func (r *run) bring(ctx context.Context, object *kube.Object) error {
	err := kube.Retry(ctx, func() error { _, err := r.Client.Bring(ctx, object); return err })
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return r.failed(ctx, fmt.Errorf("applying %s: %w", kube.FullName(object), context.Cause(ctx)))
	}
	return fmt.Errorf("applying %s: %w", kube.FullName(object), err)
}

// check asks the cluster whether it would take every object.
func (r *run) check(ctx context.Context, objects *objectSet) error {
	var refused []string
	for _, object := range objects.all() {
		err := kube.Retry(ctx, func() error { return r.Client.Check(ctx, object, object.GetNamespace()) })
		switch {
		case err == nil, kube.IsImmutable(err):
		case kube.IsStatus(err):
			refused = append(refused, fmt.Sprintf("  %s: %s", kube.FullName(object), kube.Brief(err)))
		default:
			return fmt.Errorf("asking the cluster about %s: %w", kube.FullName(object), err)
		}
	}
	if len(refused) > 0 {
		return olm.Refusef("the cluster does not take what is needed, and nothing was changed:\n%s", strings.Join(refused, "\n"))
	}
	return nil
}
