package ansibleoperator

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

// Settings apply to all reconcilers of a process.
type Settings struct {
	// Environ is the environment of runs as KEY=VALUE, and the source of variables in watches.yaml.
	Environ []string
	// Dir is the working directory, which relative paths refer to; empty is the process's.
	Dir string
	// RolesPaths and CollectionsPaths are searched before ANSIBLE_ROLES_PATH and ANSIBLE_COLLECTIONS_PATH.
	RolesPaths, CollectionsPaths []string
	// Args are additional arguments of ansible-playbook, in the form of a POSIX shell.
	Args string
	// LogEvents selects the events of runs that are logged; empty is runner.Tasks.
	LogEvents runner.LogEvents
	// Output receives the output of each run, without secrets, if it is not nil.
	Output io.Writer
	// RunDirectory contains the directories of runs; empty is runner.DefaultRoot.
	RunDirectory string
	// ColdInterpreters starts a new Python interpreter for each run, which is slower and saves the memory of one that waits for runs.
	ColdInterpreters bool
	// MaxArtifactBytes limits the total size of the artifacts of runs. 0 is runner.DefaultMaxBytes, a negative value no limit.
	MaxArtifactBytes int64
	// ProxyPort is the port of the proxy for runs on 127.0.0.1; 0 is any that is free.
	ProxyPort int
	// SkipOwnerReferences does not add owner references to objects that runs create.
	SkipOwnerReferences bool
	// Namespaces are the namespaces in the manager's cache; none for all.
	Namespaces []string
	// MetricsAddress is where the module osdk_metric sends metrics to. Empty is DefaultMetricsAddress; "0" disables it.
	MetricsAddress string
}

func (s Settings) runnerConfig(log logr.Logger) runner.Config {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		dir = s.Dir // the working directory was removed
	}
	return runner.Config{
		Root: s.RunDirectory, Environ: s.Environ, Dir: dir, RolesPaths: s.RolesPaths, CollectionsPaths: s.CollectionsPaths,
		Args: s.Args, LogEvents: s.LogEvents, Output: s.Output, MaxBytes: s.MaxArtifactBytes, Cold: s.ColdInterpreters, Log: log,
	}
}

// Check returns an error that names what is missing or too old on the machine for runs: ansible and ansible-runner. The warnings name
// what only some tasks need: the Kubernetes client for Python.
func Check(ctx context.Context, settings Settings) (warnings []error, err error) {
	machine, err := runner.Check(ctx, settings.runnerConfig(logr.Discard()))
	if err != nil {
		return nil, err
	}
	return machine.CheckPackages().Unwrap(), nil
}

// Setup adds the controllers of reconcilers to a manager, and what they share: the runner and the proxy, which listens on 127.0.0.1 for
// the runs only.
func Setup(mgr manager.Manager, settings Settings, reconcilers ...*Reconciler) error {
	if len(reconcilers) == 0 {
		return nil
	}
	collectors, err := registerCollectors(metrics.Registry)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	schemas, err := newSchemas(mgr.GetConfig(), mgr.GetHTTPClient(), mgr.GetLogger().WithName("schemas"))
	if err != nil {
		return err
	}
	e := &engine{log: mgr.GetLogger(), environ: settings.Environ}
	kinds := make([]schema.GroupKind, len(reconcilers))
	for i, r := range reconcilers {
		kinds[i] = r.kind.GVK.GroupKind()
	}
	e.proxy, err = proxy.New(proxy.Config{
		REST: mgr.GetConfig(), HTTPClient: mgr.GetHTTPClient(), Mapper: mgr.GetRESTMapper(), Port: settings.ProxyPort,
		Namespaces: settings.Namespaces, InjectOwnerReferences: !settings.SkipOwnerReferences, Log: mgr.GetLogger().WithName("proxy"),
		OwnerKinds: kinds, Registry: metrics.Registry,
	})
	if err != nil {
		return err
	}
	e.runner, err = runner.New(settings.runnerConfig(mgr.GetLogger().WithName("runner")))
	if err != nil {
		return err
	}
	if err := mgr.Add(e); err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return e.removeFailed(ctx, mgr.GetCache(), settings.Namespaces, reconcilers)
	})); err != nil {
		return err
	}
	if settings.MetricsAddress != "0" {
		if err := mgr.Add(newUserMetrics(settings.MetricsAddress, metrics.Registry, mgr.GetLogger().WithName("osdk_metric"))); err != nil {
			return err
		}
	}
	if err := watchOthers(mgr, settings.Namespaces, e.proxy, reconcilers); err != nil {
		return err
	}
	sources := valuesfrom.NewWatcher(mgr, settings.Namespaces, mgr.GetLogger().WithName("vars"))
	dependencies, err := dependson.NewWatcher(mgr, settings.Namespaces, mgr.GetLogger().WithName("dependencies"))
	if err != nil {
		return err
	}
	for _, r := range reconcilers {
		if r.dependencies, err = dependencies.Add(r.kind.GVK.GroupKind(), r.dependsOn, r.dependencyChanged); err != nil {
			return err
		}
		if r.sources, err = sources.Add("varsFrom", r.varsFrom, r.sourceChanged); err != nil {
			return err
		}
		r.engine, r.metrics, r.schemas = e, collectors, schemas
		collectors.initialize(r.kind.GVK, r.finalizer != nil)
		if r.manageStatus {
			r.kind.Census = collectors.census
		}
		if err := r.startRollout(settings); err != nil {
			return err
		}
		if err := r.addController(mgr); err != nil {
			return fmt.Errorf("adding the controller of %s: %w", r.kind.GVK.Kind, err)
		}
	}
	return nil
}

// An engine is what all reconcilers of a process share. The manager stops it before the controllers, so that it ends all runs.
type engine struct {
	runner *runner.Runner
	proxy  *proxy.Proxy
	log    logr.Logger
	// environ is the environment of runs, whose secrets messages must not contain.
	environ  []string
	stopping atomic.Bool
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e *engine) NeedLeaderElection() bool { return false }

// Start serves until ctx ends, and then ends all runs before the proxy, so that none fails because of its end.
func (e *engine) Start(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	served := make(chan error, 1)
	go func() { served <- e.proxy.Start(serving) }()
	select {
	case err := <-served:
		e.stop()
		return err
	case <-ctx.Done():
	}
	e.stop()
	stop()
	return <-served
}

// stop ends all runs and removes their directories.
func (e *engine) stop() {
	e.stopping.Store(true)
	if err := e.runner.Close(); err != nil {
		e.log.Error(err, "cannot remove the directories of runs")
	}
}

// isStopping reports whether runs are ended because the process ends.
func (e *engine) isStopping() bool { return e.stopping.Load() }

// remove removes what is kept of a custom resource that no longer exists.
func (e *engine) remove(ctx context.Context, gvk schema.GroupVersionKind, key types.NamespacedName) {
	e.proxy.Remove(gvk, key)
	if err := e.runner.Remove(ctx, gvk, key); err != nil && !e.isStopping() {
		e.log.Error(err, "cannot remove the directory of a deleted resource", "kind", gvk.Kind, "namespace", key.Namespace, "name", key.Name)
	}
}
