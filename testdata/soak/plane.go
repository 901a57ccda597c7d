package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// A plane is a control plane whose API server can be restarted, and whose etcd can be full.
type plane struct {
	*controlplane.ControlPlane
	client client.WithWatch
	// server is the API server that runs, and restarted the process that replaces the one of pkg/controlplane.
	server    runningProcess
	restarted *process
	log       *os.File
}

func startPlane(ctx context.Context, dir string, progress func(string)) (*plane, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.Progress = progress
	assets, err := controlplane.Ensure(ctx, options)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "control-plane.log"))
	if err != nil {
		return nil, err
	}
	cp, err := controlplane.Start(ctx, assets, controlplane.StartOptions{TempDir: dir, Log: log, Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	p := &plane{ControlPlane: cp, log: log}
	p.server, err = findProcess("--etcd-servers=", "--secure-port=", "--cert-dir="+filepath.Dir(cp.KubeconfigPath()))
	if err == nil {
		p.client, err = p.newClient()
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *plane) newClient() (client.WithWatch, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(p.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the program waits for its own requests
	return client.NewWithWatch(config, client.Options{})
}

func (p *plane) stop() {
	if p.restarted != nil {
		p.restarted.stop(syscall.SIGKILL)
	}
	if err := p.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
	}
	_ = p.log.Close() // it is a log
}

// gracePeriod is how long an API server may take to end after SIGTERM. It waits for requests, also for watches.
const gracePeriod = 15 * time.Second

// restart ends the API server with a signal and starts it again with the same arguments, after a pause.
func (p *plane) restart(ctx context.Context, signal os.Signal, pause time.Duration) (err error) {
	server, ended := (*os.Process)(nil), p.Done()
	if p.restarted != nil {
		server, ended = p.restarted.cmd.Process, p.restarted.done
	} else if server, err = os.FindProcess(p.server.pid); err != nil {
		return err
	}
	if err := server.Signal(signal); err != nil {
		return fmt.Errorf("ending the API server: %w", err)
	}
	select {
	case <-ended:
	case <-time.After(gracePeriod):
		_ = server.Kill() // it may have ended by now
		<-ended
	}
	sleep(ctx, pause)
	if p.restarted, err = startProcess(p.server.args, p.server.environ, p.server.dir, p.log); err != nil {
		return fmt.Errorf("starting the API server: %w", err)
	}
	return poll(ctx, 2*time.Minute, 100*time.Millisecond, func(ctx context.Context) error { return p.probe(ctx) })
}

// probe returns an error unless the API server is ready.
func (p *plane) probe(ctx context.Context) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(p.CAData)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.Token)
	return do(request, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
}

// argument returns the value of an argument of the API server.
func (p *plane) argument(name string) string {
	for _, arg := range p.server.args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// setFull makes etcd refuse writes as if its quota were exceeded, until full is false: it raises the alarm that etcd itself raises.
func (p *plane) setFull(ctx context.Context, full bool) error {
	action := "DEACTIVATE"
	if full {
		action = "ACTIVATE"
	}
	certificate, err := tls.LoadX509KeyPair(p.argument("etcd-certfile"), p.argument("etcd-keyfile"))
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(p.argument("etcd-cafile"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	body, err := json.Marshal(map[string]any{"action": action, "alarm": "NOSPACE"})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.argument("etcd-servers")+"/v3/maintenance/alarm", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if err := do(request, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}); err != nil {
		return fmt.Errorf("alarm of etcd: %w", err)
	}
	return nil
}

// do sends a request and returns an error unless the code is 200.
func do(request *http.Request, config *tls.Config) error {
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("%s: %s %s", request.URL.Path, response.Status, body), err)
	}
	return nil
}

// poll calls check until it returns nil, and returns its last error after a limit.
func poll(ctx context.Context, limit, interval time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for {
		if err := check(ctx); err == nil {
			return nil
		} else if last == nil || ctx.Err() == nil { // otherwise the context caused the error
			last = err
		}
		if !sleep(ctx, interval) {
			return last
		}
	}
}

// sleep waits, and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
