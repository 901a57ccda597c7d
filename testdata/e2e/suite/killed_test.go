package suite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
	"github.com/operon-sdk/operon/testdata/e2e/images"
	"github.com/operon-sdk/operon/testdata/e2e/node"
)

// killedRole makes the test's binary start a node and wait to be killed.
const killedRole = "node-to-be-killed"

func runToBeKilled(assets, programs, state string) int {
	ctx := context.Background()
	n, err := node.Start(ctx, node.Options{Assets: assets, Programs: programs, StateDir: state})
	if err == nil {
		err = n.Wait(ctx, node.StepKubelet)
	}
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println(n.Name, strings.Join(n.Namespaces(), " "))
	<-n.Done()
	return 1
}

// TestKilledNode kills a process with a running node: the node's processes end by themselves, and the next start
// removes what else is left.
func TestKilledNode(t *testing.T) {
	if os.Getenv("KUBECONFIG") != "" {
		t.Skip("KUBECONFIG is set: the tests use that cluster and start no node")
	}
	b := newMachineBench(t)
	state := t.TempDir()
	before, err := cluster.TakeSnapshot(b.ctx, "", state)
	if err != nil {
		t.Fatal(err)
	}
	assets, err := cluster.Assets(b.ctx, b.cache, b.progress)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := images.Build(b.ctx, b.root, filepath.Join(b.cache, "e2e"), images.ClusterPackages, b.progress.Say)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", killedRole, assets, programs, state)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n') // what is missing is told below
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	words := strings.Fields(line)
	if len(words) < 2 || words[0] == "error:" {
		t.Fatalf("the node said %q", line)
	}
	name, namespaces := words[0], words[1:]
	b.progress.Done("node started and killed")

	for deadline := time.Now().Add(20 * time.Second); len(cluster.ProcessesOf(name, namespaces)) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("these processes survive:\n%s", strings.Join(cluster.ProcessesOf(name, namespaces), "\n"))
		}
	}
	if after, err := cluster.TakeSnapshot(b.ctx, name, state); err != nil || before.Diff(after) == "" {
		t.Errorf("a killed node leaves nothing, so that the next start has nothing to show: %v", err)
	}
	if err := node.Sweep(b.ctx, state); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(state + "/lock"); err != nil {
		t.Error(err)
	}
	checkGone(t, before, name, namespaces, state)
	b.progress.Done("test of a killed node")
}
