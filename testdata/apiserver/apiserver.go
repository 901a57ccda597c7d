// Package apiserver starts API servers for tests that each need one of their own.
package apiserver

import (
	"os"
	"testing"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

// Start returns a client of an API server that runs until the test ends, and its control plane. In short mode, it skips the test.
func Start(t *testing.T) (*kube.Client, *controlplane.ControlPlane) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts a control plane")
	}
	options := controlplane.DefaultOptions(os.Environ())
	options.NoDownload = true
	assets, err := controlplane.Ensure(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(t.Context(), assets, controlplane.StartOptions{Environ: os.Environ(), TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	client, err := kube.New(plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	return client, plane
}
