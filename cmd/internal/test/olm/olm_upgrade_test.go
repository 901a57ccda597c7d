//go:build unix

package olm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// olderVersion is the release that is upgraded.
const olderVersion = "v0.40.0"

// olderRelease fetches an older release, and replaces the installed one with it as another program would.
func (c *olmCluster) olderRelease(t *testing.T) {
	objects := c.serveRelease(t, olderVersion)
	_, errOut := c.must(t, 1, "install", "--version", "0.39.0")
	clitest.CheckContains(t, errOut, "fetching OLM v0.39.0: https://github.com/operator-framework/operator-lifecycle-manager/releases/download/v0.39.0/crds.yaml not found")
	out, _ := c.must(t, 0, "install", "--dry-run", "--version", "0.40.0", "--image-registry", "mirror.example.com/quay")
	clitest.CheckContains(t, out, `image: mirror.example.com/quay/operator-framework/olm:v0.40.0`)
	c.installOlder(t, objects)
}

// installOlder replaces the installed release with the objects of an older one, which another program has installed: with what the new
// release does not have any more, and with what cannot be changed.
func (c *olmCluster) installOlder(t *testing.T, objects []*kube.Object) {
	t.Helper()
	for _, o := range objects {
		labels := map[string]any{"app": "catalog-operator", "old": "yes"}
		switch {
		case o.GetKind() == "CatalogSource":
			c.Delete(t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName())
			continue
		case o.GetName() == "aggregate-olm-edit":
			o.SetLabels(map[string]string{"old": "yes"})
		case o.GetKind() == "Deployment" && o.GetName() == "catalog-operator":
			spec := o.Object["spec"].(map[string]any)
			spec["selector"].(map[string]any)["matchLabels"] = labels
			spec["template"].(map[string]any)["metadata"].(map[string]any)["labels"] = labels
		case o.GetKind() != "Deployment" && o.GetKind() != "ClusterServiceVersion":
			continue
		}
		if o.GetKind() == "Deployment" { // what follows would end without olm-operator
			defer c.create(t, o)
			continue
		}
		c.create(t, o)
	}
}

// upgraded upgrades the older release.
func (c *olmCluster) upgraded(t *testing.T) {
	_, out, errOut := c.operon("status") // its pods may not be ready yet
	clitest.CheckContains(t, errOut, "OLM v0.40.0 in the namespace olm", `clusterrole aggregate-olm-edit differs: metadata.labels.rbac.authorization.k8s.io/aggregate-to-edit is absent, the release has "true"`)
	clitest.CheckContains(t, out, "operatorhubio-catalog                           olm          CatalogSource               LeftOut\n")
	published := c.http
	c.Delete(t, "networking.k8s.io/v1", "NetworkPolicy", "olm", "packageserver")
	c.http = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })
	c.Try(t, func() error {
		code, out, errOut := c.operon("status")
		if code != 0 || !strings.Contains(out, "packageserver                                   olm          NetworkPolicy               Unknown\n") || strings.Contains(errOut, "differs") ||
			!strings.Contains(errOut, "no route; the objects of v0.46.0 are part of this program and need no network\n  comparing with the objects of v0.46.0 instead, without their fields") {
			return fmt.Errorf("%d\n%s%s", code, out, errOut)
		}
		return nil
	})
	c.http = published
	_, errOut = c.must(t, 1, "install")
	clitest.CheckContains(t, errOut, "OLM v0.40.0 is installed according to the packageserver ClusterServiceVersion; --upgrade replaces it with v0.46.0 and keeps the operators")
	_, errOut = c.must(t, 0, "install", "--upgrade")
	clitest.CheckContains(t, errOut, "upgrading OLM from v0.40.0 to v0.46.0", "replaced deployment olm/catalog-operator", "updated deployment olm/olm-operator",
		"updated clusterrole aggregate-olm-edit", "created catalogsource olm/operatorhubio-catalog", "OLM v0.46.0 is installed")
	if server := c.Get(t, "apps/v1", "Deployment", "olm", "packageserver"); !strings.Contains(fmt.Sprint(server.Object["spec"]), "olm:v0.46.0") {
		t.Errorf("install ends while the older package server runs: %v", server.Object["spec"])
	}
	_, errOut = c.must(t, 0, "status")
	if clitest.CheckContains(t, errOut, "OLM v0.46.0 in"); strings.Contains(errOut, "differs") {
		t.Error(errOut)
	}
	if role := c.Get(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "aggregate-olm-edit"); role.GetLabels()["old"] != "" {
		t.Error("what another program has set stays")
	}
	if old := c.Get(t, "apps/v1", "Deployment", "olm", "olm-operator"); strings.Contains(fmt.Sprint(old.Object["spec"]), "OLD_SETTING") {
		t.Error("what the older release has set stays")
	}
	_, errOut = c.must(t, 1, "install", "--version", "0.40.0", "--upgrade")
	clitest.CheckContains(t, errOut, "OLM v0.46.0 is installed according to the packageserver ClusterServiceVersion, which is newer than v0.40.0")
}

// serveRelease publishes a release made of the one in the program, with an older version and a setting that the
// newer one does not have.
func (c *olmCluster) serveRelease(t *testing.T, version string) []*kube.Object {
	t.Helper()
	release, err := olm.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, objects := range map[string][]*kube.Object{"crds.yaml": release.CRDs, "olm.yaml": release.Objects} {
		var documents []string
		for _, o := range objects {
			text, err := json.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			documents = append(documents, strings.ReplaceAll(strings.ReplaceAll(string(text), olm.DefaultVersion, version), `"env":[`, `"env":[{"name":"OLD_SETTING","value":"1"},`))
		}
		files["https://github.com/operator-framework/operator-lifecycle-manager/releases/download/"+version+"/"+name] = strings.Join(documents, "\n---\n")
	}
	c.http = roundTrip(func(r *http.Request) (*http.Response, error) {
		text, found := files[r.URL.String()]
		code := http.StatusOK
		if !found {
			code = http.StatusNotFound
		}
		return &http.Response{StatusCode: code, Status: http.StatusText(code), Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	})
	older, err := olm.Fetch(t.Context(), c.http, version, nil)
	if err != nil {
		t.Fatal(err)
	}
	return older.Objects
}

// create makes an object as kubectl create does, in place of one that is there.
func (c *olmCluster) create(t *testing.T, o *kube.Object) {
	t.Helper()
	c.Delete(t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName())
	c.Try(t, func() error {
		path, err := c.Client.Path(c.Context(), o, o.GetNamespace())
		if err == nil {
			err = c.Client.Do(c.Context(), http.MethodPost, strings.TrimSuffix(path, "/"+o.GetName())+"?fieldManager=kubectl-create", "", o.Object, nil)
		}
		return err
	})
}
