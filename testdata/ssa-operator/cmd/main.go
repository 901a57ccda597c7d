// Package main runs the ssa-operator controller manager.
package main

import (
	"crypto/tls"
	"flag"
	"os"

	// Authentication plugins for kubeconfig files, such as exec and the plugins of cloud providers.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	crewv1 "example.com/ssa-operator/api/v1"
	"example.com/ssa-operator/internal/controller"
	webhookv1 "example.com/ssa-operator/internal/webhook/v1"
	"example.com/ssa-operator/internal/webhookcert"
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

// servingCert describes the files of a TLS certificate. Changed files are reloaded without a restart.
type servingCert struct {
	dir, cert, key string
}

// settings holds the command-line flags of the manager.
type settings struct {
	metricsAddr   string
	secureMetrics bool
	metricsCert   servingCert
	webhookCert   servingCert
	webhookPort   int
	probeAddr     string
	leaderElect   bool
	http2         bool
	log           zap.Options
}

// bind adds the flags to a flag set.
func (s *settings) bind(flags *flag.FlagSet) {
	flags.StringVar(&s.metricsAddr, "metrics-bind-address", "0",
		"Address of the metrics endpoint, such as :8443 for HTTPS or :8080 for HTTP. 0 disables it.")
	flags.BoolVar(&s.secureMetrics, "metrics-secure", true,
		"Serve metrics over HTTPS to authorized clients only. If false, serve them over HTTP to all clients.")
	s.metricsCert.bind(flags, "metrics", "If empty, the server uses a self-signed certificate.")
	s.webhookCert.bind(flags, "webhook", "If empty, the server uses the default directory of controller-runtime.")
	flags.IntVar(&s.webhookPort, "webhook-port", webhook.DefaultPort, "Port of the webhook server. -1 disables it.")
	flags.StringVar(&s.probeAddr, "health-probe-bind-address", ":8081", "Address of the health and readiness probes.")
	flags.BoolVar(&s.leaderElect, "leader-elect", false,
		"Enable leader election, so that only one replica reconciles at a time.")
	flags.BoolVar(&s.http2, "enable-http2", false,
		"Enable HTTP/2 for the metrics and webhook servers. It is disabled by default because of "+
			"CVE-2023-44487 and CVE-2023-39325.")
	s.log.Development = true
	s.log.BindFlags(flags)
}

func (c *servingCert) bind(flags *flag.FlagSet, server, fallback string) {
	flags.StringVar(&c.dir, server+"-cert-path", "", "Directory of the "+server+" server's certificate. "+fallback)
	flags.StringVar(&c.cert, server+"-cert-name", "tls.crt", "File name of the "+server+" server's certificate.")
	flags.StringVar(&c.key, server+"-cert-key", "tls.key", "File name of the "+server+" server's private key.")
}

// tlsOptions returns the TLS options of the metrics and webhook servers.
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
		// The API server authenticates and authorizes each request. config/rbac has the roles for this: of the manager in
		// metrics_auth_role.yaml, and of clients in metrics_reader_role.yaml.
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	if s.metricsCert.dir != "" {
		options.CertDir, options.CertName, options.KeyName = s.metricsCert.dir, s.metricsCert.cert, s.metricsCert.key
	}
	return options
}

func (s *settings) webhooks() webhook.Server {
	options := webhook.Options{Port: s.webhookPort, TLSOpts: s.tlsOptions()}
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
		setupLog.Error(err, "Failed to load the configuration of the cluster")
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
	if err := (&controller.CookReconciler{
		Client:   mgr.GetClient(),
		Scheme:   mgr.GetScheme(),
		Recorder: mgr.GetEventRecorder("cook-controller"),
		Image:    os.Getenv("COOK_IMAGE"),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "Failed to create controller", "controller", "cook")
		os.Exit(1)
	}
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookv1.SetupCaptainWebhookWithManager(mgr); err != nil {
			setupLog.Error(err, "Failed to create webhook", "webhook", "Captain")
			os.Exit(1)
		}
	}
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookcert.SetupWithManager(mgr); err != nil {
			setupLog.Error(err, "Failed to set up the certificate of the webhook server")
			os.Exit(1)
		}
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
		setupLog.Error(err, "Failed to run the manager")
		os.Exit(1)
	}
}
