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

// WorkloadParts are the programs that a control plane with workloads runs.
func WorkloadParts() []string {
	return []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler}
}

// StartWorkloads adds to a running control plane what rolls out Deployments: kube-controller-manager,
// kube-scheduler and a simulated node, whose pods are Running and Ready without a container behind
// them. It returns when the node is ready. now is the clock that statuses are stamped with.
// The control plane is best started with StartOptions.ServiceAccounts. Stop ends all of it.
func (cp *ControlPlane) StartWorkloads(ctx context.Context, o StartOptions, now func() time.Time) error {
	client, err := kube.New(cp.kubeconfig)
	if err != nil {
		return err
	}
	// kube-controller-manager gives up 10 seconds after its start. With WithoutRoles, the API server may take longer.
	if err := cp.waitFor(ctx, "/healthz", o); err != nil {
		return err
	}
	if err := cp.StartControllers(o); err != nil {
		return err
	}
	node := &node{client: client, name: NodeName, now: now}
	if err := node.register(ctx); err != nil {
		return fmt.Errorf("adding a simulated node: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { node.run(running) })
	cp.stopNode = func() { cancel(); wg.Wait() }
	return nil
}

// StartControllers adds kube-controller-manager and kube-scheduler to a running control plane, for nodes
// that others bring. It does not wait for them.
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
			// Nothing but the simulated node makes load here, so short periods cost little.
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

// StartServer adds another program of the assets to a running control plane, as Kubelet or KubeProxy. Done
// tells when it ends by itself, and Stop ends it. Of o, Log and Environ count. Calls must not overlap.
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

// IsSimulated reports whether the nodes of a cluster do not run containers. It is false if the user must not list nodes, as
// nothing restricts the user of Start.
func IsSimulated(ctx context.Context, client *kube.Client) bool {
	query := url.Values{"labelSelector": {SimulatedLabel}}
	nodes, err := client.ListNames(ctx, kube.Resource{APIVersion: "v1", Name: "nodes", Kind: "Node"}, "", query)
	return err == nil && len(nodes) > 0
}
