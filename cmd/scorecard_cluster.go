package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/scorecard"
)

// cleanTimeout is the maximum time for the deletion of pods.
const cleanTimeout = 30 * time.Second

// scorecardInCluster runs tests as pods, and always deletes them.
func (a *app) scorecardInCluster(ctx context.Context, bundle scorecard.Bundle, stages []v1alpha3.StageConfiguration, o scorecardOptions) error {
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	client, err := a.connectWithNodes(ctx, o.clusterChoice)
	if err != nil {
		return diag.Explain(err, "--local runs the built-in tests without a cluster")
	}
	if o.namespace == "" {
		o.namespace = client.Namespace
	}
	output := env.Absolute(a.Dir, o.testOutput)
	var lines sync.Mutex
	cluster := &scorecard.Cluster{
		Client: client,
		PodOptions: scorecard.PodOptions{
			Namespace: o.namespace, ServiceAccount: o.serviceAccount, UntarImage: o.untarImage, StorageImage: o.storageImage,
			Restricted: o.podSecurity == podRestricted, Wait: o.waitTime,
		},
		Progress: func(e scorecard.Event) {
			lines.Lock()
			defer lines.Unlock()
			if e.Log {
				a.print.Progressf("%s | %s", e.Test, e.Text)
			} else {
				a.print.Progressf("%s: %s", e.Test, e.Text)
			}
		},
		OpenOutput: func() (*os.Root, error) {
			if err := a.FS.MkdirAll(output, 0o755); err != nil {
				return nil, err
			}
			return os.OpenRoot(output)
		},
		Keep: o.skipCleanup,
	}
	list, err := cluster.Run(ctx, bundle, stages)
	interrupted := ctx.Err() != nil
	err = errors.Join(err, cleanTests(ctx, a.print, cluster, o.skipCleanup))
	if list.Items != nil {
		err = errors.Join(printTests(a.print, list, o.output), err)
	}
	if interrupted {
		return errors.Join(errInterrupted, err)
	}
	return err
}

// cleanTests deletes the pods and the ConfigMap. A second interrupt ends it.
func cleanTests(ctx context.Context, p *output.Printer, cluster *scorecard.Cluster, skip bool) error {
	if skip {
		p.Progressf("%s", cluster.Remaining())
		return nil
	}
	ctx, stop := env.UntilInterrupted(context.WithoutCancel(ctx))
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, cleanTimeout, fmt.Errorf("not done within %s", cleanTimeout))
	defer cancel()
	return cluster.Clean(ctx)
}
