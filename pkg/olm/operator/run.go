package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// RunOptions are the options of Run and Upgrade.
type RunOptions struct {
	Client    *kube.Client
	Namespace string
	Bundle    Bundle
	Mode      InstallMode
	Serving   Serving
	// PushCatalog pushes an image of the catalog and returns its name; nil serves the catalog from ConfigMaps. It is called after
	// all other checks.
	PushCatalog func(context.Context) (image string, err error)
	// CleanUp removes all created objects after a failure.
	CleanUp bool

	olm.Reporter
}

// run is one installation or upgrade.
type run struct {
	RunOptions
	// groupCreated reports whether this run created the OperatorGroup.
	groupCreated bool
	// subscription is the name of the Subscription, former the name of the replaced ClusterServiceVersion.
	subscription, former string
	// anyUser reports whether the namespace assigns user IDs to pods, as in OpenShift.
	anyUser bool
	// unresolved counts consecutive reads in which OLM could not resolve the Subscription.
	unresolved int
}

// Run installs the operator of a bundle with OLM and waits until it is ready or ctx ends. It completes an interrupted run. A dry
// run verifies first that the cluster accepts all objects.
func Run(ctx context.Context, o RunOptions) error {
	r := &run{RunOptions: o, subscription: subscriptionName(o.Bundle.CSV)}
	targets, group, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	err = r.install(ctx, targets, group)
	return r.finish(ctx, err)
}

// finish removes all created objects after an error, if CleanUp is set.
func (r *run) finish(ctx context.Context, err error) error {
	if err == nil || !r.CleanUp {
		return err
	}
	cleanupCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	r.Reportf("removing all created objects, because of --cleanup-on-failure")
	_, failed := Cleanup(cleanupCtx, CleanupOptions{
		Client: r.Client, Namespace: r.Namespace, Package: r.Bundle.Package, DeleteCRDs: true, DeleteGroups: r.groupCreated, Reporter: r.Reporter,
	})
	if failed != nil {
		return diag.Explain(errors.Join(err, fmt.Errorf("cannot remove the created objects: %w", failed)))
	}
	return err
}

// prepare verifies that the bundle can be installed in the namespace.
func (r *run) prepare(ctx context.Context) (targets []string, group *kube.Object, err error) {
	if err := checkCluster(ctx, r.Client, r.Namespace); err != nil {
		return nil, nil, err
	}
	if err := r.checkInstalled(ctx); err != nil {
		return nil, nil, err
	}
	if err := r.checkCatalog(ctx); err != nil {
		return nil, nil, err
	}
	if err := r.readNamespace(ctx); err != nil {
		return nil, nil, err
	}
	return r.group(ctx)
}

// uidRange is OpenShift's annotation of namespaces that assign user IDs to pods.
const uidRange = "openshift.io/sa.scc.uid-range"

// readNamespace sets anyUser.
func (r *run) readNamespace(ctx context.Context) error {
	namespace, err := r.Client.Get(ctx, kube.Named("v1", "Namespace", "", r.Namespace))
	r.anyUser = namespace != nil && namespace.GetAnnotations()[uidRange] != ""
	return err
}

// checkCluster returns an error if OLM or the namespace does not exist.
func checkCluster(ctx context.Context, client *kube.Client, namespace string) error {
	crd, err := client.Get(ctx, kube.Named(kube.CRDVersion, kube.CRDKind, "", "subscriptions."+olm.Group))
	if err != nil {
		return olm.ExplainForbidden(err)
	}
	if crd == nil {
		return fmt.Errorf("OLM is not installed; 'operon olm install' installs it")
	}
	found, err := client.Get(ctx, kube.Named("v1", "Namespace", "", namespace))
	if err != nil {
		return olm.ExplainForbidden(err)
	}
	if found == nil {
		return fmt.Errorf("namespace %s not found; 'kubectl create namespace %[1]s' creates it", namespace)
	}
	return nil
}

// findSubscription returns the Subscription to a package in a namespace; nil if there is none.
func findSubscription(ctx context.Context, client *kube.Client, namespace, pkg string) (*kube.Object, error) {
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

// checkInstalled returns an error if the package is already installed, unless by an interrupted run of the same version.
func (r *run) checkInstalled(ctx context.Context) error {
	subscription, err := findSubscription(ctx, r.Client, r.Namespace, r.Bundle.Package)
	if err != nil {
		return err
	}
	if subscription == nil {
		csv, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CSVKind, r.Namespace, r.Bundle.CSV))
		if err != nil {
			return err
		}
		if csv != nil && csv.GetLabels()["olm.copiedFrom"] != "" {
			return fmt.Errorf("%s is already installed for all namespaces, in the namespace %s; 'operon cleanup %s' there removes it", r.Bundle.CSV, csv.GetLabels()["olm.copiedFrom"], r.Bundle.Package)
		}
		if csv != nil {
			return fmt.Errorf("%s already exists in the namespace without a Subscription; 'operon cleanup %s' removes it", kube.FullName(csv), r.Bundle.Package)
		}
		return nil
	}
	installed := kube.StringAt(subscription.Object, "status", "installedCSV")
	if isManaged(subscription, r.Bundle.Package) && kube.ValueAt(subscription.Object, "spec", "startingCSV") == r.Bundle.CSV && (installed == "" || installed == r.Bundle.CSV) {
		r.Reportf("%s already exists from an earlier run; completing it", kube.FullName(subscription))
		r.subscription = subscription.GetName()
		return nil
	}
	state := "has not installed it yet"
	if installed != "" {
		state = "has installed " + installed
	}
	return fmt.Errorf("%s already subscribes to the package %s and %s; 'operon run bundle-upgrade' replaces it, 'operon cleanup %[2]s' removes it",
		kube.FullName(subscription), r.Bundle.Package, state)
}

// install applies the objects and waits until the operator is ready.
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
		if err := r.apply(ctx, objects.group); err != nil {
			return err
		}
		r.groupCreated = true
		r.Reportf("OperatorGroup %q created", objects.group.GetName())
	}
	if err := r.serve(ctx, objects); err != nil {
		return err
	}
	if err := r.apply(ctx, objects.subscription); err != nil {
		return err
	}
	r.Reportf("Created Subscription: %s", objects.subscription.GetName())
	if err := r.follow(ctx); err != nil {
		return err
	}
	r.Reportf("OLM has successfully installed %q", r.Bundle.CSV)
	return nil
}

// apply applies an object, and repeats after transient errors.
func (r *run) apply(ctx context.Context, object *kube.Object) error {
	err := kube.Retry(ctx, func() error { _, err := r.Client.ApplyOrRecreate(ctx, object); return err })
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return r.failed(ctx, fmt.Errorf("applying %s: %w", kube.FullName(object), context.Cause(ctx)))
	}
	return fmt.Errorf("applying %s: %w", kube.FullName(object), err)
}

// check verifies with a dry run that the cluster accepts all objects.
func (r *run) check(ctx context.Context, objects *objectSet) error {
	var refused diag.Findings
	for _, object := range objects.all() {
		err := kube.Retry(ctx, func() error { return r.Client.Check(ctx, object, object.GetNamespace()) })
		switch {
		case err == nil, kube.IsImmutable(err):
		case kube.IsStatus(err):
			refused = append(refused, olm.Refused(object, err))
		default:
			return fmt.Errorf("dry run of %s: %w", kube.FullName(object), err)
		}
	}
	if len(refused) > 0 {
		return diag.List("the cluster rejects these objects, and nothing was changed:", refused)
	}
	return nil
}
