package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operon-sdk/operon/pkg/diag"
)

// ReachTimeout is the timeout of the first request to a cluster.
const ReachTimeout = 10 * time.Second

// PodDir is the directory of the service account's files in a pod: token, ca.crt and namespace.
const PodDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// errNothingToUse means that there is neither a kubeconfig nor a pod.
var errNothingToUse = errors.New("there is no kubeconfig: pass --kubeconfig, or set KUBECONFIG")

// A Locator finds the user's cluster, from the given kubeconfig, KUBECONFIG, ~/.kube/config, or the pod that the program
// runs in.
type Locator struct {
	// Kubeconfig is the given kubeconfig; empty if there is none.
	Kubeconfig string
	// Context is the name of a context of the kubeconfig; empty for the current one.
	Context string
	// Dir is the directory that paths are relative to.
	Dir string
	// Getenv returns an environment variable.
	Getenv func(name string) string
	// PodDir is the directory of the service account's files in a pod; empty if the program cannot run in one.
	PodDir string
	// Progress receives which cluster is used.
	Progress func(message string)
}

// Files are kubeconfig files to merge.
type Files struct {
	// Paths are absolute. Names are those in errors: the paths as given.
	Paths, Names []string
	// Default reports whether the only file is ~/.kube/config, which may not exist.
	Default bool
	// Context is Locator.Context.
	Context string
}

func (f *Files) add(dir, name string) {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	f.Paths, f.Names = append(f.Paths, path), append(f.Names, name)
}

// Exist reports whether the first file exists.
func (f Files) Exist() bool {
	_, err := os.Stat(f.Paths[0])
	return err == nil
}

// Load is like the function Load, but errors contain the names of the files.
func (f Files) Load() (*Client, error) {
	client, err := loadContext(f.Context, f.Paths)
	return client, f.withNames(err)
}

// Contexts returns the names of the contexts, sorted; none if the files can't be read.
func (f Files) Contexts() []string {
	raw, err := mergeFiles(f.Paths)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// withNames replaces the paths in an error by the names.
func (f Files) withNames(err error) error {
	if err == nil || diag.IsUsage(err) {
		return err
	}
	text := err.Error()
	for i, path := range f.Paths {
		text = strings.ReplaceAll(text, path, f.Names[i])
	}
	return &rewrittenError{text, err}
}

// A rewrittenError is an error with another text; its chain stays as it is.
type rewrittenError struct {
	text string
	err  error
}

func (e *rewrittenError) Error() string { return e.text }
func (e *rewrittenError) Unwrap() error { return e.err }

// Files returns the kubeconfig files to read.
func (l Locator) Files() (files Files) {
	files.Context = l.Context
	if l.Kubeconfig != "" {
		files.add(l.Dir, l.Kubeconfig)
		return files
	}
	if variable := l.Getenv("KUBECONFIG"); variable != "" {
		for _, file := range filepath.SplitList(variable) {
			if file != "" {
				files.add(l.Dir, file)
			}
		}
		return files
	}
	home := l.Getenv("HOME")
	if home == "" {
		home = l.Getenv("USERPROFILE")
	}
	return Files{Paths: []string{filepath.Join(home, ".kube", "config")}, Names: []string{"~/.kube/config"}, Default: true, Context: l.Context}
}

// Client returns a client for the cluster. It opens no connection.
func (l Locator) Client() (*Client, error) {
	if files := l.Files(); !files.Default || files.Exist() {
		return files.Load()
	}
	if l.Context != "" {
		return nil, errNothingToUse
	}
	return l.podClient()
}

// podClient returns a client for the cluster that the program runs in, if it runs in a pod. The client reads the token again, as
// clusters replace it.
func (l Locator) podClient() (*Client, error) {
	host, port := l.Getenv("KUBERNETES_SERVICE_HOST"), l.Getenv("KUBERNETES_SERVICE_PORT")
	token := filepath.Join(l.PodDir, "token")
	if _, err := os.Stat(token); err != nil || host == "" || port == "" || l.PodDir == "" {
		return nil, errNothingToUse
	}
	failed := func(err error) (*Client, error) { return nil, fmt.Errorf("reading the pod's service account: %w", err) }
	if _, err := os.ReadFile(token); err != nil {
		return failed(err)
	}
	client, err := newClient(&rest.Config{
		Host: "https://" + net.JoinHostPort(host, port), BearerTokenFile: token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(l.PodDir, "ca.crt")},
	})
	if err != nil {
		return failed(err)
	}
	if client.Namespace = l.Getenv("POD_NAMESPACE"); client.Namespace == "" {
		text, err := os.ReadFile(filepath.Join(l.PodDir, "namespace"))
		if err != nil {
			return failed(err)
		}
		client.Namespace = strings.TrimSpace(string(text))
	}
	return client, nil
}

// Connect returns a client for the cluster, which has responded. Errors contain the fix.
func (l Locator) Connect(ctx context.Context) (*Client, error) {
	client, err := l.Client()
	if errors.Is(err, errNothingToUse) || diag.IsUsage(err) {
		return nil, err
	}
	if err == nil {
		err = l.check(ctx, client)
	}
	if err != nil && client != nil && client.Context == "" {
		return nil, diag.Explain(err, "this pod's service account was used, since there is no kubeconfig; --kubeconfig selects another cluster")
	}
	if err != nil {
		return nil, diag.Explain(err, "correct the kubeconfig, or choose another one with --kubeconfig or --context")
	}
	return client, nil
}

// Open is like Connect for the cluster of kubeconfig files. Errors do not contain the fix.
func (l Locator) Open(ctx context.Context, files Files) (*Client, error) {
	client, err := files.Load()
	if err != nil {
		return nil, err
	}
	return client, l.check(ctx, client)
}

// check waits for the response of a cluster and reports which one it is.
func (l Locator) check(ctx context.Context, client *Client) error {
	version, err := client.Ping(ctx, ReachTimeout)
	if err != nil {
		return err
	}
	which := "this pod"
	if client.Context != "" {
		which = fmt.Sprintf("context %q", client.Context)
	}
	l.Progress(fmt.Sprintf("using the cluster of %s at %s (Kubernetes %s)", which, client.URL, version))
	return nil
}
