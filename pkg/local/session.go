package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

const (
	// establishTimeout is the maximum time until a CRD is served, servingTimeout that until the webhook server is ready.
	establishTimeout = 30 * time.Second
	servingTimeout   = time.Minute
	// stopGrace is the time after which the manager is killed.
	stopGrace = 15 * time.Second
)

// Options are the options of a session.
type Options struct {
	// Root is the project's directory, Name its name in PROJECT.
	Root, Name string
	// Workspace is a directory for builds and temporary files.
	Workspace string
	// Keep is the file that stores the built manager for the next session; empty disables it.
	Keep string
	// Environ is the environment of go and of the manager.
	Environ []string
	// Cluster is the client of the API server, Kubeconfig the manager's KUBECONFIG.
	Cluster    *kube.Client
	Kubeconfig string
	// Namespace is that of namespaced objects without one.
	Namespace string
	// Watched limits the manager to Namespace, if its code reads WATCH_NAMESPACE.
	Watched bool
	// Webhooks enables the project's webhooks, with a certificate.
	Webhooks bool
	// Log receives the manager's output.
	Log io.Writer
}

// A Session builds and runs a project's manager. Calls of its methods must not overlap.
type Session struct {
	o      Options
	builds int
	binary string
	// stale are former binaries; one of them may still run.
	stale   []string
	flags   map[string]bool
	port    int
	ca      []byte
	program *controlplane.Program
	// registered are the webhook configurations in the cluster.
	registered []*kube.Object
}

// New returns a session. Cluster, Kubeconfig and Namespace can be set later, with Connect.
func New(o Options) (*Session, error) {
	s := &Session{o: o}
	return s, s.SetWebhooks(o.Webhooks)
}

// Connect sets the API server.
func (s *Session) Connect(cluster *kube.Client, kubeconfig, namespace string) {
	s.o.Cluster, s.o.Kubeconfig, s.o.Namespace = cluster, kubeconfig, namespace
}

// Install applies the CRDs, waits until they are served, and returns their names. It changes nothing if the cluster rejects one.
func (s *Session) Install(ctx context.Context) (names []string, err error) {
	definitions, err := crds(s.o.Root, s.endpoint())
	if err != nil {
		return nil, err
	}
	for _, apply := range []func(context.Context, *kube.Object, string) error{s.o.Cluster.Check, s.o.Cluster.Apply} {
		for _, crd := range definitions {
			if err := apply(ctx, crd, ""); err != nil {
				return nil, fmt.Errorf("installing the CRD %s: %w", crd.GetName(), explain(err))
			}
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

// explain adds the remedy to a rejection.
func explain(err error) error {
	if kube.IsForbidden(err) {
		return fmt.Errorf("the cluster rejects this user: %w; request the permissions, or use --control-plane embedded", err)
	}
	return err
}

// Start starts the manager. With webhooks, it returns after they are served and registered.
func (s *Session) Start(ctx context.Context) error {
	args, env, err := s.command()
	if err != nil {
		return err
	}
	if s.o.Webhooks {
		if err := checkPort(s.port); err != nil {
			return err
		}
	}
	for _, binary := range s.stale {
		_ = os.Remove(binary) // otherwise it is removed with the workspace
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

// command returns the manager's arguments and environment.
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
		// Scaffolds omit their webhooks with this variable.
		env = append(env, "ENABLE_WEBHOOKS=false")
	case s.flags["webhook-cert-path"]:
		args = append(args, "--webhook-cert-path="+s.certDir())
	default:
		tmp := filepath.Join(s.o.Workspace, "tmp")
		env = append(env, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp)
	}
	return args, env, nil
}

// Samples applies config/samples and returns the names of the applied objects.
func (s *Session) Samples(ctx context.Context) (names []string, err error) {
	objects, err := samples(s.o.Root)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, o := range objects {
		if err := s.o.Cluster.Apply(ctx, o, s.o.Namespace); err != nil {
			errs = append(errs, fmt.Errorf("applying the sample %s: %w", kube.Name(o), explain(err)))
			continue
		}
		names = append(names, kube.Name(o))
	}
	return names, errors.Join(errs...)
}

// Done returns a channel that is closed when the manager has exited; nil if none was started.
func (s *Session) Done() <-chan struct{} {
	if s.program == nil {
		return nil
	}
	return s.program.Done()
}

// Crash returns how the manager exited, after Done is closed.
func (s *Session) Crash() error {
	failure := *s.program.Failure()
	failure.Cause = "" // the causes are those of servers
	s.program = nil
	return &failure
}

// Stop interrupts the manager and waits for its exit. It kills the manager after a grace period, or when kill is closed, and reports
// whether that was not necessary.
func (s *Session) Stop(kill <-chan struct{}) (graceful bool) {
	if s.program == nil {
		return true
	}
	graceful = s.program.Stop(stopGrace, kill)
	s.program = nil
	return graceful
}
