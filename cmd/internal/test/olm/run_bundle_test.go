//go:build unix

package olm

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// TestRunBundle checks what run bundle and cleanup do as far as it needs no OLM: what they refuse, what they
// make and remove. With OLM the end-to-end test does so.
func TestRunBundle(t *testing.T) {
	t.Parallel()
	c := startOLMCluster(t)
	bundle, err := filepath.Abs(clitest.Testdata("memcached-operator", "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	operon := func(t *testing.T, code int, args ...string) string {
		t.Helper()
		var o, e bytes.Buffer
		env := &cmd.Env{In: strings.NewReader(""), Out: &o, Err: &e, Dir: c.dir, FS: afero.NewOsFs(), Now: time.Now, HTTP: c.http,
			Environ: []string{"KUBECONFIG=" + c.Plane.KubeconfigPath()}}
		if got := cmd.Main(c.Context(), env, append([]string{"operon"}, args...)); got != code {
			t.Fatalf("%s ends with %d, want %d\n%s%s", strings.Join(args, " "), got, code, o.String(), e.String())
		}
		return o.String() + e.String()
	}
	clitest.CheckContains(t, operon(t, 1, "run", "bundle", bundle), "OLM is not installed; 'operon olm install' installs it")
	release, err := olm.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range release.CRDs {
		c.Try(t, func() error { return c.Client.Apply(c.Context(), crd, "") })
		c.Try(t, func() error { return c.Client.WaitEstablished(c.Context(), crd.GetName(), time.Minute) })
	}
	const namespaces = `{apiVersion: v1, kind: Namespace, metadata: {name: mem, labels: {pod-security.kubernetes.io/enforce: restricted}}}`
	c.Apply(t, namespaces)
	c.Try(t, func() error {
		return c.Client.Apply(c.Context(), kube.Named("v1", "ServiceAccount", "mem", "default"), "mem")
	})
	before := c.ListObjects(t)
	unchanged := func(t *testing.T) {
		t.Helper()
		if after := c.ListObjects(t); !slices.Equal(before, after) {
			t.Errorf("the cluster has changed:\n%s", clitest.Diff(before, after))
		}
	}
	const (
		meta  = "apiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {namespace: mem, name: "
		other = "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {namespace: mem, name: mine}\nspec: {name: memcached-operator, source: s, sourceNamespace: olm}\n"
		mine  = "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {namespace: mem, name: memcached-operator-catalog}\nspec: {sourceType: grpc, image: example.com/c:v1, publisher: me}\n"
	)
	for _, row := range []struct {
		name, there string
		args        []string
		want        string
	}{
		{"no namespace", "", []string{"run", "bundle", bundle, "-n", "nowhere"}, "namespace nowhere not found; 'kubectl create namespace nowhere' creates it"},
		{"own namespace as single", "", []string{"run", "bundle", bundle, "-n", "mem", "--install-mode", "SingleNamespace=mem"}, "mem is the operator's own namespace; that is --install-mode OwnNamespace"},
		{"two groups", meta + "a}\n---\n" + meta + "b}\n", []string{"run", "bundle", bundle, "-n", "mem"}, "has 2 OperatorGroups (a, b), with which OLM installs nothing"},
		{"group of others", meta + "a}\nspec: {targetNamespaces: [default]}\n", []string{"run", "bundle", bundle, "-n", "mem", "--install-mode", "AllNamespaces"}, "operatorgroup mem/a of the namespace has the install mode SingleNamespace=default, not AllNamespaces"},
		{"subscribed", other, []string{"run", "bundle", bundle, "-n", "mem"}, "subscription mem/mine already subscribes to the package memcached-operator and has not installed it yet"},
		{"not installed", other, []string{"run", "bundle-upgrade", bundle, "-n", "mem"}, "subscription mem/mine has installed nothing yet"},
		{"catalog of others", mine, []string{"run", "bundle", bundle, "-n", "mem"}, "catalogsource mem/memcached-operator-catalog was not created by this command"},
		{"nothing to upgrade", "", []string{"run", "bundle-upgrade", bundle, "-n", "mem"}, "no Subscription to the package memcached-operator in the namespace mem"},
	} {
		if row.there != "" {
			c.Apply(t, row.there)
		}
		with := c.ListObjects(t)
		t.Run(row.name, func(t *testing.T) {
			clitest.CheckContains(t, operon(t, 1, row.args...), row.want)
			if after := c.ListObjects(t); !slices.Equal(with, after) {
				t.Errorf("a refused command changes the cluster:\n%s", clitest.Diff(with, after))
			}
		})
		for _, object := range decoded(t, row.there) {
			c.Try(t, func() error { return c.Client.Delete(c.Context(), object, "mem") })
		}
	}
	unchanged(t)

	reader, stop := context.WithCancel(c.Context())
	defer stop()
	go c.readCatalogs(reader)
	// No controller creates an InstallPlan here. The pods of the registry are let into a restricted namespace.
	const noPlan = "OLM did not create an InstallPlan for the Subscription mem/memcached-operator-v0-0-1-sub (not done within "
	text := ""
	_, timeout := patiently(15*time.Second, noPlan, func(timeout string) string {
		text += operon(t, 1, "run", "bundle", bundle, "-n", "mem", "--timeout", timeout)
		return text
	})
	clitest.CheckContains(t, text, "Created registry pod: memcached-operator-catalog-registry-", "Created CatalogSource: memcached-operator-catalog",
		`OperatorGroup "operator-sdk-og" created`, "Created Subscription: memcached-operator-v0-0-1-sub",
		noPlan+timeout+")", "'operon cleanup memcached-operator' removes the created objects")
	maps, err := c.Client.List(c.Context(), kube.Resource{APIVersion: "v1", Name: "configmaps", Kind: "ConfigMap"}, "mem",
		url.Values{"labelSelector": {"operon/package=memcached-operator"}})
	if err != nil || len(maps) != 1 {
		t.Errorf("the catalog is in %d ConfigMaps (%v), want 1", len(maps), err)
	} else {
		data := maps[0]
		catalog, _ := data.Object["data"].(map[string]any)["catalog.yaml"].(string)
		clitest.CheckContains(t, catalog, "schema: olm.package", "name: operator-sdk-run-bundle", "olm.bundle.object")
		if owners := data.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "CatalogSource" {
			t.Errorf("the ConfigMap belongs to %v, want the CatalogSource", owners)
		}
	}
	const again = "already exists from an earlier run; completing it"
	text, _ = patiently(3*time.Second, again, func(timeout string) string {
		return operon(t, 1, "run", "bundle", bundle, "-n", "mem", "--timeout", timeout)
	})
	clitest.CheckContains(t, text, again)
	clitest.CheckContains(t, operon(t, 0, "--dry-run", "cleanup", "memcached-operator", "-n", "mem"), "subscription mem/memcached-operator-v0-0-1-sub would be deleted")
	c.Apply(t, mine[:strings.Index(mine, "name: memc")]+"name: other}\nspec: {sourceType: grpc, image: example.com/c:v1}\n")
	text = operon(t, 0, "cleanup", "memcached-operator", "-n", "mem")
	for _, deleted := range []string{
		`subscription "memcached-operator-v0-0-1-sub"`, `catalogsource "memcached-operator-catalog"`, `deployment "memcached-operator-catalog-registry-`,
		`service "memcached-operator-catalog-registry-`, `configmap "memcached-operator-catalog-registry-`, `operatorgroup "operator-sdk-og"`,
	} {
		clitest.CheckContains(t, text, deleted)
	}
	clitest.CheckContains(t, operon(t, 0, "cleanup", "memcached-operator", "-n", "mem"), "nothing of the package memcached-operator found in the namespace mem")
	if c.Get(t, "operators.coreos.com/v1alpha1", "CatalogSource", "mem", "other") == nil {
		t.Error("cleanup has removed a catalog of others")
	}
	c.Delete(t, "operators.coreos.com/v1alpha1", "CatalogSource", "mem", "other")
	c.Try(t, func() error { return c.sameAs(t, before) })

	text = operon(t, 0, "--dry-run", "run", "bundle", bundle, "-n", "mem", "--push-catalog", "example.com/catalog:v1")
	clitest.CheckContains(t, text, "image: example.com/catalog:v1", "the image example.com/catalog:v1 of the catalog would be pushed")
	if strings.Contains(text, "kind: Deployment") || strings.Contains(text, "address:") {
		t.Errorf("a catalog that is an image has a registry, too:\n%s", text)
	}
	clitest.CheckContains(t, operon(t, 2, "run", "bundle", bundle, "--push-catalog", "example.com/catalog@sha256:"+strings.Repeat("0", 64)), "--push-catalog", "must have a tag instead of a digest")
	// Nothing is pushed for a bundle that cannot be installed.
	clitest.CheckContains(t, operon(t, 1, "run", "bundle", bundle, "-n", "nowhere", "--push-catalog", "example.com/catalog:v1"), "namespace nowhere not found")

	// A failed run takes away what it has made, and waits for no image that cannot be had.
	const removed = `operatorgroup "operator-sdk-og" deleted`
	text, _ = patiently(5*time.Second, removed, func(timeout string) string {
		return operon(t, 1, "run", "bundle", bundle, "-n", "mem", "--timeout", timeout, "--cleanup-on-failure")
	})
	clitest.CheckContains(t, text, "removing all created objects", removed)
	c.Try(t, func() error { return c.sameAs(t, before) })
	if _, err := os.Stat(filepath.Join(c.dir, "bundle")); err == nil {
		t.Error("something was written to the working directory")
	}
}

// sameAs fails while the cluster holds other objects than it did.
func (c *olmCluster) sameAs(t *testing.T, before []string) error {
	t.Helper()
	if after := c.ListObjects(t); !slices.Equal(before, after) {
		return fmt.Errorf("the cluster has changed:\n%s", clitest.Diff(before, after))
	}
	return nil
}

func decoded(t *testing.T, manifest string) []*kube.Object {
	t.Helper()
	objects, err := kube.Decode([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// readCatalogs does what OLM's catalog-operator does with a CatalogSource that it can read.
func (c *olmCluster) readCatalogs(ctx context.Context) {
	for ctx.Err() == nil {
		live, err := c.Client.Get(ctx, kube.Named("operators.coreos.com/v1alpha1", "CatalogSource", "mem", "memcached-operator-catalog"))
		if err == nil && live != nil && live.Object["status"] == nil {
			if path, err := c.Client.Path(ctx, live, "mem"); err == nil {
				address := live.Object["spec"].(map[string]any)["address"]
				state := map[string]any{"lastObservedState": "READY", "address": address}
				// What fails is done again.
				_ = c.Client.Do(ctx, http.MethodPatch, path+"/status", kube.MergePatch, map[string]any{"status": map[string]any{"connectionState": state}}, nil)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
