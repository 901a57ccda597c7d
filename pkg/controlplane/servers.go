package controlplane

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// etcdArgs returns the arguments of etcd with one member whose data need not survive a power failure.
func etcdArgs(dir, clientURL string) []string {
	in := func(name string) string { return filepath.Join(dir, name) }
	return []string{
		"--name=operon",
		"--data-dir=" + in("etcd"),
		"--listen-client-urls=" + clientURL,
		"--advertise-client-urls=" + clientURL,
		"--cert-file=" + in(servingFile+".crt"),
		"--key-file=" + in(servingFile+".key"),
		"--trusted-ca-file=" + in(caFile),
		"--client-cert-auth",
		// Peer URLs are required, but the only member never connects to them.
		"--listen-peer-urls=https://127.0.0.1:0",
		"--initial-advertise-peer-urls=https://127.0.0.1:1",
		"--initial-cluster=operon=https://127.0.0.1:1",
		"--peer-cert-file=" + in(servingFile+".crt"),
		"--peer-key-file=" + in(servingFile+".key"),
		"--peer-trusted-ca-file=" + in(caFile),
		"--peer-client-cert-auth",
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

// serviceRange is the range of service addresses; serviceAddress is the first one, which the API server gets.
const (
	serviceRange   = "10.96.0.0/16"
	serviceAddress = "10.96.0.1"
)

// apiServerArgs returns the arguments of kube-apiserver, with those for aggregated API servers. Without controllers, the service
// accounts of pods are not created.
func apiServerArgs(dir, etcdURL string, port int, o StartOptions) []string {
	in := func(name string) string { return filepath.Join(dir, name) }
	args := []string{
		"--etcd-servers=" + etcdURL,
		"--etcd-cafile=" + in(caFile),
		"--etcd-certfile=" + in(etcdClientFile+".crt"),
		"--etcd-keyfile=" + in(etcdClientFile+".key"),
		"--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + dir,
		"--tls-cert-file=" + in(servingFile+".crt"),
		"--tls-private-key-file=" + in(servingFile+".key"),
		"--client-ca-file=" + in(caFile),
		"--token-auth-file=" + in(tokenFile),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + in(accountKeyFile+".key"),
		"--service-account-signing-key-file=" + in(accountKeyFile+".key"),
		"--service-cluster-ip-range=" + serviceRange,
		"--allow-privileged=true",
		"--proxy-client-cert-file=" + in(proxyFile+".crt"),
		"--proxy-client-key-file=" + in(proxyFile+".key"),
		"--requestheader-client-ca-file=" + in(caFile),
		"--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--profiling=false",
	}
	if o.Address == nil {
		args = append(args,
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			// The endpoints of the kubernetes service must not be a loopback address.
			"--endpoint-reconciler-type=none",
			kubeletAddressFlag,
		)
	} else {
		args = append(args,
			"--bind-address="+o.Address.String(),
			"--advertise-address="+o.Address.String(),
			// Webhooks and aggregated API servers are called at their pods, not through kube-proxy's rules.
			"--enable-aggregator-routing=true",
			"--kubelet-preferred-address-types=InternalIP",
			"--kubelet-client-certificate="+in(etcdClientFile+".crt"),
			"--kubelet-client-key="+in(etcdClientFile+".key"),
		)
	}
	if !o.ServiceAccounts {
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return args
}

// waitReady polls the API server until it is ready, a server exits, or the time has expired.
func (cp *ControlPlane) waitReady(ctx context.Context, o StartOptions) error {
	check := "/readyz"
	if o.WithoutRoles {
		check += "?exclude=poststarthook/rbac/bootstrap-roles&exclude=poststarthook/scheduling/bootstrap-system-priority-classes"
	}
	return cp.waitFor(ctx, check, o)
}

// waitFor polls a check of the API server, such as /healthz, until it succeeds, a server exits, or the time
// has expired.
func (cp *ControlPlane) waitFor(ctx context.Context, check string, o StartOptions) error {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("not ready within %s", o.Timeout))
	defer cancel()
	client, err := cp.client()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	// A probe can hang if another program owns the port and does not respond.
	ready := make(chan struct{})
	var last atomic.Pointer[error]
	probing, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { probeUntilReady(probing, client, cp.URL+check, cp.Token, &last, ready) })
	defer wg.Wait()
	defer stop()
	select {
	case <-ready:
		return nil
	case <-cp.etcd.done:
		return cp.etcd.Failure()
	case <-cp.api.done:
		return cp.etcdFirst()
	case <-ctx.Done():
		return cp.notReady(context.Cause(ctx), last.Load())
	}
}

// probeUntilReady polls until a probe succeeds, after which it closes ready, or until ctx ends.
func probeUntilReady(ctx context.Context, client *http.Client, address, token string, last *atomic.Pointer[error], ready chan<- struct{}) {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, false, func(ctx context.Context) (bool, error) {
		err := probe(ctx, client, address, token)
		if err != nil && ctx.Err() == nil { // otherwise the context caused the error
			last.Store(&err)
		}
		return err == nil, nil
	})
	if err == nil {
		close(ready)
	}
}

// etcdFirst returns the failure after the exit of the API server, which can be caused by the exit of etcd.
func (cp *ControlPlane) etcdFirst() error {
	if ended := cp.ended(); ended != nil {
		return ended
	}
	return cp.api.Failure()
}

// notReady describes servers that were not ready in time.
func (cp *ControlPlane) notReady(cause error, last *error) error {
	if errors.Is(cause, context.Canceled) {
		return cause
	}
	if last != nil {
		cause = fmt.Errorf("%w: %w", cause, *last)
	}
	lines := cp.api.lines()
	f := &Failure{Program: KubeAPIServer, Err: cause, Lines: lines, Cause: likelyCause(nil, lines)}
	if lines := cp.etcd.lines(); f.Cause == "" && len(lines) > 0 {
		f.Cause = likelyCause(nil, lines)
	}
	return f
}

func (cp *ControlPlane) client() (*http.Client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(cp.CAData) {
		return nil, errors.New("cannot parse the certificate authority")
	}
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}, nil
}

// probe requests a check of the API server. The certificate ensures that it is not the server of another program on the same port.
func probe(ctx context.Context, client *http.Client, address, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s%s", request.URL.Path, response.Status, failedChecks(string(body)))
	}
	return nil
}

// failedChecks returns the failed checks in a response of /readyz or /healthz.
func failedChecks(body string) string {
	var failed []string
	for line := range strings.Lines(body) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "[-]"); ok {
			name, _, _ = strings.Cut(name, " ")
			failed = append(failed, name)
		}
	}
	if len(failed) == 0 {
		return ""
	}
	return ": " + strings.Join(failed, ", ")
}

// FreePorts returns n ports of 127.0.0.1 that were free a moment ago, all different.
func FreePorts(n int) (ports []int, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
