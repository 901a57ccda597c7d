package olm

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// cleanUpTime is how long the removal of a failed run may take.
const cleanUpTime = time.Minute

// CleanupOptions tell Cleanup what to do.
type CleanupOptions struct {
	Client             *kube.Client
	Namespace, Package string
	// DeleteCRDs takes the operator's definitions along, with all of their custom resources.
	DeleteCRDs bool
	// DeleteGroups takes the OperatorGroup along if a run has made it and nothing else needs it.
	DeleteGroups bool
	// DryRun tells what would go, and removes nothing.
	DryRun bool
	// Progress is told what happens; nil is for nobody.
	Progress func(Event)
}

// cleanup is one removal.
type cleanup struct {
	CleanupOptions
	told    string
	removed int
}

func (c *cleanup) say(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(Event{Message: fmt.Sprintf(format, args...)})
	}
}

func (c *cleanup) wait(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if message != c.told && c.Progress != nil {
		c.told = message
		c.Progress(Event{Message: message, Waiting: true})
	}
}

// Cleanup removes an operator that was installed from a package, with everything that Run has made, and
// counts what it has removed. What others have made stays, such as a catalog or an OperatorGroup of the
// user's. The order: the subscription, so that nothing is installed again; custom resources, while the
// operator can still do what their finalizers wait for; their definitions; the ClusterServiceVersion, with
// which OLM takes all it made for it; the catalog. A removal that was interrupted is completed.
func Cleanup(ctx context.Context, o CleanupOptions) (removed int, err error) {
	c := &cleanup{CleanupOptions: o}
	err = c.all(ctx)
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	if err != nil {
		err = fmt.Errorf("%w; clean up again to go on from here", refusedUser(err))
	}
	return c.removed, err
}

func (c *cleanup) all(ctx context.Context) error {
	subscription, err := subscriptionOf(ctx, c.Client, c.Namespace, c.Package)
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
	if c.DeleteGroups {
		if err := c.groups(ctx); err != nil {
			return err
		}
	}
	if err := c.component(ctx); err != nil {
		return err
	}
	return c.removeLeftovers(ctx, left)
}

// componentLabel is what OLM puts on everything that belongs to an operator.
func (c *cleanup) componentLabel() string {
	return group + "/" + c.componentName()
}

func (c *cleanup) componentName() string {
	name := c.Package + "." + c.Namespace
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], ".-_")
	}
	return name
}

// csvs are the ClusterServiceVersions of the package: those that OLM has marked, and that the subscription names.
func (c *cleanup) csvs(ctx context.Context, subscription *kube.Object) ([]*kube.Object, error) {
	all, err := c.Client.List(ctx, olmResource("clusterserviceversions", csvKind), c.Namespace, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	if subscription != nil {
		for _, fields := range [][]string{{"status", "installedCSV"}, {"status", "currentCSV"}, {"spec", "startingCSV"}} {
			if name, ok := at(subscription.Object, fields...).(string); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	return slices.DeleteFunc(all, func(o *kube.Object) bool {
		_, marked := o.GetLabels()[c.componentLabel()]
		return o.GetLabels()["olm.copiedFrom"] != "" || !marked && !slices.Contains(names, o.GetName())
	}), nil
}

// definitions deletes the custom resources of the operator, and waits for its finalizers, and then their
// definitions. Those that another operator serves too stay, with their resources.
func (c *cleanup) definitions(ctx context.Context, csvs []*kube.Object) error {
	names, err := c.owned(ctx, csvs)
	if err != nil {
		return err
	}
	var crds []*kube.Object
	for _, name := range names {
		crd, err := c.Client.Get(ctx, kube.Named(crdGroup, crdKind, "", name))
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
			c.say("kept %s, which %s serves too", kube.FullName(crd), others)
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
		if ctx.Err() != nil && len(csvs) > 0 {
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
		list, _ := at(csv.Object, "spec", "customresourcedefinitions", "owned").([]any)
		for _, item := range list {
			if name, _ := at(item, "name").(string); name != "" {
				names = append(names, name)
			}
		}
	}
	marked, err := c.Client.ListNames(ctx, crdResource(), "", url.Values{"labelSelector": {c.componentLabel()}})
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

// servedElsewhere names another operator that serves a definition, or nothing.
func (c *cleanup) servedElsewhere(ctx context.Context, crd string) (string, error) {
	all, err := c.Client.List(ctx, olmResource("clusterserviceversions", csvKind), "", nil)
	if err != nil {
		return "", err
	}
	for _, csv := range all {
		_, marked := csv.GetLabels()[c.componentLabel()]
		if csv.GetLabels()["olm.copiedFrom"] != "" || marked {
			continue
		}
		list, _ := at(csv.Object, "spec", "customresourcedefinitions", "owned").([]any)
		if csv.GetNamespace() != c.Namespace && slices.ContainsFunc(list, func(item any) bool { return at(item, "name") == crd }) {
			return kube.FullName(csv), nil
		}
	}
	return "", nil
}

// resources are the custom resources of a definition, in all namespaces.
func (c *cleanup) resources(ctx context.Context, crd *kube.Object) ([]*kube.Object, error) {
	text := func(fields ...string) string { s, _ := at(crd.Object, fields...).(string); return s }
	version := ""
	list, _ := at(crd.Object, "spec", "versions").([]any)
	for _, item := range list {
		if name, _ := at(item, "name").(string); at(item, "storage") == true || version == "" && at(item, "served") == true {
			version = name
		}
	}
	r := kube.Resource{APIVersion: text("spec", "group") + "/" + version, Name: text("spec", "names", "plural"), Kind: text("spec", "names", "kind")}
	return c.Client.ListNames(ctx, r, "", nil)
}

// catalog removes the catalog and its registry, if a run has made them.
func (c *cleanup) catalog(ctx context.Context) error {
	name := CatalogName(c.Package)
	live, err := c.Client.Get(ctx, kube.Named(v1alpha1, catalogKind, c.Namespace, name))
	if err != nil {
		return err
	}
	var objects []*kube.Object
	if live != nil && (isOurs(live, c.Package) || at(live.Object, "spec", "publisher") == "operator-sdk") {
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

// groups removes the OperatorGroup of a run once no subscription of the namespace needs it.
func (c *cleanup) groups(ctx context.Context) error {
	others, err := c.Client.ListNames(ctx, olmResource("subscriptions", "Subscription"), c.Namespace, nil)
	if err != nil {
		return err
	}
	live, err := c.Client.Get(ctx, kube.Named(groupVersion, "OperatorGroup", c.Namespace, groupName))
	if err != nil || live == nil {
		return err
	}
	if len(others) > 0 {
		c.say("kept %s, which %s needs", kube.FullName(live), kube.FullName(others[0]))
		return nil
	}
	return c.remove(ctx, live)
}

// component removes OLM's record of the operator, which OLM makes again for as long as anything is marked.
func (c *cleanup) component(ctx context.Context) error {
	record := kube.Named(group+"/v1", "Operator", "", c.componentName())
	live, err := c.Client.Get(ctx, record)
	if err != nil || live == nil {
		return err
	}
	if left, _ := at(live.Object, "status", "components", "refs").([]any); len(left) > 0 && !c.DeleteCRDs {
		return nil
	}
	return c.remove(ctx, live)
}

// remove deletes objects, and waits until they are gone.
func (c *cleanup) remove(ctx context.Context, objects ...*kube.Object) error {
	if c.DryRun {
		for _, o := range objects {
			c.say("%s goes", kube.FullName(o))
			c.removed++
		}
		return nil
	}
	for _, o := range objects {
		if err := retry(ctx, func() error { return c.Client.Delete(ctx, o, o.GetNamespace()) }); err != nil {
			return fmt.Errorf("deleting %s: %w", kube.FullName(o), err)
		}
	}
	for _, o := range objects {
		for {
			live, err := c.Client.Get(ctx, o)
			if err != nil && !passes(err) {
				return err
			}
			if err == nil && (live == nil || live.GetUID() != o.GetUID()) {
				c.say("%s %q deleted", strings.ToLower(o.GetKind()), o.GetName())
				c.removed++
				break
			}
			why := ""
			if live != nil && len(live.GetFinalizers()) > 0 {
				why = ", held by " + strings.Join(live.GetFinalizers(), ", ")
			}
			c.wait("waiting for %s to go%s", kube.FullName(o), why)
			if !pause(ctx) {
				return fmt.Errorf("%s does not go%s: %w", kube.FullName(o), why, context.Cause(ctx))
			}
		}
	}
	return nil
}
