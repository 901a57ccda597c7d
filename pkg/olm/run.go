package olm

import (
	"context"
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// RunChannel is the channel of a catalog that holds one bundle to try out.
const RunChannel = "operator-sdk-run-bundle"

// Runnable is a bundle that can be given to OLM.
type Runnable struct {
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
	Bundle    Runnable
	Mode      InstallMode
	Serving   Serving
	// PushCatalog makes an image of the catalog and names it, for Serving; nil is for a registry of ours. It
	// is called once it is sure that the bundle can be installed here.
	PushCatalog func(context.Context) (image string, err error)
	// CleanUp removes what was made when it does not work out.
	CleanUp bool
	// Progress is told what happens; nil is for nobody.
	Progress func(Event)
}

// run is one attempt to bring an operator to OLM.
type run struct {
	RunOptions
	told string
	// groupMade tells that the OperatorGroup is this run's, deployment is the registry as it was brought.
	groupMade bool
	// subscription is its name, former the ClusterServiceVersion that is replaced.
	subscription, former string
	// unresolved counts how often in a row OLM saw no way to install the bundle.
	unresolved int
}

func (r *run) say(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(Event{Message: fmt.Sprintf(format, args...)})
	}
}

// wait says what is waited for, once for as long as it stays the same.
func (r *run) wait(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if message != r.told && r.Progress != nil {
		r.told = message
		r.Progress(Event{Message: message, Waiting: true})
	}
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
	r.say("removing what was made, as --cleanup-on-failure says")
	_, failed := Cleanup(rest, CleanupOptions{
		Client: r.Client, Namespace: r.Namespace, Package: r.Bundle.Package, DeleteCRDs: true, DeleteGroups: r.groupMade, Progress: r.Progress,
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
	crd, err := client.Get(ctx, kube.Named(crdGroup, crdKind, "", "subscriptions."+group))
	if err != nil {
		return refusedUser(err)
	}
	if crd == nil {
		return &RefusedError{"OLM is not in the cluster; 'olm install' brings it there"}
	}
	found, err := client.Get(ctx, kube.Named("v1", "Namespace", "", namespace))
	if err != nil {
		return refusedUser(err)
	}
	if found == nil {
		return &RefusedError{fmt.Sprintf("there is no namespace %s; 'kubectl create namespace %[1]s' makes it", namespace)}
	}
	return nil
}

// subscriptionOf finds the subscription to a package in a namespace, nil where there is none.
func subscriptionOf(ctx context.Context, client *kube.Client, namespace, pkg string) (*kube.Object, error) {
	all, err := client.List(ctx, olmResource("subscriptions", "Subscription"), namespace, nil)
	if err != nil {
		return nil, refusedUser(err)
	}
	for _, s := range all {
		if at(s.Object, "spec", "name") == pkg {
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
		csv, err := r.Client.Get(ctx, kube.Named(v1alpha1, csvKind, r.Namespace, r.Bundle.CSV))
		if err != nil {
			return err
		}
		if csv != nil && csv.GetLabels()["olm.copiedFrom"] != "" {
			return &RefusedError{fmt.Sprintf("%s is installed for all namespaces already, in the namespace %s; 'cleanup %s' there removes it", r.Bundle.CSV, csv.GetLabels()["olm.copiedFrom"], r.Bundle.Package)}
		}
		if csv != nil {
			return &RefusedError{fmt.Sprintf("%s is in the namespace already, and no subscription belongs to it; 'cleanup %s' removes it", kube.FullName(csv), r.Bundle.Package)}
		}
		return nil
	}
	installed, _ := at(subscription.Object, "status", "installedCSV").(string)
	if isOurs(subscription, r.Bundle.Package) && at(subscription.Object, "spec", "startingCSV") == r.Bundle.CSV && (installed == "" || installed == r.Bundle.CSV) {
		r.say("%s is there already, of a run before; it is completed", kube.FullName(subscription))
		r.subscription = subscription.GetName()
		return nil
	}
	what := "is not installed yet"
	if installed != "" {
		what = "has installed " + installed
	}
	return &RefusedError{fmt.Sprintf("%s subscribes to the package %s already, and %s; 'run bundle-upgrade' replaces it, 'cleanup %[2]s' removes it",
		kube.FullName(subscription), r.Bundle.Package, what)}
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
		r.say("OperatorGroup %q created", objects.group.GetName())
	}
	if err := r.serve(ctx, objects); err != nil {
		return err
	}
	if err := r.bring(ctx, objects.subscription); err != nil {
		return err
	}
	r.say("Created Subscription: %s", objects.subscription.GetName())
	if err := r.follow(ctx); err != nil {
		return err
	}
	r.say("OLM has successfully installed %q", r.Bundle.CSV)
	return nil
}

// bring applies an object, and again where the cluster was not ready for it.
func (r *run) bring(ctx context.Context, object *kube.Object) error {
	err := retry(ctx, func() error { _, err := r.Client.Bring(ctx, object); return err })
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return r.failed(ctx, fmt.Errorf("applying %s: %w", kube.FullName(object), context.Cause(ctx)))
	}
	return fmt.Errorf("applying %s: %w", kube.FullName(object), err)
}

// check asks the cluster whether it would take every object.
func (r *run) check(ctx context.Context, objects *runObjects) error {
	var refused []string
	for _, object := range objects.all() {
		err := retry(ctx, func() error { return r.Client.Check(ctx, object, object.GetNamespace()) })
		switch {
		case err == nil, kube.IsImmutable(err):
		case isStatus(err):
			refused = append(refused, fmt.Sprintf("  %s: %s", kube.FullName(object), brief(err)))
		default:
			return fmt.Errorf("asking the cluster about %s: %w", kube.FullName(object), err)
		}
	}
	if len(refused) > 0 {
		return &RefusedError{"the cluster does not take what is needed, and nothing was changed:\n" + strings.Join(refused, "\n")}
	}
	return nil
}
