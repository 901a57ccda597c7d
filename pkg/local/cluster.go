package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/project"
)

// choose sets the cluster, nil for an embedded one, and whether webhooks are used.
func (r *runner) choose(ctx context.Context) error {
	if r.o.ControlPlane != PlaneEmbedded {
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
	if r.cluster != nil && !r.o.RemoteWebhooks {
		r.progressf("webhooks are left out: the cluster may not be able to call this machine; --webhooks registers them anyway")
		r.o.Webhooks = false
		return nil
	}
	port, err := r.source().webhookPort()
	if err != nil {
		return err
	}
	return r.checkPort(port)
}

// reach connects to the cluster of the kubeconfig, if there is one.
func (r *runner) reach(ctx context.Context) error {
	files := r.o.Locator.Files()
	if files.Default && !files.Exist() {
		if r.o.Preview != nil {
			return errors.New("there is no kubeconfig: pass --kubeconfig, or set KUBECONFIG")
		}
		if r.o.ControlPlane == PlaneKubeconfig || files.Context != "" {
			return errors.New("there is no kubeconfig: pass --kubeconfig, set KUBECONFIG, or use --control-plane embedded")
		}
		return nil
	}
	cluster, err := r.o.Locator.Open(ctx, files)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case diag.IsUsage(err):
		return err
	case err != nil && files.Default && files.Context == "" && r.o.ControlPlane == PlaneAuto:
		r.progressf("~/.kube/config is not used: %v", err)
		return nil
	case err != nil && r.o.Preview != nil:
		return diag.Explain(err, "correct the kubeconfig, or choose another one with --kubeconfig or --context")
	case err != nil:
		return diag.Explain(err, "correct the kubeconfig, or use --control-plane embedded to run without a cluster")
	}
	r.cluster = cluster
	if files.Context != "" {
		chosen, err := r.chooseContext(files.Context)
		if err != nil {
			return err
		}
		files.Paths = append([]string{chosen}, files.Paths...)
	}
	r.kubeconfig = strings.Join(files.Paths, string(filepath.ListSeparator))
	return nil
}

// chooseContext writes a kubeconfig that only names a context, and returns its path. Before others in KUBECONFIG, it makes the manager
// use that context.
func (r *runner) chooseContext(name string) (string, error) {
	file := filepath.Join(r.workspace.Path, "context")
	text, err := json.Marshal(map[string]string{"apiVersion": "v1", "kind": "Config", "current-context": name})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	return file, err
}

// checkPermissions returns an error if permissions or the namespace are missing in the cluster.
func (r *runner) checkPermissions(ctx context.Context) error {
	if r.hasAPIs() && r.o.Preview == nil {
		allowed, err := r.cluster.Allowed(ctx, "patch", "apiextensions.k8s.io", "customresourcedefinitions")
		if err == nil && !allowed { // on failure, the installation reports it
			return errors.New("the cluster rejects this user: to patch customresourcedefinitions.apiextensions.k8s.io is forbidden; ask for the rights, or use --control-plane embedded")
		}
	}
	if r.o.Namespace == "" {
		return nil
	}
	return r.provideNamespace(ctx)
}

// provideNamespace creates Options.Namespace in an embedded control plane, and checks that another cluster has it.
func (r *runner) provideNamespace(ctx context.Context) error {
	name := r.o.Namespace
	if r.plane != nil {
		return r.cluster.Apply(ctx, kube.Named("v1", "Namespace", "", name), "")
	}
	err := r.cluster.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+name, "", nil, nil)
	if kube.IsNotFound(err) {
		return fmt.Errorf("--namespace %q: the cluster has no such namespace; make it with 'kubectl create namespace %s'", name, name)
	}
	if kube.IsForbidden(err) {
		return nil // the user may be permitted to use it, but not to read it
	}
	return err
}

// embed starts a control plane, installs the CRDs, and adds controllers, a scheduler and a simulated node. The garbage collector knows the
// kinds that it finds when it starts, and looks for others only every 30 seconds, so that CRDs must be there before.
func (r *runner) embed(ctx context.Context) error {
	ensure := controlplane.DefaultOptions(r.o.Environ)
	ensure.Parts, ensure.Progress, ensure.HTTP = controlplane.WorkloadParts(), r.o.Progress, r.o.HTTP
	assets, err := controlplane.EnsureBuilt(ctx, ensure)
	if err != nil {
		return err
	}
	r.progressf("starting a control plane on this machine; its node and containers are simulated: pods become Running and Ready, but nothing runs in them")
	if r.plane, err = controlplane.Start(ctx, assets, r.planeOptions()); err != nil {
		return err
	}
	if r.cluster, err = kube.New(r.plane.Kubeconfig()); err != nil {
		return err
	}
	r.kubeconfig = r.plane.KubeconfigPath()
	if r.o.Namespace != "" {
		if err := r.provideNamespace(ctx); err != nil {
			return err
		}
	}
	r.setNamespace()
	if err := r.install(ctx); err != nil {
		return err
	}
	return r.plane.StartWorkloads(ctx, r.planeOptions(), r.o.Now)
}

// publish makes the control plane known to other programs, and tells the user how to reach it.
func (r *runner) publish(ctx context.Context) {
	if err := r.claim.publish(r.plane.Kubeconfig()); err != nil {
		r.progressf("the API server is at %s, its kubeconfig is %s; 'operon tool kubectl' will not find it: %v", r.plane.URL, r.kubeconfig, err)
		return
	}
	r.published = true
	r.progressf("the API server is at %s, its kubeconfig is %s; in another terminal:\n  %s", r.plane.URL, r.claim.kubeconfig(), r.kubectlHint(ctx))
}

func (r *runner) planeOptions() controlplane.StartOptions {
	return controlplane.StartOptions{TempDir: r.o.TempDir, Environ: r.o.Environ, ServiceAccounts: true, WithoutRoles: true}
}

// kubectlHint returns the command that shows the objects of the project's kinds and the workloads of all namespaces.
func (r *runner) kubectlHint(ctx context.Context) string {
	builtIn := map[string]string{} // groups by plural
	// On failure, the plurals alone are correct for most kinds.
	served, _, _ := r.cluster.Resources(ctx)
	for _, resource := range served {
		builtIn[resource.Name] = resource.Group()
	}
	names := append(resourceNames(r.o.Config.Resources(), builtIn), "all")
	command := r.o.Command + " tool kubectl "
	if r.o.Name != "" {
		command += "--kubeconfig " + r.claim.kubeconfig() + " "
	}
	return command + "get " + strings.Join(names, ",") + " -A"
}

// resourceNames returns the names of the project's kinds for kubectl: plurals, with the group for those that are used twice
// or by a built-in kind, of which builtIn holds the groups.
func resourceNames(resources []project.Resource, builtIn map[string]string) (names []string) {
	groups := map[string]string{}
	ambiguous := map[string]bool{}
	for _, res := range resources {
		group, used := groups[res.Plural]
		if !used {
			group, used = builtIn[res.Plural]
		}
		ambiguous[res.Plural] = ambiguous[res.Plural] || used && group != res.APIGroup()
		groups[res.Plural] = res.APIGroup()
	}
	for _, res := range resources {
		name := res.Plural
		if ambiguous[name] {
			name += "." + res.APIGroup()
		}
		if res.HasAPI() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
