package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

// namedFile is a file with its absolute path and the name that errors print: the one that the user gave.
type namedFile struct{ path, name string }

// paths returns the absolute paths of files.
func paths(files []namedFile) []string {
	list := make([]string, len(files))
	for i, file := range files {
		list[i] = file.path
	}
	return list
}

// kubeconfigFiles returns the kubeconfig files to read: the one given, those of KUBECONFIG, or the one in the user's
// home directory. It reports whether that is the case.
func (a *app) kubeconfigFiles(given string) (files []namedFile, home bool) {
	switch variable := a.Getenv("KUBECONFIG"); {
	case given != "":
		return []namedFile{{a.absolute(given), given}}, false
	case variable != "":
		for _, file := range filepath.SplitList(variable) {
			if file != "" {
				files = append(files, namedFile{a.absolute(file), file})
			}
		}
		return files, false
	}
	dir := a.Getenv("HOME")
	if dir == "" {
		dir = a.Getenv("USERPROFILE")
	}
	return []namedFile{{filepath.Join(dir, ".kube", "config"), "~/.kube/config"}}, true
}

// podDir is the directory of the files of a pod's service account.
const podDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// pod returns the pod that this program runs in, if it runs in one.
func (a *app) pod() (pod kube.Pod, inside bool) {
	pod = kube.Pod{
		Host: a.Getenv("KUBERNETES_SERVICE_HOST"), Port: a.Getenv("KUBERNETES_SERVICE_PORT"), Dir: a.PodDir, Namespace: a.Getenv("POD_NAMESPACE"),
	}
	if pod.Host == "" || pod.Port == "" || pod.Dir == "" {
		return pod, false
	}
	_, err := a.FS.Stat(filepath.Join(pod.Dir, "token"))
	return pod, err == nil
}

// errNoKubeconfig means that there is neither a kubeconfig nor a pod.
var errNoKubeconfig = errors.New("there is no kubeconfig: give --kubeconfig, or set KUBECONFIG")

// newClient returns a client for the cluster of the kubeconfig files or, without any, of the pod that the program runs in. It
// opens no connection.
func (a *app) newClient(given string) (*kube.Client, error) {
	files, home := a.kubeconfigFiles(given)
	if !home {
		return load(files)
	}
	if _, err := a.FS.Stat(files[0].path); err == nil {
		return load(files)
	}
	pod, inside := a.pod()
	if !inside {
		return nil, errNoKubeconfig
	}
	return kube.LoadPod(pod)
}

func load(files []namedFile) (*kube.Client, error) {
	client, err := kube.Load(paths(files)...)
	return client, withGivenNames(err, files)
}

// A rewrittenError is an error with another text; its chain stays as it is.
type rewrittenError struct {
	text string
	err  error
}

func (e *rewrittenError) Error() string { return e.text }
func (e *rewrittenError) Unwrap() error { return e.err }

// withGivenNames replaces the paths of files in an error by the names that the user gave them.
func withGivenNames(err error, files []namedFile) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, file := range files {
		text = strings.ReplaceAll(text, file.path, file.name)
	}
	return &rewrittenError{text, err}
}

// openCluster connects to the cluster of kubeconfig files.
func (a *app) openCluster(ctx context.Context, files []namedFile) (*kube.Client, error) {
	cluster, err := load(files)
	if err != nil {
		return nil, err
	}
	return cluster, a.checkConnection(ctx, cluster)
}

// checkConnection waits for the response of a cluster and prints which one it is.
func (a *app) checkConnection(ctx context.Context, cluster *kube.Client) error {
	version, err := cluster.Ping(ctx, reachTimeout)
	if err != nil {
		return err
	}
	which := "this pod"
	if cluster.Context != "" {
		which = fmt.Sprintf("context %q", cluster.Context)
	}
	a.progressf("using the cluster of %s at %s (Kubernetes %s)", which, cluster.URL, version)
	return nil
}

// connect connects to the user's cluster.
func (a *app) connect(ctx context.Context, given string) (*kube.Client, error) {
	cluster, err := a.newClient(given)
	if errors.Is(err, errNoKubeconfig) {
		return nil, err
	}
	if err == nil {
		err = a.checkConnection(ctx, cluster)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		if cluster != nil && cluster.Context == "" {
			return nil, fmt.Errorf("%w\nthis pod's service account was used, since there is no kubeconfig; --kubeconfig selects another cluster", err)
		}
		return nil, fmt.Errorf("%w\ncorrect the kubeconfig, or choose another one with --kubeconfig", err)
	}
	return cluster, nil
}

// connectWithNodes connects to the user's cluster, whose nodes must run containers: that of run local only simulates them.
func (a *app) connectWithNodes(ctx context.Context, given string) (*kube.Client, error) {
	cluster, err := a.connect(ctx, given)
	if err == nil && controlplane.IsSimulated(ctx, cluster) {
		return nil, fmt.Errorf("containers do not run in the cluster at %s: 'run local' has started it with a simulated node; choose a cluster whose nodes run containers with --kubeconfig", cluster.URL)
	}
	return cluster, err
}
