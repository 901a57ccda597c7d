// Package suite holds the end-to-end tests. They run on the cluster that KUBECONFIG names, whose nodes take images
// from the registry E2E_REGISTRY, or on a node that they make on this machine.
package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/testdata/e2e/cluster"
	"github.com/operon-sdk/operon/testdata/e2e/images"
	"github.com/operon-sdk/operon/testdata/e2e/node"
)

// TestMain lets the test's binary be the processes of the node as well.
func TestMain(m *testing.M) {
	if role := node.Role(os.Args[1:]); role != nil {
		os.Exit(role())
	}
	if len(os.Args) > 1 && os.Args[1] == killedRole {
		os.Exit(runToBeKilled(os.Args[2], os.Args[3], os.Args[4]))
	}
	os.Exit(m.Run())
}

// bench is what all tests work with.
type bench struct {
	// ctx ends when the run is interrupted, before the tests' own.
	ctx    context.Context
	client *kube.Client
	// root is the checkout's, operon the program under test, assets the folder with kubectl.
	root, operon, assets, kubeconfig string
	// cache keeps builds, registry is where images are pushed to.
	cache, registry string
	progress        *cluster.Progress
	products        products
	// own is the cluster if it was made here, else nil.
	own *cluster.Cluster
}

// TestE2E runs all tests on one cluster. Tests that don't change the same objects run at the same time. Meanwhile, builds make what later
// tests need.
func TestE2E(t *testing.T) {
	b := newBench(t)
	b.defineProducts(t)
	b.apply(t, "objects/certificates.yaml")
	t.Run("base", func(t *testing.T) { // it is downloaded and compiles nothing of Go
		t.Parallel()
		b.ansibleBase(t)
	})
	t.Run("builds", func(t *testing.T) {
		t.Parallel()
		b.testBuilds(t)
	})
	t.Run("tests", func(t *testing.T) {
		t.Parallel()
		b.sideBySide(t, "deployed", cluster.Scope{}, append(b.eachRuntimeOperator(b.testDeployed),
			part{"services", b.testServices},
			part{"memcached-operator", b.testMemcachedOperator},
			part{"scorecard", b.testScorecard},
			part{"olm-that-does-not-start", b.testOLMThatDoesNotStart},
		)...)
		for _, p := range []part{{"olm", b.testOLM}, {"tutorial", b.testTutorial}} {
			if b.ctx.Err() != nil {
				return
			}
			t.Run(p.name, p.run)
			b.progress.Done("test " + p.name)
		}
	})
}

// newMachineBench is a bench without a cluster, on a machine that can make one.
func newMachineBench(t *testing.T) *bench {
	t.Helper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	b := &bench{ctx: ctx, progress: cluster.NewProgress(os.Stdout), kubeconfig: os.Getenv("KUBECONFIG")}
	var err error
	if b.root, err = filepath.Abs(filepath.Join("..", "..", "..")); err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	b.cache = filepath.Join(cache, "operon")
	if b.kubeconfig == "" {
		if err := cluster.PrepareMachine(b.ctx, b.progress); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := newMachineBench(t)
	b.operon = filepath.Join(b.root, "bin", "operon")
	if _, err := os.Stat(b.operon); err != nil {
		t.Fatalf("%v: run make build first", err)
	}
	if b.kubeconfig == "" {
		b.startOwn(t)
	} else {
		b.useForeign(t)
	}
	return b
}

// startOwn makes a cluster, and holds that the machine is as before once it has been removed.
func (b *bench) startOwn(t *testing.T) {
	t.Helper()
	state := filepath.Join(b.cache, "e2e", "nodes")
	if err := node.Sweep(b.ctx, state); err != nil {
		t.Fatal(err)
	}
	before, err := cluster.TakeSnapshot(b.ctx, "", state)
	if err != nil {
		t.Fatal(err)
	}
	b.own, err = cluster.Start(b.ctx, cluster.Options{Root: b.root, CacheDir: b.cache, StateDir: state, Progress: b.progress})
	if err != nil {
		t.Fatal(err)
	}
	name, namespaces := b.own.Name, b.own.Namespaces()
	if len(cluster.ProcessesOf(name, namespaces)) == 0 {
		t.Error("no process is found in the node's namespaces, so the check for leftovers can't find any either")
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.showCluster()
		}
		if err := b.own.Stop(); err != nil {
			t.Error(err)
		}
		checkGone(t, before, name, namespaces, state)
		b.progress.Done("cluster removed")
	})
	b.client, b.assets, b.kubeconfig, b.registry = b.own.Client, b.own.Assets, b.own.Kubeconfig, b.own.Registry
}

// checkGone holds that nothing of a node is left on the machine.
func checkGone(t *testing.T, before cluster.Snapshot, name string, namespaces []string, state string) {
	t.Helper()
	if left := cluster.ProcessesOf(name, namespaces); len(left) > 0 {
		t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
	after, err := cluster.TakeSnapshot(context.Background(), name, state)
	if err != nil {
		t.Fatal(err)
	}
	if diff := before.Diff(after); diff != "" {
		t.Errorf("the machine is not as it was before:\n%s", diff)
	}
}

// useForeign uses the cluster that KUBECONFIG names.
func (b *bench) useForeign(t *testing.T) {
	t.Helper()
	if b.registry = os.Getenv("E2E_REGISTRY"); b.registry == "" {
		t.Fatal("KUBECONFIG is set but E2E_REGISTRY is not: it names a registry, like 10.0.0.1:5000, that this machine and the cluster's nodes reach")
	}
	o := controlplane.DefaultOptions(os.Environ())
	o.Parts = []string{controlplane.Kubectl}
	assets, err := controlplane.Ensure(b.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	b.assets = assets.Dir
	if b.client, err = kube.Load(filepath.SplitList(b.kubeconfig)...); err != nil {
		t.Fatal(err)
	}
	programs, err := images.Build(b.ctx, b.root, filepath.Join(b.cache, "e2e"), images.ClusterPackages, b.progress.Say)
	if err != nil {
		t.Fatal(err)
	}
	if err := images.Push(b.ctx, b.registry, []string{programs}, images.Cluster(node.PauseImage)); err != nil {
		t.Fatal(err)
	}
}

// image is what pods call an image that was pushed to the registry as name.
func (b *bench) image(name string) string {
	if b.own != nil {
		return "example.com/" + name // its node takes images of all registries from its own
	}
	return b.registry + "/" + name
}

// showCluster prints what explains most failures.
func (b *bench) showCluster() {
	for _, args := range [][]string{
		{"get", "pods,deployments,jobs", "--all-namespaces", "--output", "wide"},
		{"get", "events", "--all-namespaces", "--sort-by", ".lastTimestamp"},
		{"get", "pods", "--all-namespaces", "--output", `jsonpath={range .items[*]}{.metadata.name}{": "}{.status.containerStatuses[*].state}{"\n"}{end}`},
		{"get", "customresourcedefinitions", "--output", `jsonpath={range .items[*]}{.metadata.name}{": "}{.metadata.deletionTimestamp} {.status.conditions[*].message}{"\n"}{end}`},
		{"logs", "--all-containers", "--prefix", "--tail", "15", "--namespace", "memcached-operator-system", "--selector", "control-plane=controller-manager"},
	} {
		out, err := b.command(b.root, "kubectl", args...)
		fmt.Printf("$ kubectl %s\n%s\n", strings.Join(args, " "), out)
		if err != nil {
			fmt.Println(err)
		}
	}
}

// command runs a program with the cluster as its own, and returns its output.
func (b *bench) command(dir, name string, args ...string) (string, error) {
	path := strings.Join([]string{filepath.Dir(b.operon), b.assets, os.Getenv("PATH")}, string(os.PathListSeparator))
	if name == "kubectl" {
		name = filepath.Join(b.assets, name)
	}
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig, "PATH="+path, "MAKEFLAGS=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, &out)
	}
	return out.String(), err
}

// run runs a program that must succeed.
func (b *bench) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := b.command(dir, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually calls check until it succeeds or a time is up that is long for a busy machine.
func (b *bench) eventually(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(b.ctx, 3*time.Minute, errors.New("it stays so for 3 minutes"))
	defer cancel()
	for pause := 200 * time.Millisecond; ; {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%v: %v", context.Cause(ctx), err)
		case <-time.After(pause):
			// What takes longer should not be slowed down by checks.
			pause = min(pause*3/2, time.Second)
		}
	}
}
