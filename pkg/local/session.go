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
	// Keep is the file that stores the built manager for the next session; empty disables it.
	Keep string
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

// Connect tells the session which API server to use.
func (s *Session) Connect(cluster *kube.Client, kubeconfig, namespace string) {
	s.o.Cluster, s.o.Kubeconfig, s.o.Namespace = cluster, kubeconfig, namespace
}

// Install brings the CRDs into the cluster and waits until they are served. It changes nothing when the
// cluster refuses one of them.
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

// explain adds what to do about a refusal.
func explain(err error) error {
	if kube.IsForbidden(err) {
		return fmt.Errorf("the cluster rejects this user: %w; ask for the rights, or use --control-plane embedded", err)
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

// Samples applies config/samples and returns what those are called that the cluster took.
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
