package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/watches"
)

// podNamespace is the file with the namespace of a pod.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// managerOptions are the flags and variables that "helm-operator run" and "ansible-operator run" share. Names and defaults match
// operator-sdk's programs.
type managerOptions struct {
	watchesFile     string
	reconcilePeriod time.Duration
	maxConcurrent   int
	kubeconfig      string

	metricsAddress string
	metricsSecure  bool
	metricsRBAC    bool
	probeAddress   string
	http2          bool

	leaderElect     bool
	leaderID        string
	leaderNamespace string

	gracePeriod time.Duration
	lease       leaseOptions

	zap zap.Options

	// namespaces come from WATCH_NAMESPACE; none means all.
	namespaces []string
}

// leaseOptions are the times of the leader election; zero values are the defaults of the manager.
type leaseOptions struct{ duration, renewDeadline time.Duration }

// flagDefaults are the defaults in which the programs differ.
type flagDefaults struct {
	reconcilePeriod              time.Duration
	metricsAddress, probeAddress string
	// content is what watches.yaml contains besides kinds.
	content string
}

// bind adds the flags to a command.
func (o *managerOptions) bind(c *cobra.Command, defaults flagDefaults) {
	f := c.Flags()
	f.SortFlags = true
	o.gracePeriod = shutdownTimeout
	f.StringVar(&o.watchesFile, "watches-file", "./"+watches.FileName, "`file` with the kinds to reconcile and their "+defaults.content)
	f.DurationVar(&o.reconcilePeriod, "reconcile-period", defaults.reconcilePeriod, "`time` between two passes of a resource without changes; 0 disables them")
	f.IntVar(&o.maxConcurrent, "max-concurrent-reconciles", runtime.NumCPU(), "`number` of resources of each kind that are reconciled at a time")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: KUBECONFIG, the service account of the pod, or ~/.kube/config)")

	f.StringVar(&o.metricsAddress, "metrics-bind-address", defaults.metricsAddress, "`address` of the metrics endpoint; 0 disables it")
	f.BoolVar(&o.metricsSecure, "metrics-secure", false, "serve metrics over HTTPS")
	f.BoolVar(&o.metricsRBAC, "metrics-require-rbac", false, "authenticate and authorize requests for metrics; requires --metrics-secure")
	f.StringVar(&o.probeAddress, "health-probe-bind-address", defaults.probeAddress, "`address` of /healthz and /readyz; 0 disables them")
	f.BoolVar(&o.http2, "enable-http2", false, "enable HTTP/2 for metrics")

	f.BoolVar(&o.leaderElect, "leader-elect", false, "reconcile only while this process is the leader of all with the same --leader-election-id")
	f.StringVar(&o.leaderID, "leader-election-id", "", "`name` of the Lease of the leader election")
	f.StringVar(&o.leaderNamespace, "leader-election-namespace", "", "`namespace` of the Lease (default: the namespace of the pod)")

	f.StringVar(&o.metricsAddress, "metrics-addr", defaults.metricsAddress, "`address` of the metrics endpoint")
	f.BoolVar(&o.leaderElect, "enable-leader-election", false, "same as --leader-elect")
	for old, replacement := range map[string]string{"metrics-addr": "metrics-bind-address", "enable-leader-election": "leader-elect"} {
		_ = f.MarkDeprecated(old, "use --"+replacement) // the only error is a flag that does not exist
	}

	logging := flag.NewFlagSet("", flag.ContinueOnError)
	o.zap.BindFlags(logging)
	f.AddGoFlagSet(logging)
	// Those of failed passes name functions of libraries only.
	stacktrace := f.Lookup("zap-stacktrace-level")
	stacktrace.DefValue = "panic"
	_ = stacktrace.Value.Set(stacktrace.DefValue) // the value is valid
	for name, usage := range map[string]string{
		"zap-devel":            "log as text, from level debug",
		"zap-encoder":          "`format` of the log: json or console",
		"zap-log-level":        "`level` of the log: debug, info, error, panic or a number greater than 0",
		"zap-stacktrace-level": "`level` from which stack traces are logged: info, error or panic",
		"zap-time-encoding":    "`format` of times: epoch, millis, nano, iso8601, rfc3339 or rfc3339nano (default epoch)",
	} {
		f.Lookup(name).Usage = usage
	}
}

// complete adds the variables and validates. The error has all problems, also those that are given.
func (o *managerOptions) complete(getenv func(string) string, errs ...error) error {
	addf := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.reconcilePeriod < 0 {
		addf("--reconcile-period %q: must not be negative", o.reconcilePeriod)
	}
	if o.maxConcurrent < 1 {
		addf("--max-concurrent-reconciles \"%d\": must be greater than zero", o.maxConcurrent)
	}
	if o.metricsRBAC && !o.metricsSecure {
		addf("--metrics-require-rbac requires --metrics-secure")
	}
	if o.leaderID == "" {
		o.leaderID = getenv("OPERATOR_NAME") // the deprecated source
	}
	if o.leaderElect && o.leaderID == "" {
		addf("--leader-elect requires --leader-election-id")
	}
	if _, err := os.Stat(podNamespace); err != nil && o.leaderElect && o.leaderNamespace == "" {
		addf("--leader-elect requires --leader-election-namespace outside of a pod")
	}
	o.namespaces = customresource.Namespaces(getenv("WATCH_NAMESPACE"))
	for _, name := range o.namespaces {
		if len(validation.IsDNS1123Label(name)) > 0 {
			addf("WATCH_NAMESPACE: %q is not a valid namespace", name)
		}
	}
	if len(errs) > 0 {
		return usageError{errors.Join(errs...)}
	}
	return nil
}

// operatorName returns the name that differs between operators and stays the same when one is restarted or upgraded: the Lease of the
// leader election, or an empty string without one.
func (o *managerOptions) operatorName() string {
	if o.leaderID == "" {
		return ""
	}
	namespace := o.leaderNamespace
	if namespace == "" {
		data, _ := os.ReadFile(podNamespace) // it doesn't exist outside of a pod
		namespace = strings.TrimSpace(string(data))
	}
	return strings.ReplaceAll(strings.TrimPrefix(namespace+"/"+o.leaderID, "/"), ":", "_")
}
