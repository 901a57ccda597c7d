package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// preview starts the gateway that makes the manager's writes dry runs.
func (r *runner) preview(ctx context.Context) error {
	definitions, err := r.source().crds()
	if err != nil {
		return err
	}
	dryRun, err := r.o.Preview(ctx, r.cluster, definitions)
	if err != nil {
		return err
	}
	transport, err := r.cluster.Transport()
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	r.previewing, err = gateway.Start(gateway.Options{URL: r.cluster.URL, Transport: transport, DryRun: dryRun, Record: r.record})
	if err != nil {
		return err
	}
	token, tokenFile := rand.Text(), filepath.Join(r.workspace.Path, "token")
	r.previewing.SetTokens(token)
	return errors.Join(
		os.WriteFile(tokenFile, []byte(token), 0o600),
		os.WriteFile(r.previewKubeconfig(), r.previewing.Kubeconfig(tokenFile), 0o600),
	)
}

// previewKubeconfig is the path of the manager's kubeconfig in a preview.
func (r *runner) previewKubeconfig() string { return filepath.Join(r.workspace.Path, "kubeconfig") }

// outsideOfPod returns an environment without the address of the API server that pods get. A manager that prefers it over KUBECONFIG
// would write to the cluster if this program runs in a pod, as in CI.
func outsideOfPod(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "KUBERNETES_SERVICE_") })
}
