package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/operon-sdk/operon/pkg/buildinfo"
)

// shutdownTimeout is the time to end the current passes. Pods of scaffolded projects are killed 10 seconds after SIGTERM.
const shutdownTimeout = 8 * time.Second

// newProgram returns the command of a program of operator-sdk with its command run.
func newProgram(s streams, name, short string, run *cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(run, newVersion(s, name))
	return c
}

// operatorOptions are the flags and variables of a command that reconciles until ctx ends.
type operatorOptions interface {
	complete(getenv func(string) string) error
	run(ctx context.Context, s streams) error
}

func newRun(s streams, o operatorOptions, long string) *cobra.Command {
	return &cobra.Command{
		Use: "run", Short: "Reconcile the kinds in watches.yaml", Long: long, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(s.getenv); err != nil {
				return err
			}
			return o.run(c.Context(), s)
		},
	}
}

// A kindReconciler reconciles the resources of a kind.
type kindReconciler interface {
	GroupVersionKind() schema.GroupVersionKind
}

// runReconcilers reconciles until ctx ends. The function setup adds the reconcilers to a manager.
func runReconcilers[R kindReconciler](ctx context.Context, o *managerOptions, s streams, reconcilers []R, setup func(manager.Manager) error) error {
	log := zap.New(zap.UseFlagOptions(&o.zap), zap.WriteTo(s.err))
	setLoggers(log)
	if s.getenv("OPERATOR_NAME") != "" {
		log.Info("the variable OPERATOR_NAME is deprecated; use --leader-election-id")
	}
	restConfig, err := o.restConfig()
	if err != nil {
		return err
	}
	mgr, err := o.newManager(restConfig, log)
	if err != nil {
		return err
	}
	var kinds []schema.GroupVersionKind
	for _, r := range reconcilers {
		kinds = append(kinds, r.GroupVersionKind())
	}
	if err := checkCluster(ctx, mgr, kinds, o.namespaces, log); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := setup(mgr); err != nil {
		return err
	}
	namespaces := "all"
	if len(o.namespaces) > 0 {
		namespaces = strings.Join(o.namespaces, ",")
	}
	log.Info("starting", "version", buildinfo.Read().Version, "watches", len(reconcilers), "namespaces", namespaces)
	return mgr.Start(ctx)
}

// checkWatches returns the error of reading watches.yaml, or one if it has no entries.
func (o *managerOptions) checkWatches(entries int, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usageError{fmt.Errorf("--watches-file %q: no such file; 'operon create api' writes one", o.watchesFile)}
	case err == nil && entries == 0:
		return fmt.Errorf("%s has no entries; 'operon create api' adds one", filepath.ToSlash(filepath.Clean(o.watchesFile)))
	}
	return err
}

// setLoggers sets the loggers of the libraries. Helm's logs values, which can be secrets.
func setLoggers(log logr.Logger) {
	ctrllog.SetLogger(log)
	klog.SetLogger(log)
	slog.SetDefault(slog.New(slog.DiscardHandler))
}

// restConfig returns how to access the cluster.
func (o *managerOptions) restConfig() (*rest.Config, error) {
	load := config.GetConfig
	if o.kubeconfig != "" {
		load = func() (*rest.Config, error) { return clientcmd.BuildConfigFromFlags("", o.kubeconfig) }
	}
	c, err := load()
	if err != nil {
		return nil, fmt.Errorf("no access to a cluster: %w; set KUBECONFIG, or run in a pod with a service account", err)
	}
	c.QPS = -1 // the server limits requests
	// A status that the schema of a kind does not describe causes the same warnings in each pass.
	c.WarningHandlerWithContext = ctrllog.NewKubeAPIWarningLogger(ctrllog.KubeAPIWarningLoggerOptions{Deduplicate: true})
	return c, nil
}

// newManager returns a manager without controllers.
func (o *managerOptions) newManager(c *rest.Config, log logr.Logger) (manager.Manager, error) {
	grace := o.gracePeriod
	options := manager.Options{
		Logger: log,
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
		},
		Metrics: server.Options{
			BindAddress:   o.metricsAddress,
			SecureServing: o.metricsSecure,
			TLSOpts:       o.tlsOptions(),
		},
		HealthProbeBindAddress:     o.probeAddress,
		LeaderElection:             o.leaderElect,
		LeaderElectionID:           o.leaderID,
		LeaderElectionNamespace:    o.leaderNamespace,
		GracefulShutdownTimeout:    &grace,
		LeaderElectionResourceLock: "leases",
		// The process ends with the manager, so that the next leader need not wait.
		LeaderElectionReleaseOnCancel: true,
	}
	if o.lease != (leaseOptions{}) {
		options.LeaseDuration, options.RenewDeadline = &o.lease.duration, &o.lease.renewDeadline
	}
	if o.metricsRBAC {
		options.Metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	if len(o.namespaces) > 0 {
		options.Cache.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range o.namespaces {
			options.Cache.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	mgr, err := manager.New(c, options)
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	ready := func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("custom resources are not listed yet")
		}
		return nil
	}
	return mgr, errors.Join(mgr.AddHealthzCheck("healthz", healthz.Ping), mgr.AddReadyzCheck("readyz", ready))
}

// tlsOptions disables HTTP/2, whose denial-of-service vulnerabilities a metrics endpoint does not need, unless it is enabled.
func (o *managerOptions) tlsOptions() []func(*tls.Config) {
	if o.http2 {
		return nil
	}
	return []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
}
