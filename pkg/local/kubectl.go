package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/userstate"
)

// KubectlEnviron returns the environment of kubectl with arguments: environ, and as KUBECONFIG the kubeconfig of the control plane that
// Run has started for the project at root. It returns environ if the arguments name a cluster, or need none and there is no such
// control plane.
func KubectlEnviron(ctx context.Context, stateDirs []string, root func() (string, error), environ, args []string) ([]string, error) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	clusterFlags := []string{"--kubeconfig", "--context", "--cluster", "--server", "-s"}
	for _, arg := range args {
		if flag, _, _ := strings.Cut(arg, "="); slices.Contains(clusterFlags, flag) {
			return environ, nil
		}
	}
	file, err := runningKubeconfig(ctx, stateDirs, root)
	if err != nil {
		if !needsCluster(args) {
			return environ, nil
		}
		return nil, err
	}
	return append(slices.Clip(environ), "KUBECONFIG="+file), nil
}

// needsCluster reports whether a command of kubectl needs a cluster.
func needsCluster(args []string) bool {
	if len(args) == 0 || slices.Contains(args, "-h") || slices.Contains(args, "--help") || slices.Contains(args, "--client") {
		return false
	}
	return !slices.Contains([]string{"completion", "config", "help", "kustomize", "options", "plugin"}, args[0])
}

// runningKubeconfig returns the kubeconfig of the control plane that Run has started for the project.
func runningKubeconfig(ctx context.Context, stateDirs []string, root func() (string, error)) (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	const fix = "start one with 'operon run local --control-plane embedded' in another terminal, or name a cluster with --kubeconfig"
	state, err := userstate.Find(stateDirs, dir)
	if err != nil {
		return "", err
	}
	file := filepath.Join(state, kubeconfigFile)
	cluster, err := kube.Files{Paths: []string{file}, Names: []string{"the kubeconfig of run local"}}.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no control plane runs for this project; " + fix)
	}
	if err == nil {
		_, err = cluster.Ping(ctx, kube.ReachTimeout)
	}
	if err != nil {
		return "", fmt.Errorf("no control plane runs for this project: the last run was killed: %w; %s", err, fix)
	}
	return file, nil
}
