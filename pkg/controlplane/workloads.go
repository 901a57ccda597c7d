package controlplane

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// WorkloadParts returns the programs of a control plane with workloads.
func WorkloadParts() []string {
	return []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler}
}

// StartWorkloads adds kube-controller-manager, kube-scheduler and a simulated node to a running control plane, and returns when the
// node is ready. Its pods are Running and Ready, but have no containers. Claims of storageClass, the default storage class, are bound to
// volumes without storage. now is the clock of the node. The control plane should be started with StartOptions.ServiceAccounts.
func (cp *ControlPlane) StartWorkloads(ctx context.Context, o StartOptions, now func() time.Time) error {
	client, err := kube.New(cp.kubeconfig)
	if err != nil {
		return err
	}
	// kube-controller-manager exits if the API server is not ready 10 seconds later, which is possible with WithoutRoles.
	if err := cp.waitFor(ctx, "/healthz", o); err != nil {
		return err
	}
	if err := cp.StartControllers(o); err != nil {
		return err
	}
	kubelet, err := serveKubelet()
	if err != nil {
		return fmt.Errorf("adding a simulated node: %w", err)
	}
	node := &node{client: client, name: NodeName, port: kubelet.port, now: now}
	if err := node.register(ctx); err != nil {
		kubelet.close()
		return fmt.Errorf("adding a simulated node: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { node.run(running) })
	cp.stopNode = func() {
		cancel()
		kubelet.close()
		wg.Wait()
	}
	return nil
}

// StartControllers adds kube-controller-manager and kube-scheduler to a running control plane, for other nodes. It does not wait for
// them.
func (cp *ControlPlane) StartControllers(o StartOptions) error {
	if missing := missingParts(cp.Assets.Dir, WorkloadParts()); len(missing) > 0 {
		return fmt.Errorf("starting controllers and scheduler: the assets have no %s", strings.Join(missing, ", "))
	}
	in := func(name string) string { return filepath.Join(cp.dir.Path, name) }
	for _, server := range []struct {
		name string
		args []string
	}{
		{KubeControllerManager, []string{
			"--kubeconfig=" + in(kubeconfigFile),
			"--service-account-private-key-file=" + in(accountKeyFile+".key"),
			"--root-ca-file=" + in(caFile),
			"--leader-elect=false",
			"--secure-port=0",
			// There is only the simulated node, so a short period causes little load.
			"--node-monitor-period=1s",
			"--kube-api-qps=200", "--kube-api-burst=400",
		}},
		{KubeScheduler, []string{
			"--kubeconfig=" + in(kubeconfigFile),
			"--leader-elect=false",
			"--secure-port=0",
		}},
	} {
		if err := cp.StartServer(server.name, server.args, o); err != nil {
			return err
		}
	}
	return nil
}

// StartServer adds a program of the assets to a running control plane, such as Kubelet or KubeProxy. It uses only Log and Environ of
// o. Stop stops the program, and Done is closed when it exits. Calls must not overlap.
func (cp *ControlPlane) StartServer(name string, args []string, o StartOptions) error {
	p, err := startProcess(name, cp.Assets.Path(name), args, serverEnviron(o.Environ), cp.dir.Path, o.Log)
	if err != nil {
		return err
	}
	cp.extra = append(cp.extra, p)
	go func() {
		<-p.done
		cp.end.Do(func() { close(cp.done) })
	}()
	return nil
}

// CheckNodes returns an error if the nodes of a cluster are simulated and do not run containers. It returns nil if the user may not
// list nodes, as nothing restricts the user of Start.
func CheckNodes(ctx context.Context, client *kube.Client) error {
	query := url.Values{"labelSelector": {SimulatedLabel}}
	nodes, err := client.ListNames(ctx, kube.Resource{APIVersion: "v1", Name: "nodes", Kind: "Node"}, "", query)
	if err != nil || len(nodes) == 0 {
		return nil
	}
	return fmt.Errorf("containers do not run in the cluster at %s: 'operon run local' has started it with a simulated node; choose a cluster whose nodes run containers with --kubeconfig", client.URL)
}
