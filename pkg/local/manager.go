package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// applyCRDs applies the CRDs, waits until they are served, and returns their names. It changes nothing if the cluster rejects one.
func (r *runner) applyCRDs(ctx context.Context) (names []string, err error) {
	definitions, err := r.source().crds()
	if err != nil {
		return nil, err
	}
	definitions = append(converted(definitions, r.endpoint()), ofKinds(r.o.CRDs, kube.CRDKind)...)
	for _, apply := range []func(context.Context, *kube.Object, string) error{r.cluster.Check, r.cluster.Apply} {
		for _, crd := range definitions {
			if err := apply(ctx, crd, ""); err != nil {
				return nil, fmt.Errorf("installing the CRD %s: %w", crd.GetName(), explain(err))
			}
		}
	}
	for _, crd := range definitions {
		if err := r.cluster.WaitEstablished(ctx, crd.GetName(), establishTimeout); err != nil {
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

// start starts the manager. With webhooks, it returns after they are served and registered.
func (r *runner) start(ctx context.Context) error {
	flags, env, err := r.command()
	if err != nil {
		return err
	}
	if r.serving {
		if err := r.checkPort(r.port); err != nil {
			return err
		}
	}
	for _, binary := range r.stale {
		_ = os.Remove(binary) // otherwise it is removed with the workspace
	}
	r.stale = nil
	name, args := r.binary, append(slices.Clone(r.o.Program.Args), flags...)
	if r.o.Debugger != nil {
		name, args = r.o.Debugger.command(name, args)
	}
	r.program, err = controlplane.StartProgram("the manager", controlplane.Command{Dir: r.o.Root, Env: env, Name: name, Args: args}, r.o.Log)
	if err != nil {
		return err
	}
	if r.o.Debugger != nil {
		r.progressf("the debugger listens on %[1]s; attach your IDE to it, or run:\n  dlv connect %[1]s", r.o.Debugger.Listen)
	}
	if r.serving {
		if err := r.waitServing(ctx); err != nil {
			return err
		}
	}
	if r.o.Preview != nil {
		return nil
	}
	return r.register(ctx)
}

// command returns the manager's flags and environment.
func (r *runner) command() (args, env []string, err error) {
	objects, err := r.source().manager()
	if err != nil {
		return nil, nil, err
	}
	kubeconfig, namespace := r.kubeconfig, r.namespace
	if r.access != nil {
		kubeconfig, namespace = r.access.Kubeconfig, r.access.Permissions().Namespace
	}
	environ := r.o.Environ
	if r.previewing != nil {
		kubeconfig, environ = r.previewKubeconfig(), outsideOfPod(environ)
	}
	env = slices.Concat(environ, managerEnv(objects, namespace), r.o.Program.Environ, []string{"KUBECONFIG=" + kubeconfig})
	if r.o.Config.Namespaced() || r.o.Namespace != "" && !r.isGiven() {
		env = append(env, "WATCH_NAMESPACE="+r.namespace)
	}
	metrics := "0"
	if r.o.Drive != nil && r.flags["metrics-bind-address"] {
		ports, err := controlplane.FreePorts(1)
		if err != nil {
			return nil, nil, err
		}
		r.metrics = fmt.Sprintf("127.0.0.1:%d", ports[0])
		metrics = r.metrics
	}
	for _, f := range []struct{ name, value string }{
		{"metrics-bind-address", metrics}, {"metrics-addr", "0"}, {"health-probe-bind-address", "127.0.0.1:0"},
		// A manager outside of a cluster doesn't know the namespace of its lease.
		{"leader-elect", "false"},
		// Operators on one machine cannot share the directories of runs for the same names.
		{"run-directory", filepath.Join(r.workspace.Path, "runs")},
	} {
		if r.flags[f.name] && !r.o.Program.sets(f.name) {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	if r.metrics != "" && r.flags["metrics-secure"] {
		args = append(args, "--metrics-secure=false") // for this process, on the loopback address
	}
	certFlag := ""
	for _, name := range []string{"cert-dir", "webhook-cert-dir", "webhook-cert-path"} {
		if r.flags[name] {
			certFlag = name
		}
	}
	switch {
	case !r.serving:
		// Scaffolds omit their webhooks with this variable.
		env = append(env, "ENABLE_WEBHOOKS=false")
	case certFlag != "":
		args = append(args, "--"+certFlag+"="+r.certDir())
	default:
		tmp := r.tempDir()
		env = append(env, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp)
	}
	return args, env, nil
}

// tempDir returns a directory for temporary files of the manager, which is removed with the workspace. It need not exist.
func (r *runner) tempDir() string { return filepath.Join(r.workspace.Path, "tmp") }

// exited returns a channel that is closed when the manager has exited; nil if none was started.
func (r *runner) exited() <-chan struct{} {
	if r.program == nil {
		return nil
	}
	return r.program.Done()
}

// crash returns how the manager exited, after the channel of exited is closed.
func (r *runner) crash() error {
	failure := *r.program.Failure()
	failure.Cause = "" // causes are about servers
	if r.o.Drive != nil && slices.ContainsFunc(failure.Lines, func(line string) bool { return strings.Contains(line, "tls.crt: ") }) {
		failure.Cause = "it reads the certificate of its webhooks from a directory that no flag names: pass that directory with --cert-dir"
	}
	r.program = nil
	return &failure
}

// stop interrupts the manager and waits for its exit. It kills the manager after a grace period, or when kill is closed, and reports
// whether that was not necessary.
func (r *runner) stop(kill <-chan struct{}) (graceful bool) {
	if r.program == nil {
		return true
	}
	graceful = r.program.Stop(stopGrace, kill)
	r.program = nil
	return graceful
}
