//go:build linux

package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"golang.org/x/sync/errgroup"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// settingsVariable hands settings to the roles.
const settingsVariable = "OPERON_E2E_NODE"

func loadSettings() (s settings, err error) {
	return s, json.Unmarshal([]byte(os.Getenv(settingsVariable)), &s)
}

// runAll runs the node inside of its namespaces until a part of it ends. It returns the exit code.
func runAll() int {
	out := &messages{to: os.NewFile(messagesFile, "messages")}
	s, err := loadSettings()
	if err == nil {
		err = runNode(context.Background(), s, out)
	}
	_ = out.send(message{Error: err.Error()}) // nobody else to tell
	return 1
}

// runNode runs the node; it always returns an error.
func runNode(ctx context.Context, s settings, out *messages) error {
	if err := linkInside(ctx, s); err != nil {
		return fmt.Errorf("setting up the network: %w", err)
	}
	s.Dir = insideDir
	for _, dir := range []string{"tmp", "logs", "volume-plugins"} {
		if err := os.MkdirAll(filepath.Join(s.Dir, dir), 0o755); err != nil {
			return err
		}
	}
	ended := make(chan error, 4)
	if err := serveRegistry(s, ended); err != nil {
		return fmt.Errorf("serving the registry: %w", err)
	}
	if err := out.send(message{Step: StepRegistry}); err != nil {
		return err
	}
	var cp *controlplane.ControlPlane
	starting, startCtx := errgroup.WithContext(ctx)
	starting.Go(func() error {
		if err := startContainerd(startCtx, s, ended); err != nil {
			return fmt.Errorf("starting containerd: %w", err)
		}
		return out.send(message{Step: StepContainerd})
	})
	starting.Go(func() (err error) {
		if err := startEgress(startCtx, s, ended); err != nil {
			return fmt.Errorf("starting the way from the API server to pods: %w", err)
		}
		if cp, err = startControlPlane(startCtx, s); err != nil {
			return err
		}
		return out.send(message{Step: StepControlPlane})
	})
	if err := starting.Wait(); err != nil {
		return err
	}
	if err := startKubelet(s, cp); err != nil {
		return err
	}
	if err := startPolicies(ctx, s, ended); err != nil {
		return fmt.Errorf("starting what enforces network policies: %w", err)
	}
	if err := out.send(message{Step: StepKubelet}); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-cp.Done():
		return cp.Err()
	}
}

// serveRegistry serves the registry that containerd takes all images from.
func serveRegistry(s settings, ended chan<- error) error {
	blobs := filepath.Join(s.Dir, "registry")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Registry)
	if err != nil {
		return err
	}
	handler := registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)), registry.Logger(log.New(io.Discard, "", 0)))
	go func() { ended <- fmt.Errorf("the registry ended: %w", http.Serve(listener, handler)) }()
	return nil
}

func startContainerd(ctx context.Context, s settings, ended chan<- error) error {
	for name, path := range map[string]string{
		"containerd.toml.tmpl": "containerd.toml",
		"hosts.toml.tmpl":      "certs.d/_default/hosts.toml",
		"bridge.conflist.tmpl": "cni/bridge.conflist",
		"resolv.conf.tmpl":     "resolv.conf",
	} {
		if err := s.write(name, filepath.Join(s.Dir, path), ""); err != nil {
			return err
		}
	}
	gone, err := startDaemon(s, "containerd", exec.Command("containerd", "--config", filepath.Join(s.Dir, "containerd.toml")), ended)
	if err != nil {
		return err
	}
	return waitSocket(ctx, containerdSocket, gone)
}

// waitSocket waits until a program that listens on a socket accepts connections.
func waitSocket(ctx context.Context, socket string, gone <-chan error) error {
	return poll(ctx, 30*time.Second, gone, func() error {
		connection, err := net.Dial("unix", socket)
		if err != nil {
			return err
		}
		return connection.Close()
	})
}

// startDaemon starts a program whose output goes to a log. Its end is sent to both channels.
func startDaemon(s settings, name string, cmd *exec.Cmd, ended chan<- error) (gone <-chan error, err error) {
	logFile, err := os.Create(filepath.Join(s.Dir, "logs", name+".log"))
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, logFile.Close())
	}
	own := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s ended: %w; its log is %s.log", name, errors.Join(cmd.Wait(), logFile.Close()), name)
		own <- err
		ended <- err
	}()
	return own, nil
}

// poll calls try until it succeeds, time is up, or something is gone that it needs.
func poll(ctx context.Context, timeout time.Duration, gone <-chan error, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s: %w", timeout, err)
		case err := <-gone:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// startControlPlane starts everything of Kubernetes that is not the node's own.
func startControlPlane(ctx context.Context, s settings) (*controlplane.ControlPlane, error) {
	logFile, err := os.Create(filepath.Join(s.Dir, "logs", "control-plane.log"))
	if err != nil {
		return nil, err
	}
	egress := filepath.Join(s.Dir, "egress.yaml")
	if err := s.write("egress.yaml.tmpl", egress, ""); err != nil {
		return nil, err
	}
	o := controlplane.StartOptions{
		Environ: os.Environ(),
		TempDir: filepath.Join(s.Dir, "tmp"), Log: logFile,
		Address: net.ParseIP(s.Address), ServiceAccounts: true,
		APIServerArgs: []string{"--egress-selector-config-file=" + egress},
	}
	cp, err := controlplane.Start(ctx, controlplane.Assets{Dir: assetsDir}, o)
	if err != nil {
		return nil, err
	}
	if err := cp.StartControllers(o); err != nil {
		return nil, err
	}
	return cp, os.WriteFile(filepath.Join(s.Dir, kubeconfigFile), cp.Kubeconfig(), 0o600)
}

// startKubelet starts what makes a machine a node.
func startKubelet(s settings, cp *controlplane.ControlPlane) error {
	kubeconfig := filepath.Join(s.Dir, kubeconfigFile)
	for name, args := range map[string][]string{
		controlplane.Kubelet: {
			"--kubeconfig=" + kubeconfig, "--root-dir=/var/lib/kubelet",
			"--hostname-override=" + s.Name, "--node-ip=" + s.Address,
		},
		controlplane.KubeProxy: nil,
	} {
		config := filepath.Join(s.Dir, name+".yaml")
		if err := s.write(name+".yaml.tmpl", config, cp.CAPath()); err != nil {
			return err
		}
		logFile, err := os.Create(filepath.Join(s.Dir, "logs", name+".log"))
		if err != nil {
			return err
		}
		if err := cp.StartServer(name, append(args, "--config="+config), controlplane.StartOptions{Environ: os.Environ(), Log: logFile}); err != nil {
			return err
		}
	}
	return nil
}
