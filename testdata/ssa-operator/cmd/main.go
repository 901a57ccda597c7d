// Command main runs the controllers of ssa-operator.
package main

import (
	"crypto/tls"
	"flag"
	"os"

	// Credential plugins for kubeconfig files of cloud providers and of "exec" users.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	crewv1 "example.com/ssa-operator/api/v1"
	"example.com/ssa-operator/internal/controller"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	// +kubebuilder:scaffold:imports
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))

	utilruntime.Must(crewv1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

// servingCert names the files of a TLS certificate. They are watched: a renewed certificate is
// served without a restart.
type servingCert struct {
	dir, cert, key string
}

// settings are the command-line flags of the manager.
type settings struct {
	metricsAddr   string
	secureMetrics bool
	metricsCert   servingCert
	webhookCert   servingCert
	probeAddr     string
	leaderElect   bool
	http2         bool
	log           zap.Options
}

// bind declares the flags, with their defaults, on a flag set.
func (s *settings) bind(flags *flag.FlagSet) {
	flags.StringVar(&s.metricsAddr, "metrics-bind-address", "0",
		"Address of the metrics endpoint, for example :8443 with TLS or :8080 without; 0 turns it off.")
	flags.BoolVar(&s.secureMetrics, "metrics-secure", true,
		"Serve metrics over HTTPS to authenticated and authorized clients only; false serves plain HTTP to everyone.")
	s.metricsCert.bind(flags, "metrics", "Without it, the metrics endpoint signs its own certificate.")
	s.webhookCert.bind(flags, "webhook", "Without it, controller-runtime's default directory is used.")
	flags.StringVar(&s.probeAddr, "health-probe-bind-address", ":8081", "Address of the /healthz and /readyz probes.")
	flags.BoolVar(&s.leaderElect, "leader-elect", false,
		"Elect a leader, so that only one of several replicas reconciles at a time.")
	flags.BoolVar(&s.http2, "enable-http2", false,
		"Offer HTTP/2 on the metrics and webhook servers. Off by default, because clients can exhaust "+
			"an HTTP/2 server by resetting streams (CVE-2023-44487, CVE-2023-39325).")
	s.log.Development = true
	s.log.BindFlags(flags)
}

func (c *servingCert) bind(flags *flag.FlagSet, server, fallback string) {
	flags.StringVar(&c.dir, server+"-cert-path", "", "Directory of the "+server+" server's certificate. "+fallback)
	flags.StringVar(&c.cert, server+"-cert-name", "tls.crt", "File name of the "+server+" server's certificate.")
	flags.StringVar(&c.key, server+"-cert-key", "tls.key", "File name of the "+server+" server's private key.")
}

// tlsOptions are the settings that the metrics and the webhook server share.
func (s *settings) tlsOptions() []func(*tls.Config) {
	if s.http2 {
		return nil
	}
	return []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
}

func (s *settings) metrics() metricsserver.Options {
	options := metricsserver.Options{
		BindAddress:   s.metricsAddr,
		SecureServing: s.secureMetrics,
		TLSOpts:       s.tlsOptions(),
	}
	if s.secureMetrics {
		// Each request is checked against the cluster's own users and RBAC rules. config/rbac lets the
		// manager ask (metrics_auth_role.yaml) and readers read (metrics_reader_role.yaml).
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	if s.metricsCert.dir != "" {
		options.CertDir, options.CertName, options.KeyName = s.metricsCert.dir, s.metricsCert.cert, s.metricsCert.key
	}
	return options
}

func (s *settings) webhooks() webhook.Server {
	options := webhook.Options{TLSOpts: s.tlsOptions()}
	if s.webhookCert.dir != "" {
		options.CertDir, options.CertName, options.KeyName = s.webhookCert.dir, s.webhookCert.cert, s.webhookCert.key
	}
	return webhook.NewServer(options)
}

func main() {
	var s settings
	s.bind(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&s.log)))

	config, err := ctrl.GetConfig()
	if err != nil {
		setupLog.Error(err, "Failed to load the cluster's configuration")
		os.Exit(1)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                s.metrics(),
		WebhookServer:          s.webhooks(),
		HealthProbeBindAddress: s.probeAddr,
		LeaderElection:         s.leaderElect,
		LeaderElectionID:       "72968df7.example.com",
	})
	if err != nil {
		setupLog.Error(err, "Failed to create the manager")
		os.Exit(1)
	}

	if err := (&controller.CaptainReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "Failed to create controller", "controller", "captain")
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "Failed to add the liveness check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "Failed to add the readiness check")
		os.Exit(1)
	}

	setupLog.Info("Starting the manager")
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "The manager stopped with an error")
		os.Exit(1)
	}
}
