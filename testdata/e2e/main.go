// E2e up makes the cluster of the end-to-end tests, for development, and removes it when it is interrupted. E2e ansible-base ARCHITECTURE…
// builds the base image of Ansible operators for architectures of Go, and prints the OCI layout with it.
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
	"github.com/operon-sdk/operon/testdata/e2e/images"
	"github.com/operon-sdk/operon/testdata/e2e/node"
)

func main() {
	if role := node.Role(os.Args[1:]); role != nil {
		os.Exit(role())
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
	if len(args) > 0 && args[0] == "ansible-base" {
		layout, err := images.AnsibleBase(ctx, filepath.Join(cache, "e2e"), true, cluster.NewProgress(os.Stderr).Say, args[1:]...)
		if err == nil {
			_, err = fmt.Println(layout)
		}
		return err
	}
	if len(args) != 1 || args[0] != "up" {
		return errors.New("usage: e2e up, or e2e ansible-base [ARCHITECTURE…]")
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	p := cluster.NewProgress(os.Stdout)
	return up(ctx, p, cluster.Options{
		Root: root, CacheDir: cache, StateDir: filepath.Join(cache, "e2e", "nodes"), Progress: p,
	})
}

// up makes a cluster and keeps it until ctx ends. It runs in the checkout's root.
func up(ctx context.Context, p *cluster.Progress, o cluster.Options) error {
	c, err := cluster.Start(ctx, o)
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
