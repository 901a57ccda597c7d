package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/tempdir"
)

var errEnded = errors.New("it exited unexpectedly")

// defaultTimeout is the default of StartOptions.Timeout.
const defaultTimeout = 2 * time.Minute

// StartOptions are the options of Start. The zero value is valid.
type StartOptions struct {
	// TempDir is the parent of the data directory; empty for the system's directory for temporary files.
	TempDir string
	// Log receives the logs of all servers; it may be nil.
	Log io.Writer
	// Timeout is the maximum time until the servers are ready; 0 means two minutes.
	Timeout time.Duration
	// EtcdArgs and APIServerArgs are appended to the arguments of the servers, and override them.
	EtcdArgs, APIServerArgs []string
	// Environ is the environment of the servers.
	Environ []string
	// Address is this machine's address for pods on real nodes, where they reach the API server and the kubernetes service. Nil means
	// loopback.
	Address net.IP
	// ServiceAccounts requires that the service accounts of pods exist, as in a cluster. Controllers create the default ones; see
	// StartWorkloads.
	ServiceAccounts bool
	// WithoutRoles makes Start return before the API server has created the default roles and priority classes, which
	// takes another two seconds. The user of Kubeconfig needs no roles.
	WithoutRoles bool

	// ports returns free ports; tests replace it.
	ports func(n int) ([]int, error)
}

// runPrefix is the prefix of the directories of control planes.
const runPrefix = "controlplane"

// A ControlPlane is a running etcd and kube-apiserver.
type ControlPlane struct {
	// URL is the API server's URL, such as https://127.0.0.1:40123.
	URL string
	// CAData is the certificate authority of the API server, in PEM.
	CAData []byte
	// Token authenticates a member of system:masters.
	Token string
	// Assets are its programs.
	Assets Assets

	dir        *tempdir.Dir
	kubeconfig []byte
	etcd, api  *Process
	// extra are the servers of StartServer. stopNode stops the node of StartWorkloads.
	extra    []*Process
	stopNode func()
	// done is closed once, by end.
	done    chan struct{}
	end     sync.Once
	stop    sync.Once
	stopErr error
}

// Start runs etcd and kube-apiserver and returns when the API server is ready. The error of a server is a *Failure. The caller must
// call Stop. If it exits without, the servers exit, too, and the next Start removes their data.
func Start(ctx context.Context, assets Assets, o StartOptions) (*ControlPlane, error) {
	if missing := missingParts(assets.Dir, []string{Etcd, KubeAPIServer}); len(missing) > 0 {
		return nil, fmt.Errorf("starting a control plane: the assets have no %s", strings.Join(missing, ", "))
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	// The servers have another working directory.
	for _, path := range []*string{&assets.Dir, &o.TempDir} {
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, fmt.Errorf("starting a control plane: %w", err)
		}
	}
	if o.ports == nil {
		o.ports = FreePorts
	}
	if o.Log != nil {
		o.Log = &syncWriter{w: o.Log}
	}
	// Another program can take a port before the servers use it.
	const attempts = 5
	for attempt := 1; ; attempt++ {
		cp, err := startOnce(ctx, assets, o)
		var failure *Failure
		if err == nil {
			return cp, nil
		}
		if attempt == attempts || !errors.As(err, &failure) || failure.Cause != causePort {
			return nil, fmt.Errorf("starting a control plane: %w", err)
		}
	}
}

func startOnce(ctx context.Context, assets Assets, o StartOptions) (cp *ControlPlane, err error) {
	dir, err := tempdir.New(o.TempDir, runPrefix)
	if err != nil {
		return nil, withCause(err)
	}
	cp = &ControlPlane{Assets: assets, dir: dir, done: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, cp.Stop())
			cp = nil
		}
	}()
	host := "127.0.0.1"
	if o.Address != nil {
		host = o.Address.String()
	}
	keys, err := writeCredentials(dir.Path, o.Address)
	if err != nil {
		return cp, withCause(err)
	}
	ports, err := o.ports(2)
	if err != nil {
		return cp, fmt.Errorf("choosing ports: %w", err)
	}
	etcdURL := "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
	cp.URL = "https://" + net.JoinHostPort(host, strconv.Itoa(ports[1]))
	cp.CAData, cp.Token = keys.caPEM, keys.token
	if cp.kubeconfig, err = marshalKubeconfig(cp.URL, cp.CAData, cp.Token); err != nil {
		return cp, err
	}
	if err := writeSecret(cp.KubeconfigPath(), cp.kubeconfig); err != nil {
		return cp, withCause(err)
	}

	environ := serverEnviron(o.Environ)
	cp.etcd, err = startProcess(Etcd, assets.Path(Etcd),
		append(etcdArgs(dir.Path, etcdURL), o.EtcdArgs...), environ, dir.Path, o.Log)
	if err != nil {
		return cp, err
	}
	cp.waitListening(ctx, ports[0])
	cp.api, err = startProcess(KubeAPIServer, assets.Path(KubeAPIServer),
		append(apiServerArgs(dir.Path, etcdURL, ports[1], o), o.APIServerArgs...), environ, dir.Path, o.Log)
	if err != nil {
		return cp, err
	}
	if err := cp.waitReady(ctx, o); err != nil {
		return cp, err
	}
	go func() {
		defer cp.end.Do(func() { close(cp.done) })
		select {
		case <-cp.etcd.done:
		case <-cp.api.done:
		}
	}()
	return cp, nil
}

// waitListening waits until etcd accepts connections or exits, at most for a second, after which the API server retries a refused
// connection.
func (cp *ControlPlane) waitListening(ctx context.Context, port int) {
	_ = wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, time.Second, true, func(ctx context.Context) (bool, error) {
		select {
		case <-cp.etcd.done:
			return true, nil
		default:
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil, nil
	})
}

// withCause adds the likely cause to an error of the file system.
func withCause(err error) error {
	if cause := likelyCause(err, nil); cause != "" {
		return fmt.Errorf("%w; likely cause: %s", err, cause)
	}
	return err
}

// Kubeconfig returns a kubeconfig for this control plane.
func (cp *ControlPlane) Kubeconfig() []byte { return append([]byte{}, cp.kubeconfig...) }

// KubeconfigPath returns a file with Kubeconfig, which only this user can read. Stop removes it.
func (cp *ControlPlane) KubeconfigPath() string { return filepath.Join(cp.dir.Path, kubeconfigFile) }

// CAPath returns a file with CAData, which also signs the certificates of clients. Stop removes it.
func (cp *ControlPlane) CAPath() string { return filepath.Join(cp.dir.Path, caFile) }

// Env returns environment variables for programs that use this control plane, or start others.
func (cp *ControlPlane) Env() []string {
	return []string{"KUBECONFIG=" + cp.KubeconfigPath(), "KUBEBUILDER_ASSETS=" + cp.Assets.Dir}
}

// Done returns a channel that is closed when a server has exited.
func (cp *ControlPlane) Done() <-chan struct{} { return cp.done }

// Err returns the failure of the server that exited, after Done is closed.
func (cp *ControlPlane) Err() error {
	if ended := cp.ended(); ended != nil {
		return ended
	}
	return nil
}

// ended returns the failure of a server that has exited; nil if all run. It checks etcd first, whose exit stops the API server.
func (cp *ControlPlane) ended() *Failure {
	for _, p := range append([]*Process{cp.etcd, cp.api}, cp.extra...) {
		select {
		case <-p.done:
			return p.Failure()
		default:
		}
	}
	return nil
}

// Stop stops all servers and removes their data. It may be called repeatedly.
func (cp *ControlPlane) Stop() error {
	cp.stop.Do(func() {
		if cp.stopNode != nil {
			cp.stopNode()
		}
		for _, p := range cp.extra {
			p.kill()
		}
		cp.api.kill()
		cp.etcd.kill()
		cp.stopErr = cp.dir.Remove()
	})
	return cp.stopErr
}

// syncWriter is a writer for several servers.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
