package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/diag"
)

// ansibleOperator is the name of operator-sdk's program for Ansible operators.
const ansibleOperator = "ansible-operator"

// ansibleOptions are the flags and variables of "ansible-operator run".
type ansibleOptions struct {
	managerOptions
	verbosity                  int
	rolesPath, collectionsPath string
	args                       string
	logEvents                  string
	injectOwner                bool
	proxyPort                  int
	artifactBytes              int64
	runDirectory               string
	warmInterpreters           bool
}

func newAnsibleOperator(s streams) *cobra.Command {
	var o ansibleOptions
	run := newRun(s, &o, `Reconcile the kinds in watches.yaml, each with its playbook or role, until the program is interrupted. The
program starts ansible-runner, which must be installed.

Environment variables:
  WATCH_NAMESPACE           namespaces to reconcile, separated by commas; all if it is empty
  KUBECONFIG                kubeconfig file; in a pod, its service account is used without one
  ANSIBLE_ROLES_PATH        directories with roles
  ANSIBLE_COLLECTIONS_PATH  directories with collections
  ANSIBLE_INVENTORY         inventory of runs, instead of localhost only
  ANSIBLE_GATHERING         explicit runs roles without gathering facts
  ANSIBLE_DEBUG_LOGS        true prints the output of each run
  ANSIBLE_VERBOSITY_KIND_GROUP          --ansible-verbosity for a kind, such as _MEMCACHED_CACHE_EXAMPLE_COM
  MAX_CONCURRENT_RECONCILES_KIND_GROUP  --max-concurrent-reconciles for a kind (or WORKER_KIND_GROUP, its older name)
  TMPDIR                    directory for the temporary files of runs
  VIRTUAL_ENV               virtual environment of Python that modules on localhost run with
  OPERATOR_NAME             deprecated: the default of --leader-election-id`)
	o.bind(run)
	return newProgram(s, ansibleOperator, "Run an operator that runs Ansible roles", run)
}

// bind adds the flags to a command.
func (o *ansibleOptions) bind(c *cobra.Command) {
	o.managerOptions.bind(c, flagDefaults{
		reconcilePeriod: ansibleoperator.DefaultReconcilePeriod, metricsAddress: ":8443", probeAddress: ":6789", content: "playbooks or roles",
	})
	f := c.Flags()
	f.IntVar(&o.verbosity, "ansible-verbosity", ansibleoperator.DefaultVerbosity, "`number` of -v options of runs, 0 to 7")
	f.StringVar(&o.rolesPath, "ansible-roles-path", "", "`directories` with roles, in addition to ANSIBLE_ROLES_PATH")
	f.StringVar(&o.collectionsPath, "ansible-collections-path", "", "`directories` with collections, in addition to ANSIBLE_COLLECTIONS_PATH")
	f.StringVar(&o.args, "ansible-args", "", "additional `arguments` of ansible-playbook")
	f.StringVar(&o.logEvents, "ansible-log-events", string(runner.Tasks), "`events` of runs to log: tasks, everything or nothing")
	f.BoolVar(&o.injectOwner, "inject-owner-ref", true, "add owner references to objects that runs create")
	f.IntVar(&o.proxyPort, "proxy-port", 0, "`port` on 127.0.0.1 of the proxy for runs; 0 for any that is free")
	f.BoolVar(&o.warmInterpreters, "warm-interpreters", true, "keep a Python interpreter that has loaded Ansible, which makes runs faster (Linux)")
	f.StringVar(&o.runDirectory, "run-directory", runner.DefaultRoot, "`directory` of the files of runs")
	f.Int64Var(&o.artifactBytes, "max-artifact-bytes", runner.DefaultMaxBytes, "maximum total `size` of the artifacts of runs; the oldest are removed")
	f.DurationVar(&o.gracePeriod, "graceful-shutdown-timeout", 30*time.Second, "maximum `time` to end all passes after an interrupt")
	f.DurationVar(&o.lease.duration, "leader-elect-lease-duration", 15*time.Second, "`time` that other processes wait before they become the leader")
	f.DurationVar(&o.lease.renewDeadline, "leader-elect-renew-deadline", 10*time.Second, "`time` within which the leader must renew its Lease")
	f.String("leader-elect-resource-lock", "leases", "kind of `object` of the leader election")
	_ = f.MarkDeprecated("leader-elect-resource-lock", "it is always a Lease") // the only error is a flag that does not exist
}

// complete adds the variables and validates. The error has all problems.
func (o *ansibleOptions) complete(getenv func(string) string) error {
	var errs []error
	addf := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.verbosity < 0 || o.verbosity > ansibleoperator.MaxVerbosity {
		addf("--ansible-verbosity \"%d\": must be 0 to %d", o.verbosity, ansibleoperator.MaxVerbosity)
	}
	events := []string{string(runner.Tasks), string(runner.Everything), string(runner.Nothing)}
	if o.logEvents = strings.ToLower(o.logEvents); !slices.Contains(events, o.logEvents) {
		problem := fmt.Sprintf("--ansible-log-events %q: must be tasks, everything or nothing", o.logEvents)
		if near, ok := diag.Nearest(o.logEvents, events); ok {
			problem += fmt.Sprintf("; did you mean %q?", near)
		}
		errs = append(errs, errors.New(problem))
	}
	if o.proxyPort < 0 || o.proxyPort > 65535 {
		addf("--proxy-port \"%d\": must be 0 to 65535", o.proxyPort)
	}
	if o.artifactBytes < 1 {
		addf("--max-artifact-bytes \"%d\": must be greater than zero", o.artifactBytes)
	}
	if o.lease.renewDeadline <= 0 || o.lease.renewDeadline >= o.lease.duration {
		addf("--leader-elect-renew-deadline %q: must be greater than zero and less than --leader-elect-lease-duration", o.lease.renewDeadline)
	}
	if o.gracePeriod <= 0 {
		addf("--graceful-shutdown-timeout %q: must be greater than zero", o.gracePeriod)
	}
	return o.managerOptions.complete(getenv, errs...)
}

// run reconciles until ctx ends. Keys of watches.yaml take precedence over flags.
func (o *ansibleOptions) run(ctx context.Context, s streams) error {
	settings := ansibleoperator.Settings{
		Environ: s.environ, RolesPaths: filepath.SplitList(o.rolesPath), CollectionsPaths: filepath.SplitList(o.collectionsPath),
		Args: o.args, LogEvents: runner.LogEvents(o.logEvents), Output: debugOutput(s), ProxyPort: o.proxyPort,
		RunDirectory:     o.runDirectory,
		ColdInterpreters: !o.warmInterpreters,
		MaxArtifactBytes: o.artifactBytes, SkipOwnerReferences: !o.injectOwner, Namespaces: o.namespaces,
	}
	reconcilers, err := ansibleoperator.LoadWatches(o.watchesFile, settings, nil,
		ansibleoperator.WithOperatorName(o.operatorName()),
		ansibleoperator.WithReconcilePeriod(o.reconcilePeriod),
		ansibleoperator.WithMaxConcurrentReconciles(o.maxConcurrent),
		ansibleoperator.WithVerbosity(o.verbosity))
	if err := o.checkWatches(len(reconcilers), err); err != nil {
		return err
	}
	warnings, err := ansibleoperator.Check(ctx, settings)
	if err != nil {
		return err
	}
	return runReconcilers(ctx, &o.managerOptions, s, reconcilers, func(mgr manager.Manager) error {
		for _, warning := range warnings {
			mgr.GetLogger().Info("modules for Kubernetes will fail", "cause", warning.Error())
		}
		return ansibleoperator.Setup(mgr, settings, reconcilers...)
	})
}

// debugOutput returns where the output of runs is printed, or nil.
func debugOutput(s streams) io.Writer {
	if value := s.getenv("ANSIBLE_DEBUG_LOGS"); value == "True" || value == "TRUE" || value == "true" || value == "1" {
		return s.err
	}
	return nil
}
