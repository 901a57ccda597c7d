//go:build unix

package controlplane

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest" // v0.25.2 of it does not compile for Windows
)

// TestEnvtest runs controller-runtime's environment on our assets, as generated projects do.
func TestEnvtest(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	assets, err := realAssets()
	if err != nil {
		t.Fatal(err)
	}
	env := &envtest.Environment{
		BinaryAssetsDirectory: assets.Dir, ControlPlaneStartTimeout: 3 * time.Minute, ControlPlaneStopTimeout: 3 * time.Minute,
	}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{}
	namespace.Name = "cache"
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Error(err)
	}
}
