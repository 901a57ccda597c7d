package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/tempdir"
)

// suiteVariable names the variable with the directory of the programs that RunAPIServer starts.
const suiteVariable = "OPERON_SUITE_ASSETS"

// etcdServers is a flag that each API server needs.
const etcdServers = "etcd-servers"

// How long envtest waits for a control plane.
const (
	startTimeout = "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"
	stopTimeout  = "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT"
)

// SuiteEnv returns environment variables for tests that start a control plane with envtest. They start apiServer in place of
// kube-apiserver: the file of assets or, for controllers and a node beside it, a program that calls RunAPIServer if it IsAPIServer.
// Of the variables of getenv with these names, only how long envtest waits for a control plane counts.
func SuiteEnv(assets Assets, apiServer string, getenv func(string) string) []string {
	return []string{
		// The defaults of 20 seconds are too short on a busy machine.
		startTimeout + "=" + cmp.Or(getenv(startTimeout), "3m"),
		stopTimeout + "=" + cmp.Or(getenv(stopTimeout), "3m"),
		// These take precedence over KUBEBUILDER_ASSETS and what a suite sets. Cached results of tests depend on them.
		"TEST_ASSET_ETCD=" + assets.Path(Etcd),
		"TEST_ASSET_KUBE_APISERVER=" + apiServer,
		"TEST_ASSET_KUBECTL=" + assets.Path(Kubectl),
		"KUBEBUILDER_ASSETS=" + assets.Dir,
		suiteVariable + "=" + assets.Dir,
		"USE_EXISTING_CLUSTER=",
	}
}

// IsAPIServer reports whether envtest has started this program in place of kube-apiserver, and returns the assets of SuiteEnv.
func IsAPIServer(getenv func(string) string, args []string) (Assets, bool) {
	dir := getenv(suiteVariable)
	// envtest looks for flags in the help first.
	ours := dir != "" && (flagValue(args, etcdServers) != "" || slices.Equal(args, []string{"--help"}))
	return Assets{Dir: dir}, ours
}

// flagValue returns the last value of a flag in the form --name=value, which envtest uses.
func flagValue(args []string, name string) (value string) {
	for _, arg := range args {
		if v, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			value = v
		}
	}
	return value
}

// RunAPIServer runs kube-apiserver with the arguments of envtest and, beside it, what StartWorkloads adds. It ends all when ctx ends or
// the process that started this one has exited. Otherwise the error is an *ExitError with the exit code of kube-apiserver, or the failure
// of another program. dir is the working directory.
func RunAPIServer(ctx context.Context, assets Assets, dir string, args []string, o StartOptions, now func() time.Time) (err error) {
	ctx, cancel := untilOrphaned(ctx)
	defer cancel()
	data, err := tempdir.New(cmp.Or(o.TempDir, os.TempDir()), runPrefix)
	if err != nil {
		return withCause(err)
	}
	cp := &ControlPlane{Assets: assets, dir: data, done: make(chan struct{})}
	defer func() { err = errors.Join(err, cp.Stop()) }()
	serves := flagValue(args, etcdServers) != "" // otherwise it prints its help
	if serves {
		if err := cp.join(args); err != nil {
			return fmt.Errorf("adding controllers to the API server of envtest: %w", err)
		}
		args = append(args, "--token-auth-file="+filepath.Join(data.Path, tokenFile), kubeletAddressFlag)
	}
	if o.Log != nil {
		o.Log = &syncWriter{w: o.Log}
	}
	cp.api, err = startProcess(KubeAPIServer, assets.Path(KubeAPIServer), args, serverEnviron(o.Environ), dir, o.Log)
	cp.etcd = cp.api // the suite has started etcd, and ends it
	if err != nil {
		return err
	}
	if serves {
		err = cp.StartWorkloads(ctx, o, now) // which returns when the API server ends
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case <-cp.api.done:
		case <-cp.done:
			err = cp.Err()
		}
	}
	return cp.result(ctx, err)
}

// untilOrphaned returns a context that ends with ctx or soon after the process that started this one has exited: a suite that is killed
// can't stop its API server.
func untilOrphaned(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		defer cancel()
		// The only error is the end of ctx.
		_ = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, false, func(context.Context) (bool, error) { return os.Getppid() != parent, nil })
	}()
	return ctx, cancel
}

// result returns the error of RunAPIServer, given the error of what runs beside the API server.
func (cp *ControlPlane) result(ctx context.Context, err error) error {
	select {
	case <-cp.api.done:
		if cp.api.err == nil {
			return nil
		}
		return &ExitError{Code: max(1, cp.api.cmd.ProcessState.ExitCode())} // it has printed why
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

// join makes the API server that a suite starts with args the one of cp: it sets the address and writes the files that StartControllers
// needs, with a token of its own.
func (cp *ControlPlane) join(args []string) (err error) {
	in := func(name string) string { return filepath.Join(cp.dir.Path, name) }
	// The certificate stands in for its authority, which isn't in a file.
	certificate := cmp.Or(flagValue(args, "tls-cert-file"), filepath.Join(flagValue(args, "cert-dir"), "apiserver.crt"))
	if cp.CAData, err = os.ReadFile(certificate); err != nil {
		return err
	}
	accounts, err := os.ReadFile(flagValue(args, "service-account-signing-key-file"))
	if err != nil {
		return err
	}
	var tokens []byte
	if file := flagValue(args, "token-auth-file"); file != "" { // there can be only one
		if tokens, err = os.ReadFile(file); err != nil {
			return err
		}
		tokens = append(tokens, '\n')
	}
	var line []byte
	cp.Token, line = newToken()
	host := flagValue(args, "bind-address")
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	cp.URL = "https://" + net.JoinHostPort(host, flagValue(args, "secure-port"))
	if cp.kubeconfig, err = marshalKubeconfig(cp.URL, cp.CAData, cp.Token); err != nil {
		return err
	}
	return errors.Join(
		writeSecret(in(caFile), cp.CAData),
		writeSecret(in(accountKeyFile+".key"), accounts),
		writeSecret(in(tokenFile), append(tokens, line...)),
		writeSecret(in(kubeconfigFile), cp.kubeconfig),
	)
}
