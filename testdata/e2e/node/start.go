//go:build linux

package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options tell Start how to run a node.
type Options struct {
	// Assets is the folder of the control plane's programs, with kubelet and kube-proxy. Programs is the folder of the program policies.
	Assets, Programs string
	// StateDir is where nodes keep their folders.
	StateDir string
	// Step is told of each step that has been done, from one goroutine at a time.
	Step func(name string)
}

// Node is a running node with its control plane and its registry.
type Node struct {
	// Name is the node's.
	Name string
	// Kubeconfig is a file that makes its reader the cluster's administrator.
	Kubeconfig string
	// Registry is host:port of the registry that the node finds the images of all registries in: what is pushed
	// there as a/b:c, pods get as quay.io/a/b:c, too. It speaks HTTP.
	Registry string
	// Logs is the folder of the logs of the node's processes.
	Logs string

	dir      *stateDir
	settings settings
	cmd      *exec.Cmd
	steps    map[string]chan struct{}
	done     chan struct{}
	err      error
	stop     sync.Once
	stopErr  error
}

// Start makes the namespaces and starts the node in them, after it has removed what killed nodes left. It returns
// once the node is under way; Wait waits for its steps. The caller calls Stop.
func Start(ctx context.Context, o Options) (n *Node, err error) {
	dir, err := newStateDir(ctx, o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("starting a node: %w", err)
	}
	n = &Node{dir: dir, done: make(chan struct{}), steps: map[string]chan struct{}{}}
	for _, step := range []string{StepRegistry, StepContainerd, StepControlPlane, StepKubelet} {
		n.steps[step] = make(chan struct{})
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("starting a node: %w", err), n.Stop())
			n = nil
		}
	}()
	if n.settings, err = newSettings(dir, o); err != nil {
		return n, err
	}
	n.Name, n.Registry = n.settings.Name, n.settings.Registry
	n.Kubeconfig, n.Logs = filepath.Join(dir.path, kubeconfigFile), filepath.Join(dir.path, "logs")
	if err := makeCgroups(n.Name); err != nil {
		return n, fmt.Errorf("making control groups: %w", err)
	}
	return n, n.spawn(ctx, o.Step)
}

func newSettings(dir *stateDir, o Options) (settings, error) {
	plugins, err := pluginDir()
	if err != nil {
		return settings{}, err
	}
	gateway, address, err := chooseAddresses()
	if err != nil {
		return settings{}, fmt.Errorf("choosing the node's address: %w", err)
	}
	snapshotter := "native"
	if stacks(dir.path) {
		snapshotter = "overlayfs"
	}
	return settings{
		Name: namePrefix + dir.id, HostDir: dir.path, Assets: o.Assets, Programs: o.Programs,
		Address: address.String(), Gateway: gateway.String(), Link: linkPrefix + dir.id,
		Registry: address.String() + ":" + registryPort, PluginDir: plugins, Snapshotter: snapshotter,
	}, nil
}

// pluginDir finds the network plugins, which distributions put into different places.
func pluginDir() (string, error) {
	dirs := []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "bridge")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the network plugins are in none of %s", strings.Join(dirs, ", "))
}

// spawn starts the node's first process in new namespaces.
func (n *Node) spawn(ctx context.Context, step func(string)) error {
	encoded, err := json.Marshal(n.settings)
	if err != nil {
		return err
	}
	output, err := os.Create(filepath.Join(n.dir.path, "node.log"))
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }() // the node has its own
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	n.cmd = exec.Command("/proc/self/exe", initRole)
	n.cmd.Env = append(os.Environ(), settingsVariable+"="+string(encoded))
	n.cmd.Stdout, n.cmd.Stderr = output, output
	n.cmd.ExtraFiles = []*os.File{to}
	n.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	input, err := n.cmd.StdinPipe()
	if err != nil {
		return err
	}
	started := make(chan error)
	go func() {
		// The system kills the node when the thread that started it ends, so that thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := n.cmd.Start()
		started <- errors.Join(err, to.Close())
		if err == nil {
			n.follow(from, step)
		}
		_ = from.Close()
	}()
	if err := <-started; err != nil {
		n.cmd = nil
		return err
	}
	if err := linkOutside(ctx, n.settings, n.cmd.Process.Pid); err != nil {
		return fmt.Errorf("setting up the network: %w", err)
	}
	return input.Close()
}

// follow takes the node's messages until it ends, and says how it did.
func (n *Node) follow(from io.Reader, step func(string)) {
	var reported error
	err := readMessages(from, func(m message) {
		if m.Error != "" {
			reported = errors.New(m.Error)
			return
		}
		if done, ok := n.steps[m.Step]; ok {
			if step != nil {
				step(m.Step)
			}
			close(done)
		}
	})
	ended := n.cmd.Wait()
	if reported == nil {
		output, _ := os.ReadFile(filepath.Join(n.dir.path, "node.log"))
		reported = errors.Join(err, fmt.Errorf("the node ended: %w\n%s", ended, output))
	}
	n.err = reported
	close(n.done)
}

// Wait returns when a step has been done.
func (n *Node) Wait(ctx context.Context, step string) error {
	select {
	case <-n.steps[step]:
		return nil
	case <-n.done:
		return n.err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the %s: %w", step, context.Cause(ctx))
	}
}

// Done is closed when the node has ended, by Stop or by itself; Err tells then how.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err is how the node ended.
func (n *Node) Err() error { return n.err }

// Namespaces identify the node's namespaces.
func (n *Node) Namespaces() []string {
	return NamespacesOf(fmt.Sprintf("/proc/%d", n.cmd.Process.Pid))
}

// NamespacesOf identifies the namespaces of a process, given its folder in /proc. The system uses the numbers of
// namespaces that are gone again, but hardly ever all of them for one process.
func NamespacesOf(process string) []string {
	var found []string
	for _, kind := range []string{"pid", "mnt", "net", "ipc", "uts"} {
		if target, err := os.Readlink(filepath.Join(process, "ns", kind)); err == nil {
			found = append(found, target)
		}
	}
	return found
}

// Stop ends the node and removes all that it left. It may be called more than once.
func (n *Node) Stop() error {
	n.stop.Do(func() {
		if n.cmd != nil {
			_ = n.cmd.Process.Kill() // fails only for one that has ended
			<-n.done
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		n.stopErr = n.dir.remove(ctx)
	})
	return n.stopErr
}
