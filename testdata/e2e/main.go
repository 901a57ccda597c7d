//go:build linux

// E2e runs the end-to-end tests: on the cluster that KUBECONFIG names, or on a real one that it makes on this
// machine and removes again. "e2e up" makes one and leaves it running until it is interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
	"github.com/operon-sdk/operon/testdata/e2e/node"
)

func main() {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case node.InitRole:
			os.Exit(node.Init())
		case node.RunRole:
			os.Exit(node.Run())
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache = filepath.Join(cache, "operon")
	return up(ctx, cache)
}

// up makes a cluster and keeps it until ctx ends.
func up(ctx context.Context, cache string) error {
	p := cluster.NewProgress(os.Stdout)
	c, err := cluster.Start(ctx, cache, p)
	if err != nil {
		return err
	}
	if err := c.AddOLMImages(ctx, p); err != nil {
		return errors.Join(err, c.Stop())
	}
	fmt.Printf("\nexport KUBECONFIG=%s\nexport E2E_REGISTRY=%s\n\nInterrupt to stop.\n", c.Kubeconfig, c.Registry)
	select {
	case <-ctx.Done():
	case <-c.Done():
		err = c.Err()
	}
	if stopErr := c.Stop(); stopErr != nil {
		return stopErr
	}
	p.Done("stopped")
	return err
}
