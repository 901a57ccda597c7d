package cmd

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

// clusterChoice are the flags that choose the user's cluster.
type clusterChoice struct {
	kubeconfig, context string
}

// kubeconfigDefault describes the default of --kubeconfig for commands that need a cluster.
const kubeconfigDefault = "KUBECONFIG, then ~/.kube/config, then the pod's service account"

func (o *clusterChoice) addTo(flags *pflag.FlagSet, kubeconfigDefault string) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: "+kubeconfigDefault+")")
	flags.StringVar(&o.context, "context", "", "`context` of the kubeconfig (default: its current one)")
}

// locator returns the locator of the user's cluster.
func (a *app) locator(o clusterChoice) kube.Locator {
	return kube.Locator{Kubeconfig: o.kubeconfig, Context: o.context, Dir: a.Dir, Getenv: a.Getenv, PodDir: a.PodDir, Progress: a.print.Progress}
}

// connect connects to the user's cluster.
func (a *app) connect(ctx context.Context, o clusterChoice) (*kube.Client, error) {
	client, err := a.locator(o).Connect(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, errInterrupted
	}
	return client, err
}

// connectWithNodes is like connect for a cluster whose nodes must run containers.
func (a *app) connectWithNodes(ctx context.Context, o clusterChoice) (*kube.Client, error) {
	client, err := a.connect(ctx, o)
	if err == nil {
		err = controlplane.CheckNodes(ctx, client)
	}
	return client, err
}
