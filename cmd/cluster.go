package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// kubeconfigFiles are the files that name the cluster: the one given, KUBECONFIG's, or the one of the
// user's home, which home tells.
func (a *app) kubeconfigFiles(given string) (files []string, home bool) {
	switch variable := a.Getenv("KUBECONFIG"); {
	case given != "":
		if !filepath.IsAbs(given) {
			given = filepath.Join(a.Dir, given)
		}
		return []string{given}, false
	case variable != "":
		return filepath.SplitList(variable), false
	}
	folder := a.Getenv("HOME")
	if folder == "" {
		folder = a.Getenv("USERPROFILE")
	}
	return []string{filepath.Join(folder, ".kube", "config")}, true
}

// openCluster connects to the cluster that kubeconfig files name, and says which it is.
func (a *app) openCluster(ctx context.Context, files []string) (*kube.Client, error) {
	cluster, err := kube.Load(files...)
	var version string
	if err == nil {
		version, err = cluster.Ping(ctx, reachTimeout)
	}
	if err != nil {
		text := err.Error()
		for _, file := range files {
			// The folder is the machine's, not the user's words.
			text = strings.ReplaceAll(text, file, filepath.Base(file))
		}
		return nil, errors.New(text)
	}
	a.progressf("using the cluster of context %q at %s (Kubernetes %s)", cluster.Context, cluster.URL, version)
	return cluster, nil
}

// connect connects to the user's cluster, which there must be.
func (a *app) connect(ctx context.Context, given string) (*kube.Client, error) {
	files, home := a.kubeconfigFiles(given)
	if home {
		if _, err := a.FS.Stat(files[0]); err != nil {
			return nil, errors.New("there is no kubeconfig: give --kubeconfig, or set KUBECONFIG")
		}
	}
	cluster, err := a.openCluster(ctx, files)
	if err != nil {
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		return nil, fmt.Errorf("%w\ncorrect the kubeconfig, or choose another with --kubeconfig", err)
	}
	return cluster, nil
}
