package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
)

// reachTimeout is the timeout of the first request to a cluster.
const reachTimeout = 10 * time.Second

// choose sets the cluster, nil for an embedded one, and whether webhooks are used.
func (r *localRun) choose(ctx context.Context) error {
	if r.o.controlPlane != planeEmbedded {
		if err := r.reach(ctx); err != nil {
			return err
		}
	}
	if r.cluster != nil {
		if err := r.checkPermissions(ctx); err != nil {
			return err
		}
	}
	if !r.webhooks() {
		return nil
	}
	if r.cluster != nil && !r.o.webhooksAsked {
		r.progressf("webhooks are left out: the cluster may not be able to call this machine; --webhooks registers them nevertheless")
		r.o.webhooks = false
		return nil
	}
	return local.CheckPort(r.o.root)
}

// reach connects to the cluster of the kubeconfig, if there is one.
func (r *localRun) reach(ctx context.Context) error {
	files, home := r.kubeconfigFiles(r.o.kubeconfig)
	if home {
		if _, err := r.FS.Stat(files[0].path); err != nil {
			if r.o.controlPlane == planeKubeconfig {
				return fmt.Errorf("there is no kubeconfig: give --kubeconfig, set KUBECONFIG, or use --control-plane embedded")
			}
			return nil
		}
	}
	cluster, err := r.openCluster(ctx, files)
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		if home && r.o.controlPlane == planeAuto {
			r.progressf("~/.kube/config is not used: %v", err)
			return nil
		}
		return fmt.Errorf("%w\ncorrect the kubeconfig, or use --control-plane embedded to run without a cluster", err)
	}
	r.cluster, r.kubeconfig = cluster, strings.Join(paths(files), string(filepath.ListSeparator))
	return nil
}

// checkPermissions returns an error if permissions or the namespace are missing in the cluster.
func (r *localRun) checkPermissions(ctx context.Context) error {
	if slices.ContainsFunc(r.o.config.Resources(), project.Resource.HasAPI) {
		allowed, err := r.cluster.Allowed(ctx, "patch", "apiextensions.k8s.io", "customresourcedefinitions")
		if err == nil && !allowed { // on failure, the installation reports it
			return errors.New("the cluster rejects this user: to patch customresourcedefinitions.apiextensions.k8s.io is forbidden; ask for the rights, or use --control-plane embedded")
		}
	}
	if r.o.namespace == "" {
		return nil
	}
	return r.provideNamespace(ctx, r.o.namespace)
}

// embed starts a control plane with controllers, a scheduler and a simulated node.
func (r *localRun) embed(ctx context.Context) error {
	assets, err := r.controlPlaneAssets(ctx, r.controlPlaneOptions(controlplane.WorkloadParts()...))
	if err != nil {
		return err
	}
	r.progressf("starting a control plane on this machine; its node and containers are simulated: pods become Running and Ready, but nothing runs in them")
	options := controlplane.StartOptions{TempDir: r.Getenv("TMPDIR"), Environ: r.Environ, ServiceAccounts: true, WithoutRoles: true}
	if r.plane, err = controlplane.Start(ctx, assets, options); err != nil {
		return err
	}
	if err := r.plane.StartWorkloads(ctx, options, r.Now); err != nil {
		return err
	}
	if r.cluster, err = kube.New(r.plane.Kubeconfig()); err != nil {
		return err
	}
	r.kubeconfig = r.plane.KubeconfigPath()
	if err := local.WriteKubeconfig(r.o.root, r.plane.Kubeconfig()); err != nil {
		r.progressf("the API server is at %s, its kubeconfig is %s; 'tool kubectl' will not find it: %v", r.plane.URL, r.kubeconfig, err)
		return nil
	}
	r.published = true
	r.progressf("the API server is at %s, its kubeconfig is %s; in another terminal:\n  %s", r.plane.URL, local.KubeconfigFile, r.kubectlHint(ctx))
	return nil
}

// controlPlaneOptions returns the options to find or build programs of a control plane.
func (a *app) controlPlaneOptions(parts ...string) controlplane.EnsureOptions {
	o := controlplane.DefaultOptions(a.Environ)
	o.Parts, o.NoDownload = parts, true
	o.Progress = func(e controlplane.Event) { a.progressf("%s", e.Message) }
	return o
}

// controlPlaneAssets returns the programs of a control plane, from KUBEBUILDER_ASSETS if all of them are there: the usual
// download for tests has neither controllers nor a scheduler.
func (a *app) controlPlaneAssets(ctx context.Context, o controlplane.EnsureOptions) (controlplane.Assets, error) {
	assets, err := controlplane.Ensure(ctx, o)
	if err != nil && o.KubebuilderAssets != "" {
		o.KubebuilderAssets = ""
		return controlplane.Ensure(ctx, o)
	}
	return assets, err
}

// provideNamespace creates --namespace in an embedded control plane, and checks that another cluster has it.
func (r *localRun) provideNamespace(ctx context.Context, name string) error {
	o := &kube.Object{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	o.SetName(name)
	if r.plane != nil {
		return r.cluster.Apply(ctx, o, "")
	}
	err := r.cluster.Do(ctx, "GET", "/api/v1/namespaces/"+name, "", nil, nil)
	if kube.IsNotFound(err) {
		return fmt.Errorf("--namespace %q: the cluster has no such namespace; make it with 'kubectl create namespace %s'", name, name)
	}
	if kube.IsForbidden(err) {
		return nil // the user may be permitted to use it, but not to read it
	}
	return err
}
