package clitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
)

// A WorkloadCluster is a control plane with simulated pods.
type WorkloadCluster struct {
	*testing.T
	Plane  *controlplane.ControlPlane
	Client *kube.Client
}

// StartWorkloadCluster starts a WorkloadCluster that ends with the test.
func StartWorkloadCluster(t *testing.T) *WorkloadCluster {
	t.Helper()
	SkipIfShort(t, "it starts a control plane")
	assets, err := WorkloadAssets()
	if err != nil {
		t.Fatal(err)
	}
	options := controlplane.StartOptions{TempDir: t.TempDir(), Environ: os.Environ(), ServiceAccounts: true}
	plane, err := controlplane.Start(t.Context(), assets, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := plane.StartWorkloads(t.Context(), options, time.Now); err != nil {
		t.Fatal(err)
	}
	client, err := kube.New(plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	// Tests simulate the containers.
	unlabel := map[string]any{"metadata": map[string]any{"labels": map[string]any{controlplane.SimulatedLabel: nil}}}
	if err := client.Do(t.Context(), http.MethodPatch, "/api/v1/nodes/"+controlplane.NodeName, kube.MergePatch, unlabel, nil); err != nil {
		t.Fatal(err)
	}
	return &WorkloadCluster{T: t, Plane: plane, Client: client}
}

// Apply creates the objects of a manifest.
func (c *WorkloadCluster) Apply(t *testing.T, manifest string) {
	t.Helper()
	objects, err := kube.Decode([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		c.Try(t, func() error { return c.Client.Apply(c.Context(), o, "default") })
	}
}

// Try calls a function until it succeeds.
func (c *WorkloadCluster) Try(t *testing.T, do func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = do(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// Get returns an object, or nil if it does not exist.
func (c *WorkloadCluster) Get(t *testing.T, apiVersion, kind, namespace, name string) *kube.Object {
	t.Helper()
	o, err := c.Client.Get(c.Context(), kube.Named(apiVersion, kind, namespace, name))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Delete deletes an object.
func (c *WorkloadCluster) Delete(t *testing.T, apiVersion, kind, namespace, name string) {
	t.Helper()
	if err := c.Client.Delete(c.Context(), kube.Named(apiVersion, kind, namespace, name), namespace); err != nil {
		t.Fatal(err)
	}
}

// Patch changes an object, or its status with subresource "/status".
func (c *WorkloadCluster) Patch(t *testing.T, o *kube.Object, subresource, patch string) {
	t.Helper()
	path, err := c.Client.Path(c.Context(), o, o.GetNamespace())
	if err == nil {
		err = c.Client.Do(c.Context(), http.MethodPatch, path+subresource, kube.MergePatch, json.RawMessage(patch), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ListObjects lists the objects of the cluster, without those that change by themselves.
func (c *WorkloadCluster) ListObjects(t *testing.T) []string {
	t.Helper()
	var names []string
	resources, unserved, err := c.Client.Resources(c.Context())
	if err != nil || len(unserved) > 0 {
		t.Fatal(err, unserved)
	}
	for _, r := range resources {
		if r.Name == "events" || r.Name == "leases" || r.Name == "nodes" {
			continue
		}
		objects, err := c.Client.ListNames(c.Context(), r, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if o.GetName() == "kube-root-ca.crt" || o.GetKind() == "ServiceAccount" && o.GetName() == "default" {
				continue
			}
			names = append(names, o.GetAPIVersion()+" "+kube.FullName(o)+fmt.Sprint(o.GetLabels()))
		}
	}
	slices.Sort(names)
	return names
}

// KubeconfigAs writes a kubeconfig of a user with only the rights of bindings.
func (c *WorkloadCluster) KubeconfigAs(t *testing.T, user string) string {
	t.Helper()
	text := strings.Replace(string(c.Plane.Kubeconfig()), "token:", "as: "+user+"\n    token:", 1)
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
