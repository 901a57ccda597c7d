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

	"github.com/operon-sdk/operon/pkg/tempdir"
)

var errEnded = errors.New("it ended by itself")

// defaultTimeout is the default of StartOptions.Timeout.
const defaultTimeout = 2 * time.Minute

// StartOptions tell Start how to run a control plane; the zero value is good.
type StartOptions struct {
	// TempDir is where the data folder is made; empty is the system's folder for temporary files.
	TempDir string
	// Log gets the logs of both servers; nil is for nobody.
	Log io.Writer
	// Timeout is how long the servers may take until they are ready; 0 is two minutes.
	Timeout time.Duration
	// EtcdArgs and APIServerArgs follow the servers' own arguments, and override them.
	EtcdArgs, APIServerArgs []string
	// Environ is the environment of the servers.
	Environ []string
	// Address is an address of this machine that pods reach, for a control plane with real nodes: the API
	// server listens there, and the kubernetes service leads there. Nil is loopback.
	Address net.IP
	// ServiceAccounts demands of pods that their service account exists, as a cluster does. Controllers
	// have to make the default ones; see StartWorkloads.
	ServiceAccounts bool
	// WithoutRoles makes Start return before the API server has created the default roles and priority classes, which
	// takes another two seconds. The user of Kubeconfig needs no roles.
	WithoutRoles bool

	// ports chooses free ports; tests choose others.
	ports func(n int) ([]int, error)
}

// runPrefix starts the names of the directories of control planes.
const runPrefix = "controlplane"

// ControlPlane is a running etcd and kube-apiserver.
type ControlPlane struct {
	// URL is the API server's, like https://127.0.0.1:40123.
	URL string
	// CAData is the certificate, in PEM, that the API server's certificate is verified with.
	CAData []byte
	// Token authenticates a member of system:masters.
	Token string
	// Assets are the programs that run.
	Assets Assets

	dir        *tempdir.Dir
	kubeconfig []byte
	etcd, api  *process
	// extra are the servers of StartWorkloads, and stopNode ends its node.
	extra    []*process
	stopNode func()
	// done is closed once, by end.
	done    chan struct{}
	end     sync.Once
	stop    sync.Once
	stopErr error
}

// Start runs etcd and kube-apiserver and returns when the API server is ready. A server that cannot
// start gives a *Failure with the last lines of its log and the likely cause.
// The caller calls Stop; if it dies first, the servers end and the next Start removes their data.
func Start(ctx context.Context, assets Assets, o StartOptions) (*ControlPlane, error) {
	if missing := missingParts(assets.Dir, []string{Etcd, KubeAPIServer}); len(missing) > 0 {
		return nil, fmt.Errorf("starting a control plane: the assets have no %s", strings.Join(missing, ", "))
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	// The servers run in a folder of their own, where relative paths lead elsewhere.
	for _, path := range []*string{&assets.Dir, &o.TempDir} {
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, fmt.Errorf("starting a control plane: %w", err)
		}
	}
	if o.ports == nil {
		o.ports = freePorts
	}
	if o.Log != nil {
		o.Log = &syncWriter{w: o.Log}
	}
	// Between the choice of a port and its use, another program can take it.
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

// waitListening waits until etcd accepts connections or ends, but not longer than a second. That is how long the API
// server waits before it connects again after a refused connection.
func (cp *ControlPlane) waitListening(ctx context.Context, port int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-cp.etcd.done:
			return
		case <-ticker.C:
		}
	}
}

// withCause adds the likely cause to an error of the file system.
func withCause(err error) error {
	if cause := likelyCause(err, nil); cause != "" {
		return fmt.Errorf("%w; likely cause: %s", err, cause)
	}
	return err
}

// Kubeconfig is a kubeconfig file for this control plane.
func (cp *ControlPlane) Kubeconfig() []byte { return append([]byte{}, cp.kubeconfig...) }

// KubeconfigPath is a file with Kubeconfig that only this user can read. It is gone after Stop.
func (cp *ControlPlane) KubeconfigPath() string { return filepath.Join(cp.dir.Path, kubeconfigFile) }

// CAPath is a file with CAData: the authority that signs the clients' certificates, too. It is gone after Stop.
func (cp *ControlPlane) CAPath() string { return filepath.Join(cp.dir.Path, caFile) }

// Env is what to add to the environment of a program that is to use this control plane, or to start
// others like it.
func (cp *ControlPlane) Env() []string {
	return []string{"KUBECONFIG=" + cp.KubeconfigPath(), "KUBEBUILDER_ASSETS=" + cp.Assets.Dir}
}

// Done is closed when a server has ended, by Stop or by itself.
func (cp *ControlPlane) Done() <-chan struct{} { return cp.done }

// Err tells, once Done is closed, which server ended and why.
func (cp *ControlPlane) Err() error {
	if ended := cp.ended(); ended != nil {
		return ended
	}
	return nil
}

// ended returns the failure of a server that has ended. etcd comes first: the API server follows it.
func (cp *ControlPlane) ended() *Failure {
	for _, p := range append([]*process{cp.etcd, cp.api}, cp.extra...) {
		select {
		case <-p.done:
			return p.failure()
		default:
		}
	}
	return nil
}

// Stop ends all servers and removes their data. It may be called more than once.
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

// syncWriter lets two servers write one log.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
