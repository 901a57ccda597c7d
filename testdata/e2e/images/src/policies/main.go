// Command policies makes a node enforce network policies: it is kube-router with nothing but its firewall.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file that says how to reach the API server")
	config := options.NewKubeRouterConfig()
	config.EnableIPv4 = true
	flag.StringVar(&config.HostnameOverride, "hostname-override", "", "name of the node")
	flag.StringVar(&config.ClusterIPCIDRs[0], "service-cluster-ip-range", config.ClusterIPCIDRs[0], "addresses of services")
	flag.Parse()
	if err := run(*kubeconfig, config); err != nil {
		fmt.Fprintf(os.Stderr, "policies: %v\n", err)
		os.Exit(1)
	}
}

// run enforces policies until the process is killed.
func run(kubeconfig string, config *options.KubeRouterConfig) error {
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	iptables, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return err
	}
	controller, err := netpol.NewNetworkPolicyController(client, config, pods, policies, namespaces, &sync.Mutex{}, iptables, sets)
	for tries := 0; err != nil && tries < 120; tries++ { // the kubelet may not have registered the node yet
		time.Sleep(500 * time.Millisecond)
		controller, err = netpol.NewNetworkPolicyController(client, config, pods, policies, namespaces, &sync.Mutex{}, iptables, sets)
	}
	if err != nil {
		return err
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods: controller.PodEventHandler, namespaces: controller.NamespaceEventHandler, policies: controller.NetworkPolicyEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	forever := make(chan struct{})
	factory.Start(forever)
	factory.WaitForCacheSync(forever)

	// The controller fails when nobody receives its heartbeats.
	beats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range beats {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	controller.Run(beats, forever, &running)
	return nil
}
