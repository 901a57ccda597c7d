package release

import (
	"fmt"
	"io"
	"log/slog"
	"slices"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A client is Helm's client with the ownership of the release. Objects get label and owner when they are built from a manifest,
// so that the stored manifest is the one that Helm rendered.
type client struct {
	*kube.Client
	release *Release
	// skipUnserved ignores objects of kinds that the cluster does not serve, which is correct only for deletion.
	skipUnserved bool
	// skipped are kinds that are ignored while the cluster doesn't serve them. It may be nil.
	skipped map[schema.GroupKind]bool
	// clientSide overrides the method of Helm's delete hooks, which is always server-side apply.
	clientSide bool
	// rewriter changes the rendered manifest. It may be nil.
	rewriter *rewriter
	// hooks run the hooks of the action; nil if it has none.
	hooks *hooks
	// adoptable are the objects that Update may take over; nil if none.
	adoptable *adoptable
	// deleteErrors are the errors of Delete, which Helm's uninstallation does not return.
	deleteErrors []error
}

func (r *Release) client() *client {
	c := &client{Client: kube.New(clusterGetter{r.factory, r.namespace}), release: r}
	c.Namespace = r.namespace
	c.SetLogger(slog.DiscardHandler)
	return c
}

// Build implements kube.Interface. The server validates objects when they are applied, so that its schemas need not be loaded.
func (c *client) Build(reader io.Reader, _ bool) (kube.ResourceList, error) {
	data, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	manifest, err := c.rewriter.apply(string(data))
	if err != nil {
		return nil, err
	}
	infos, err := c.release.infos(manifest, func(kind schema.GroupKind) bool { return c.skipUnserved || c.skipped[kind] })
	if err == nil {
		c.hooks.register(string(data), infos)
	}
	return infos, err
}

// IsReachable implements kube.Interface. The following requests fail if the cluster is not reachable.
func (c *client) IsReachable() error { return nil }

// Create implements kube.Interface.
func (c *client) Create(resources kube.ResourceList, options ...kube.ClientCreateOption) (*kube.Result, error) {
	if c.clientSide {
		options = append(slices.Clone(options), kube.ClientCreateOptionServerSideApply(false, false))
	}
	create := func(infos kube.ResourceList) (*kube.Result, error) { return c.Client.Create(infos, options...) }
	if hook := c.hooks.hookOf(resources); hook != nil {
		return c.hooks.create(hook, resources, create)
	}
	return create(resources)
}

// Delete implements kube.Interface.
func (c *client) Delete(resources kube.ResourceList, policy metav1.DeletionPropagation) (*kube.Result, []error) {
	if len(resources) == 0 { // kinds that are not served
		return &kube.Result{}, nil
	}
	if hook := c.hooks.hookOf(resources); hook != nil {
		return c.hooks.delete(hook, resources, func(infos kube.ResourceList) (*kube.Result, []error) { return c.Client.Delete(infos, policy) })
	}
	result, errs := c.Client.Delete(resources, policy)
	c.deleteErrors = append(c.deleteErrors, errs...)
	return result, errs
}

// GetWaiterWithOptions implements kube.InterfaceWaitOptions.
func (c *client) GetWaiterWithOptions(strategy kube.WaitStrategy, options ...kube.WaitOption) (kube.Waiter, error) {
	if c.hooks != nil {
		return hookWaiter{c.hooks}, nil
	}
	return c.Client.GetWaiterWithOptions(strategy, options...)
}

// GetPodList implements kube.Interface, for the logs of hooks.
func (c *client) GetPodList(namespace string, options metav1.ListOptions) (*corev1.PodList, error) {
	if err := c.Client.IsReachable(); err != nil { // creates the connection that GetPodList uses
		return nil, err
	}
	return c.Client.GetPodList(namespace, options)
}

// rewriting returns what the actions that render a chart share. New records get fingerprints.
func (r *Release) rewriting(fingerprints map[string]string, steps ...renderStep) (*action.Configuration, error) {
	client := r.client()
	client.rewriter = r.newRewriter(steps...)
	configuration, err := r.configuration(client, fingerprints)
	if err != nil {
		return nil, err
	}
	configuration.Releases.Driver = recordDriver{configuration.Releases.Driver, client.rewriter}
	return configuration, nil
}

// configuration returns what Helm's actions share. New records get fingerprints.
func (r *Release) configuration(kubeClient kube.Interface, fingerprints map[string]string) (*action.Configuration, error) {
	found, err := r.factory.capabilities.get(r.factory.discovery)
	if err != nil {
		return nil, err
	}
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	configuration.RESTClientGetter = clusterGetter{r.factory, r.namespace}
	configuration.KubeClient = kubeClient
	configuration.Releases = r.storage(fingerprints)
	configuration.Capabilities = found.Copy()
	configuration.HookOutputFunc = func(_, _, _ string) io.Writer { return io.Discard }
	return configuration, nil
}

func (r *Release) errorf(format string, values ...any) error {
	return fmt.Errorf("release %s/%s: "+format, append([]any{r.namespace, r.name}, values...)...)
}
