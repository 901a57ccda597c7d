package cmd

import (
	"context"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

// locator returns the locator of the user's cluster, given the value of --kubeconfig.
func (a *app) locator(kubeconfig string) kube.Locator {
	return kube.Locator{Kubeconfig: kubeconfig, Dir: a.Dir, Getenv: a.Getenv, PodDir: a.PodDir, Progress: a.print.Progress}
}

// connect connects to the user's cluster, given the value of --kubeconfig.
func (a *app) connect(ctx context.Context, kubeconfig string) (*kube.Client, error) {
	client, err := a.locator(kubeconfig).Connect(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, errInterrupted
	}
	return client, err
}

// connectWithNodes is like connect for a cluster whose nodes must run containers.
func (a *app) connectWithNodes(ctx context.Context, kubeconfig string) (*kube.Client, error) {
	client, err := a.connect(ctx, kubeconfig)
	if err == nil {
		err = controlplane.CheckNodes(ctx, client)
	}
	return client, err
}
