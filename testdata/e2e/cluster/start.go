package cluster

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/testdata/e2e/images"
	"github.com/operon-sdk/operon/testdata/e2e/node"
)

//go:embed coredns.yaml
var coreDNS []byte

// Cluster is a running cluster.
type Cluster struct {
	*node.Node
	// Client is its administrator's.
	Client *kube.Client
	// Programs is the folder of the programs that images are made of, Assets the control plane's.
	Programs, Assets string

	root, cache string
}

// readyTimeout is how long the parts of the cluster may take.
const readyTimeout = 5 * time.Minute

// Options tell Start where things are.
type Options struct {
	// Root is the checkout's, CacheDir where builds are kept, StateDir where nodes keep their folders.
	Root, CacheDir, StateDir string
	// Progress is told what has been done.
	Progress *Progress
}

// Assets finds the programs of the control plane with those of a node, or builds them.
func Assets(ctx context.Context, cacheDir string, p *Progress) (string, error) {
	o := controlplane.DefaultOptions(os.Environ())
	o.CacheDir = cacheDir
	// What others built or downloaded has no kubelet.
	o.KubebuilderAssets, o.StoreDirs, o.NoDownload = "", nil, true
	o.Parts = append(controlplane.WorkloadParts(), controlplane.Kubelet, controlplane.KubeProxy, controlplane.Kubectl)
	o.Progress = func(message string) { p.Say(message) }
	assets, err := controlplane.Ensure(ctx, o)
	if err == nil {
		p.Done("the programs of the control plane")
	}
	return assets.Dir, err
}

// Start prepares all that a cluster needs, starts it, and returns when pods run in it. The caller calls Stop.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	p := o.Progress
	if err := PrepareMachine(ctx, p); err != nil {
		return nil, err
	}
	c := &Cluster{root: o.Root, cache: filepath.Join(o.CacheDir, "e2e")}
	var err error
	if c.Assets, err = Assets(ctx, o.CacheDir, p); err != nil {
		return nil, err
	}
	if c.Programs, err = images.Build(ctx, c.root, c.cache, images.ClusterPackages, p.Say); err != nil {
		return nil, err
	}
	p.Done("the programs of the images")

	whole := ctx
	ctx, cancel := context.WithTimeoutCause(whole, readyTimeout, fmt.Errorf("not ready within %s", readyTimeout))
	defer cancel()
	c.Node, err = node.Start(ctx, node.Options{Assets: c.Assets, Programs: c.Programs, StateDir: o.StateDir, Step: p.Done})
	if err != nil {
		return nil, err
	}
	if err := c.bringUp(ctx, p); err != nil {
		err = fmt.Errorf("starting the cluster: %w", err)
		if whole.Err() == nil { // else somebody interrupted it
			err = fmt.Errorf("%w%s", err, c.lastLogs())
		}
		if stopErr := c.Stop(); stopErr != nil {
			err = fmt.Errorf("%w\n%w", err, stopErr)
		}
		return nil, err
	}
	return c, nil
}

// bringUp brings a starting node to the point where pods run.
func (c *Cluster) bringUp(ctx context.Context, p *Progress) error {
	var work errgroup.Group
	work.Go(func() error {
		if err := c.Wait(ctx, node.StepRegistry); err != nil {
			return err
		}
		return images.Push(ctx, c.Registry, []string{c.Programs}, images.Cluster(node.PauseImage))
	})
	work.Go(func() error {
		if err := c.Wait(ctx, node.StepKubelet); err != nil {
			return err
		}
		var err error
		if c.Client, err = kube.Load(c.Kubeconfig); err != nil {
			return err
		}
		return c.waitNode(ctx)
	})
	if err := work.Wait(); err != nil {
		return err
	}
	p.Done("node ready, images pushed")
	objects, err := kube.Decode(coreDNS)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := c.Client.Apply(ctx, object, ""); err != nil {
			return fmt.Errorf("applying %s: %w", kube.Name(object), err)
		}
	}
	if err := c.waitDeployment(ctx, "kube-system", "coredns"); err != nil {
		return err
	}
	p.Done("name service ready")
	return nil
}

// AddOLMImages builds the programs of OLM's images, unless they have been built before, and puts the images into the
// cluster's registry.
func (c *Cluster) AddOLMImages(ctx context.Context, p *Progress) error {
	programs, err := images.Build(ctx, c.root, c.cache, images.OLMPackages, p.Say)
	if err != nil {
		return err
	}
	p.Done("the programs of OLM's images")
	if err := images.Push(ctx, c.Registry, []string{programs, c.Programs}, images.OLMImages()); err != nil {
		return err
	}
	p.Done("OLM's images pushed")
	return nil
}

// conditions are what is read of an object's status.
type conditions struct {
	Status struct {
		Conditions []struct{ Type, Status, Message string }
	}
}

func (c conditions) err(kind string) error {
	for _, condition := range c.Status.Conditions {
		if condition.Type == kind {
			if condition.Status == "True" {
				return nil
			}
			return fmt.Errorf("%s: %s", kind, condition.Message)
		}
	}
	return fmt.Errorf("%s is not known yet", kind)
}

func (c *Cluster) waitNode(ctx context.Context) error {
	return c.waitCondition(ctx, "/api/v1/nodes/"+c.Name, "Ready")
}

func (c *Cluster) waitDeployment(ctx context.Context, namespace, name string) error {
	return c.waitCondition(ctx, "/apis/apps/v1/namespaces/"+namespace+"/deployments/"+name, "Available")
}

// waitCondition waits until an object has a condition.
func (c *Cluster) waitCondition(ctx context.Context, path, kind string) error {
	for {
		var object conditions
		err := c.Client.Do(ctx, http.MethodGet, path, "", nil, &object)
		if err == nil {
			err = object.err(kind)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %w", path, context.Cause(ctx), err)
		case <-c.Done():
			return c.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
