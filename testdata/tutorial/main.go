// Tutorial executes the tutorial of the README, as make quickstart and a test do: every line that
// starts with "$ " in a console block is run, and every other line of the block must stand in what
// the command prints. The API server that kubectl and the manager talk to is a real one, made and
// removed here.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

func main() {
	program := flag.String("operon", "", "the operon `binary` to use")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *program, flag.Arg(0))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, readme string) error {
	start := time.Now()
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	steps, err := parse(string(text))
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "operon-tutorial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	fmt.Println("==> starting a local etcd and kube-apiserver (no kubelet: pods are not run)")
	assets, plane, err := controlPlane(ctx)
	if err != nil {
		return err
	}
	defer plane.Stop()

	sh := newShell(ctx, dir, os.Stdout)
	defer sh.stop()
	sh.path(filepath.Dir(program), assets.Dir)
	sh.setenv("KUBECONFIG", plane.KubeconfigPath())
	for _, s := range steps {
		if err := sh.step(s); err != nil {
			return err
		}
	}
	fmt.Printf("\n==> the resource before it was deleted\n%s\n", sh.shown)
	fmt.Printf("==> done in %s; everything is stopped and removed\n", time.Since(start).Round(time.Second))
	return nil
}

// controlPlane finds or builds the control plane and starts it.
func controlPlane(ctx context.Context) (controlplane.Assets, *controlplane.ControlPlane, error) {
	options := controlplane.DefaultOptions(os.Getenv)
	options.Parts = []string{controlplane.Etcd, controlplane.KubeAPIServer, controlplane.Kubectl}
	options.Progress = func(e controlplane.Event) { fmt.Println(e.Message) }
	assets, err := controlplane.Ensure(ctx, options)
	if err != nil {
		return assets, nil, err
	}
	plane, err := controlplane.Start(ctx, assets, controlplane.StartOptions{})
	return assets, plane, err
}
