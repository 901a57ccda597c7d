package local

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

const (
	// establishTimeout bounds the wait for a new CRD, servingTimeout the wait for the webhook server.
	establishTimeout = 30 * time.Second
	servingTimeout   = time.Minute
	// stopGrace is how long the manager may take to stop.
	stopGrace = 15 * time.Second
)

// Options tell how to run a project's manager.
type Options struct {
	// Root is the project's folder, Name its name in PROJECT.
	Root, Name string
	// Workspace is a folder for what is built and made.
	Workspace string
	// Environ is the environment of go and of the manager.
	Environ []string
	// Cluster is the API server; Kubeconfig is the manager's KUBECONFIG for it.
	Cluster    *kube.Client
	Kubeconfig string
	// Namespace is where namespaced objects go that name none.
	Namespace string
	// Watched limits the manager to Namespace, where its code reads WATCH_NAMESPACE.
	Watched bool
	// Webhooks registers the project's webhooks, and makes a certificate for them.
	Webhooks bool
	// Log gets what the manager writes.
	Log io.Writer
}

// Session is one run of a project's manager. Its methods are called one at a time.
type Session struct {
	o      Options
	builds int
	binary string
	// stale are former binaries, one of which may still run.
	stale   []string
	flags   map[string]bool
	port    int
	ca      []byte
	program *controlplane.Program
	// registered are the webhook configurations in the cluster.
	registered []*kube.Object
}

// New prepares a session. Cluster, Kubeconfig and Namespace can be set later, with Connect.
func New(o Options) (*Session, error) {
	s := &Session{o: o}
	return s, s.SetWebhooks(o.Webhooks)
}

// SetWebhooks sets Options.Webhooks for the next start.
func (s *Session) SetWebhooks(on bool) error {
	s.o.Webhooks = on
	if !on || s.ca != nil {
		return nil
	}
	ca, err := controlplane.WriteServingCertificate(s.certDir())
	if err != nil {
		return fmt.Errorf("making a certificate for webhooks: %w", pathless(err))
	}
	s.ca = ca
	return nil
}

// Connect tells the session which API server to use.
func (s *Session) Connect(cluster *kube.Client, kubeconfig, namespace string) {
	s.o.Cluster, s.o.Kubeconfig, s.o.Namespace = cluster, kubeconfig, namespace
}

// certDir is controller-runtime's default below a folder for temporary files, so that managers
// without a flag for it find the certificate too.
func (s *Session) certDir() string {
	return filepath.Join(s.o.Workspace, "tmp", "k8s-webhook-server", "serving-certs")
}

// ErrBuild is what a failed build is; the error holds what go says.
var ErrBuild = errors.New("the manager does not build")

// Build compiles the manager and asks it for its flags. A failed build leaves the last one in place.
func (s *Session) Build(ctx context.Context) error {
	pkg, err := MainPackage(s.o.Root)
	if err != nil {
		return err
	}
	name := "manager-" + strconv.Itoa(s.builds+1)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	binary := filepath.Join(s.o.Workspace, name)
	var out bytes.Buffer
	err = controlplane.RunTied(ctx, controlplane.Command{
		Dir: s.o.Root, Env: s.o.Environ, Name: "go", Args: s.buildArgs(binary, pkg), Stdout: &out, Stderr: &out,
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		text := strings.TrimSpace(out.String())
		if text == "" {
			text = err.Error()
		}
		return fmt.Errorf("%w: go build %s:\n%s", ErrBuild, pkg, text)
	}
	s.builds++
	s.stale = append(s.stale, s.binary)
	s.binary, s.flags, s.port = binary, s.askFlags(ctx, binary), webhookPort(s.o.Root, pkg)
	return nil
}

// buildArgs leaves out what a debugger needs: it takes the linker half of its time.
func (s *Session) buildArgs(binary, pkg string) []string {
	args := []string{"build", "-buildvcs=false"}
	own := slices.ContainsFunc(s.o.Environ, func(entry string) bool {
		return strings.HasPrefix(entry, "GOFLAGS=") && strings.Contains(entry, "-ldflags")
	})
	if !own {
		args = append(args, "-ldflags=-w")
	}
	return append(args, "-o", binary, pkg)
}

// askFlags runs the manager for its help. One that does not parse flags has no way to a cluster, and
// is ended.
func (s *Session) askFlags(ctx context.Context, binary string) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var out bytes.Buffer
	nowhere := append(append([]string{}, s.o.Environ...), "KUBECONFIG="+filepath.Join(s.o.Workspace, "none"))
	// Help may end with any exit code.
	_ = controlplane.RunTied(ctx, controlplane.Command{Dir: s.o.Root, Env: nowhere, Name: binary, Args: []string{"-h"}, Stdout: &out, Stderr: &out})
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(?:-\w, )?--?([a-z][a-z0-9-]*)`).FindAllStringSubmatch(out.String(), -1) {
		flags[m[1]] = true
	}
	return flags
}

func (s *Session) endpoint() *endpoint {
	if !s.o.Webhooks {
		return nil
	}
	return &endpoint{port: s.port, ca: s.ca}
}

// Install brings the CRDs into the cluster and waits until they are served.
func (s *Session) Install(ctx context.Context) (names []string, err error) {
	definitions, err := crds(s.o.Root, s.endpoint())
	if err != nil {
		return nil, err
	}
	for _, crd := range definitions {
		if err := s.o.Cluster.Apply(ctx, crd, ""); err != nil {
			return nil, fmt.Errorf("installing the CRD %s: %w", crd.GetName(), explain(err))
		}
	}
	for _, crd := range definitions {
		if err := s.o.Cluster.WaitEstablished(ctx, crd.GetName(), establishTimeout); err != nil {
			return nil, fmt.Errorf("installing the CRD %s: %w", crd.GetName(), explain(err))
		}
		names = append(names, crd.GetName())
	}
	return names, nil
}

// explain adds what to do about a refusal.
func explain(err error) error {
	if kube.IsForbidden(err) {
		return fmt.Errorf("the cluster refuses this user: %w; ask for the rights, or use --control-plane embedded", err)
	}
	return err
}

// Start runs the manager and returns when it runs, and, with webhooks, when these are served and
// registered.
func (s *Session) Start(ctx context.Context) error {
	args, env, err := s.command()
	if err != nil {
		return err
	}
	if s.o.Webhooks {
		if err := portFree(s.port); err != nil {
			return err
		}
	}
	for _, binary := range s.stale {
		_ = os.Remove(binary) // else it goes with the workspace
	}
	s.stale = nil
	s.program, err = controlplane.StartProgram("the manager", controlplane.Command{
		Dir: s.o.Root, Env: env, Name: s.binary, Args: args,
	}, s.o.Log)
	if err != nil {
		return err
	}
	if s.o.Webhooks {
		if err := s.waitServing(ctx); err != nil {
			return err
		}
	}
	return s.register(ctx)
}

// command gives the manager's arguments and environment.
func (s *Session) command() (args, env []string, err error) {
	declared, err := managerEnv(s.o.Root, s.o.Namespace)
	if err != nil {
		return nil, nil, err
	}
	env = append(append(append([]string{}, s.o.Environ...), declared...), "KUBECONFIG="+s.o.Kubeconfig)
	if s.o.Watched {
		env = append(env, "WATCH_NAMESPACE="+s.o.Namespace)
	}
	for _, f := range []struct{ name, value string }{
		{"metrics-bind-address", "0"}, {"metrics-addr", "0"}, {"health-probe-bind-address", "127.0.0.1:0"},
	} {
		if s.flags[f.name] {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	switch {
	case !s.o.Webhooks:
		// The variable by which scaffolds leave their webhooks out.
		env = append(env, "ENABLE_WEBHOOKS=false")
	case s.flags["webhook-cert-path"]:
		args = append(args, "--webhook-cert-path="+s.certDir())
	default:
		tmp := filepath.Join(s.o.Workspace, "tmp")
		env = append(env, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp)
	}
	return args, env, nil
}

// portFree refuses a port that another program has: the manager would end because of it.
func portFree(port int) error {
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("port %d, where the manager serves its webhooks, is in use by another program; stop that, or use --webhooks=false", port)
	}
	return listener.Close()
}

// waitServing waits until the webhook server takes connections.
func (s *Session) waitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, servingTimeout, fmt.Errorf("the manager serves no webhooks on port %d within %s; if it has none, use --webhooks=false", s.port, servingTimeout))
	defer cancel()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.ca)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.program.Done():
			return s.Crash()
		case <-ticker.C:
		}
		connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
		if err == nil {
			return connection.Close()
		}
	}
}

// register points the cluster's webhooks at the manager.
func (s *Session) register(ctx context.Context) error {
	var objects []*kube.Object
	if s.o.Webhooks {
		var err error
		if objects, err = webhooks(s.o.Root, s.o.Name, s.endpoint()); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := s.o.Cluster.Apply(ctx, o, ""); err != nil {
			return fmt.Errorf("registering webhooks: %w", explain(err))
		}
	}
	// A webhook that is gone from the project would still be called.
	for _, old := range s.registered {
		if !slices.ContainsFunc(objects, func(o *kube.Object) bool { return kube.Name(o) == kube.Name(old) }) {
			if err := s.o.Cluster.Delete(ctx, old, ""); err != nil {
				return fmt.Errorf("removing webhooks: %w", explain(err))
			}
		}
	}
	s.registered = objects
	return nil
}

// Samples applies config/samples and returns what they are called.
func (s *Session) Samples(ctx context.Context) (names []string, err error) {
	objects, err := samples(s.o.Root)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := s.o.Cluster.Apply(ctx, o, s.o.Namespace); err != nil {
			return names, fmt.Errorf("applying the sample %s: %w", kube.Name(o), explain(err))
		}
		names = append(names, kube.Name(o))
	}
	return names, nil
}

// Done is closed when the manager has ended; it is nil while none has been started.
func (s *Session) Done() <-chan struct{} {
	if s.program == nil {
		return nil
	}
	return s.program.Done()
}

// Crash tells, once Done is closed, how the manager ended.
func (s *Session) Crash() error {
	failure := *s.program.Failure()
	failure.Cause = "" // the causes are those of servers
	s.program = nil
	return &failure
}

// Stop ends the manager, in order, or at once when hurry is closed. It reports false when the manager
// had to be killed.
func (s *Session) Stop(hurry <-chan struct{}) (graceful bool) {
	if s.program == nil {
		return true
	}
	graceful = s.program.Stop(stopGrace, hurry)
	s.program = nil
	return graceful
}

// Unregister removes from a cluster that stays what leads to this machine: the webhooks, and the
// conversion of the CRDs.
func (s *Session) Unregister(ctx context.Context) error {
	if s.ca == nil || s.o.Cluster == nil {
		return nil
	}
	var errs []error
	for _, o := range s.registered {
		errs = append(errs, s.o.Cluster.Delete(ctx, o, ""))
	}
	s.registered = nil
	definitions, err := crds(s.o.Root, nil)
	for _, crd := range definitions {
		if dig(crd.Object, "spec", "conversion") != nil {
			errs = append(errs, s.o.Cluster.Apply(ctx, crd, ""))
		}
	}
	return errors.Join(append(errs, err)...)
}
