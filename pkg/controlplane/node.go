package controlplane

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/kube"
)

// NodeName is the name of the simulated node.
const NodeName = "simulated"

// SimulatedLabel is the label of a node whose pods are Running and Ready without containers.
const SimulatedLabel = "controlplane.operon/simulated"

const (
	leasePath     = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
	leaseDuration = 40 * time.Second
	leaseRenewal  = 10 * time.Second
)

// kubeletAddressType is the type of the simulated node's address at which an API server with kubeletAddressFlag finds its kubelet. Nodes
// that tests create usually have only other types.
const (
	kubeletAddressType = "InternalDNS"
	kubeletAddressFlag = "--kubelet-preferred-address-types=" + kubeletAddressType + ",InternalIP,Hostname,ExternalDNS,ExternalIP"
)

// fields are a JSON object.
type fields = map[string]any

// node simulates the kubelet of a node: it registers, renews its lease, and reports all pods of the node as running. No container
// runs. It also provisions the volumes of a default storage class.
type node struct {
	client *kube.Client
	name   string
	// port is the one of its server on this machine.
	port int
	now  func() time.Time

	// addresses is the number of assigned pod addresses.
	addresses int
	// working are the goroutines for pods and the lease.
	working sync.WaitGroup
}

// register creates the Node and the storage class, and reports the node as ready.
func (n *node) register(ctx context.Context) error {
	object := fields{
		"apiVersion": "v1", "kind": "Node",
		"metadata": fields{"name": n.name, "labels": fields{
			"kubernetes.io/hostname": n.name,
			"kubernetes.io/os":       "linux",
			"kubernetes.io/arch":     runtime.GOARCH,
			SimulatedLabel:           "true",
		}},
		"spec": fields{"podCIDR": "10.244.0.0/16", "podCIDRs": []string{"10.244.0.0/16"}},
	}
	err := n.client.Do(ctx, http.MethodPost, "/api/v1/nodes", "", object, nil)
	if err != nil && !kube.IsConflict(err) {
		return err
	}
	if err := n.report(ctx); err != nil {
		return err
	}
	if err := n.addStorage(ctx); err != nil {
		return err
	}
	return n.renew(ctx)
}

// report updates the node's status.
func (n *node) report(ctx context.Context) error {
	condition := func(kind, status, reason string) fields {
		return fields{"type": kind, "status": status, "reason": reason, "message": "containers are simulated",
			"lastHeartbeatTime": n.stamp(), "lastTransitionTime": n.stamp()}
	}
	resources := fields{"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000"}
	status := fields{
		"capacity": resources, "allocatable": resources,
		"addresses": []fields{
			{"type": "InternalIP", "address": nodeAddress}, {"type": "Hostname", "address": n.name}, {"type": kubeletAddressType, "address": "localhost"},
		},
		"daemonEndpoints": fields{"kubeletEndpoint": fields{"Port": n.port}},
		"conditions": []fields{
			condition("Ready", "True", "KubeletReady"),
			condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
			condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
			condition("PIDPressure", "False", "KubeletHasSufficientPID"),
		},
		"nodeInfo": fields{
			"architecture": runtime.GOARCH, "operatingSystem": "linux", "osImage": "simulated", "kernelVersion": "simulated",
			"kubeletVersion": "v" + Version, "kubeProxyVersion": "", "containerRuntimeVersion": "simulated://0",
			"machineID": n.name, "systemUUID": n.name, "bootID": n.name,
		},
	}
	return n.client.Do(ctx, http.MethodPatch, "/api/v1/nodes/"+n.name+"/status", kube.MergePatch, fields{"status": status}, nil)
}

// renew creates or renews the node's lease.
func (n *node) renew(ctx context.Context) error {
	renewed := n.now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	spec := fields{"holderIdentity": n.name, "leaseDurationSeconds": int(leaseDuration.Seconds()), "renewTime": renewed}
	err := n.client.Do(ctx, http.MethodPatch, leasePath+"/"+n.name, kube.MergePatch, fields{"spec": spec}, nil)
	if !kube.IsNotFound(err) {
		return err
	}
	return n.client.Do(ctx, http.MethodPost, leasePath, "", fields{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": fields{"name": n.name, "namespace": "kube-node-lease"}, "spec": spec,
	}, nil)
}

// run runs the node until ctx ends.
func (n *node) run(ctx context.Context) {
	n.working.Go(func() {
		// After a failure, the next renewal may succeed before the lease expires.
		wait.UntilWithContext(ctx, func(ctx context.Context) { _ = n.renew(ctx) }, leaseRenewal)
	})
	n.working.Go(func() { follow(ctx, n.client, "/api/v1/persistentvolumeclaims", "", n.provision) })
	n.working.Go(func() { follow(ctx, n.client, volumesPath, "", n.reclaim) })
	follow(ctx, n.client, "/api/v1/pods", "fieldSelector=spec.nodeName%3D"+n.name, n.sync)
	n.working.Wait()
}

// stamp returns the time in the format of Kubernetes.
func (n *node) stamp() string { return n.now().UTC().Format(time.RFC3339) }
