package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

// reachTimeout is how long a cluster may take to answer at first.
const reachTimeout = 10 * time.Second

// choose finds the cluster to use; nil is for the embedded one.
func (r *localRun) choose(ctx context.Context) (cluster *kube.Client, kubeconfig string, err error) {
	o := r.o
	if o.controlPlane == planeEmbedded {
		return nil, "", nil
	}
	files, home := []string{o.kubeconfig}, false
	switch variable := r.Getenv("KUBECONFIG"); {
	case o.kubeconfig != "":
		if !filepath.IsAbs(o.kubeconfig) {
			files[0] = filepath.Join(r.Dir, o.kubeconfig)
		}
	case variable != "":
		files = filepath.SplitList(variable)
	default:
		home = true
		folder := r.Getenv("HOME")
		if folder == "" {
			folder = r.Getenv("USERPROFILE")
		}
		files[0] = filepath.Join(folder, ".kube", "config")
		if _, err := r.FS.Stat(files[0]); err != nil {
			if o.controlPlane == planeKubeconfig {
				return nil, "", fmt.Errorf("there is no kubeconfig: give --kubeconfig, set KUBECONFIG, or use --control-plane embedded")
			}
			return nil, "", nil
		}
	}
	cluster, err = kube.Load(files...)
	var version string
	if err == nil {
		version, err = cluster.Ping(ctx, reachTimeout)
	}
	if ctx.Err() != nil {
		return nil, "", errInterrupted
	}
	if err != nil {
		if home && o.controlPlane == planeAuto {
			r.progressf("~/.kube/config is not used: %v", err)
			return nil, "", nil
		}
		text := err.Error()
		for _, file := range files {
			// The folder is the machine's, not the user's words.
			text = strings.ReplaceAll(text, file, filepath.Base(file))
		}
		err = errors.New(text)
		return nil, "", fmt.Errorf("%w\ncorrect the kubeconfig, or use --control-plane embedded to run without a cluster", err)
	}
	r.progressf("using the cluster of context %q at %s (Kubernetes %s)", cluster.Context, cluster.URL, version)
	return cluster, strings.Join(files, string(filepath.ListSeparator)), nil
}

// embed starts a control plane with controllers, a scheduler and a simulated node.
func (r *localRun) embed(ctx context.Context) (*kube.Client, string, error) {
	find := controlplane.DefaultOptions(r.Getenv)
	find.Parts, find.NoDownload, find.Environ = controlplane.WorkloadParts(), true, r.Environ
	find.Progress = func(e controlplane.Event) { r.progressf("%s", e.Message) }
	assets, err := controlplane.Ensure(ctx, find)
	if err != nil && find.KubebuilderAssets != "" {
		// The usual download for tests has neither controllers nor a scheduler.
		find.KubebuilderAssets = ""
		assets, err = controlplane.Ensure(ctx, find)
	}
	if err != nil {
		return nil, "", err
	}
	r.progressf("starting a control plane on this machine; its node and containers are simulated: pods become Running and Ready, but nothing runs in them")
	options := controlplane.StartOptions{TempDir: r.Getenv("TMPDIR"), Environ: r.Environ, ServiceAccounts: true}
	if r.plane, err = controlplane.Start(ctx, assets, options); err != nil {
		return nil, "", err
	}
	if err := r.plane.StartWorkloads(ctx, options, r.Now); err != nil {
		return nil, "", err
	}
	cluster, err := kube.New(r.plane.Kubeconfig())
	if err != nil {
		return nil, "", err
	}
	r.progressf("the API server is at %s; to look at it:\n  KUBECONFIG=%s kubectl get all --all-namespaces", r.plane.URL, r.plane.KubeconfigPath())
	return cluster, r.plane.KubeconfigPath(), nil
}

// provideNamespace makes --namespace in an embedded control plane, and looks for it elsewhere.
func (r *localRun) provideNamespace(ctx context.Context, cluster *kube.Client, name string) error {
	o := &kube.Object{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	o.SetName(name)
	if r.plane != nil {
		return cluster.Apply(ctx, o, "")
	}
	err := cluster.Do(ctx, "GET", "/api/v1/namespaces/"+name, "", nil, nil)
	if kube.IsNotFound(err) {
		return fmt.Errorf("--namespace %q: the cluster has no such namespace; make it with 'kubectl create namespace %s'", name, name)
	}
	if kube.IsForbidden(err) {
		return nil // one may be allowed to use it, and not to look at it
	}
	return err
}
