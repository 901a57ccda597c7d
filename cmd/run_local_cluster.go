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

// reachTimeout is how long a cluster may take to answer at first.
const reachTimeout = 10 * time.Second

// choose finds the cluster to use, and leaves it nil for an embedded one; webhooks follow from it.
func (r *localRun) choose(ctx context.Context) error {
	if r.o.controlPlane != planeEmbedded {
		if err := r.reach(ctx); err != nil {
			return err
		}
	}
	if r.cluster != nil {
		if err := r.permitted(ctx); err != nil {
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

// permitted refuses a cluster that the run would fail in for want of rights, or of the namespace.
func (r *localRun) permitted(ctx context.Context) error {
	if slices.ContainsFunc(r.o.config.Resources(), project.Resource.HasAPI) {
		allowed, err := r.cluster.Allowed(ctx, "patch", "apiextensions.k8s.io", "customresourcedefinitions")
		if err == nil && !allowed { // without an answer, the attempt tells
			return errors.New("the cluster refuses this user: to patch customresourcedefinitions.apiextensions.k8s.io is forbidden; ask for the rights, or use --control-plane embedded")
		}
	}
	if r.o.namespace == "" {
		return nil
	}
	return r.provideNamespace(ctx, r.o.namespace)
}

// embed starts a control plane with controllers, a scheduler and a simulated node.
func (r *localRun) embed(ctx context.Context) error {
	find := controlplane.DefaultOptions(r.Environ)
	find.Parts, find.NoDownload = controlplane.WorkloadParts(), true
	find.Progress = func(e controlplane.Event) { r.progressf("%s", e.Message) }
	assets, err := controlplane.Ensure(ctx, find)
	if err != nil && find.KubebuilderAssets != "" {
		// The usual download for tests has neither controllers nor a scheduler.
		find.KubebuilderAssets = ""
		assets, err = controlplane.Ensure(ctx, find)
	}
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
	r.progressf("the API server is at %s; to look at it:\n  KUBECONFIG=%s kubectl get all --all-namespaces", r.plane.URL, r.kubeconfig)
	return nil
}

// provideNamespace makes --namespace in an embedded control plane, and looks for it elsewhere.
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
		return nil // one may be allowed to use it, and not to look at it
	}
	return err
}
