//go:build unix

package olm

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// TestOLM takes OLM through its life in one cluster: each row starts from what the one before it left.
func TestOLM(t *testing.T) {
	t.Parallel()
	c := startOLMCluster(t)
	before := c.ListObjects(t)
	same := func(t *testing.T) {
		t.Helper()
		var after []string
		c.Try(t, func() error {
			after = c.ListObjects(t)
			if !slices.Equal(before, after) {
				return fmt.Errorf("the cluster has changed:\n%s", clitest.Diff(before, after))
			}
			return nil
		})
	}
	for _, row := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"nothing there", func(t *testing.T) {
			_, errOut := c.must(t, 1, "status")
			clitest.CheckContains(t, errOut, "OLM is not installed in the namespace olm; 'operon olm install' installs it")
			_, errOut = c.must(t, 0, "uninstall")
			clitest.CheckContains(t, errOut, "OLM is not installed in the namespace olm; there is nothing to remove")
		}},
		{"in a pod", c.inPod},
		{"no rights", func(t *testing.T) {
			nobody := c.KubeconfigAs(t, "nobody")
			for _, args := range [][]string{{"install"}, {"status"}, {"uninstall"}} {
				code, _, errOut := c.operonAs(nobody, args...)
				if code != 1 || !strings.Contains(errOut, `the cluster rejects this user: listing customresourcedefinitions: customresourcedefinitions.apiextensions.k8s.io is forbidden: User "nobody"`) {
					t.Errorf("olm %s: %d\n%s", args[0], code, errOut)
				}
			}
			c.Apply(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: reader},
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}, subjects: [{kind: User, name: reader, apiGroup: rbac.authorization.k8s.io}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]}`)
			c.Try(t, func() error { // rights take a moment
				code, _, errOut := c.operonAs(c.KubeconfigAs(t, "reader"), "install")
				for _, text := range []string{"the cluster forbids this user 24 of 29 objects, and nothing was changed:", "  deployment olm/olm-operator: ", "OLM needs cluster-admin"} {
					if code != 1 || !strings.Contains(errOut, text) {
						return fmt.Errorf("%d, want %q in\n%s", code, text, errOut)
					}
				}
				return nil
			})
			c.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "reader")
			c.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "reader")
			same(t)
		}},
		{"install is killed", func(t *testing.T) {
			c.killedAt(t, "PATCH", "/apis/networking.k8s.io/v1/namespaces/olm/networkpolicies/packageserver", "install")
			_, errOut := c.must(t, 1, "status")
			clitest.CheckContains(t, errOut, "the installed version is unknown", "deployment olm/olm-operator is missing")
		}},
		{"install completes it", func(t *testing.T) {
			out, errOut := c.must(t, 0, "install")
			clitest.CheckContains(t, errOut, "unchanged networkpolicy olm/catalog-operator", "created networkpolicy olm/packageserver", "deployment olm/olm-operator is ready", "clusterserviceversion olm/packageserver is ready", "OLM v0.46.0 is installed",
				"catalogsource olm/operatorhubio-catalog is not ready yet: not processed by catalog-operator yet; OLM works without it, and 'olm status' shows its state\n")
			tutorial := strings.Split(tutorialTable(t), "\n")
			for _, line := range tutorial {
				clitest.CheckContains(t, out, line+"\n")
			}
			if out[:len(tutorial[0])+1] != tutorial[0]+"\n" || strings.Count(out, "\n") != 30 {
				t.Errorf("the table is\n%s", out)
			}
		}},
		{"status", func(t *testing.T) {
			out, errOut := c.must(t, 0, "status")
			clitest.CheckContains(t, errOut, "OLM v0.46.0 in the namespace olm, according to the packageserver ClusterServiceVersion")
			if lost, _ := c.must(t, 0, "uninstall", "--dry-run"); lost != "" {
				t.Errorf("users would lose\n%s", lost)
			}
			if strings.Contains(errOut, "differs") {
				t.Error(errOut)
			}
			clitest.CheckContains(t, out, "packageserver                                   olm          ClusterServiceVersion       Installed\n",
				"operatorhubio-catalog                           olm          CatalogSource               NotReady\n")
			out, _ = c.must(t, 0, "status", "--version", "v0.46.0", "-o", "json")
			var status olm.Status
			if err := json.Unmarshal([]byte(out), &status); err != nil || !status.Healthy || status.Version != "v0.46.0" || len(status.Objects) != 29 {
				t.Errorf("%v: %s", err, out)
			}
			_, errOut = c.must(t, 1, "status", "--version", "0.45.0")
			clitest.CheckContains(t, errOut, "OLM v0.46.0 is installed according to the packageserver ClusterServiceVersion, not v0.45.0")
			_, errOut = c.must(t, 1, "status", "--olm-namespace", "other")
			clitest.CheckContains(t, errOut, "OLM runs in the namespace olm; give --olm-namespace olm")
		}},
		{"install again", func(t *testing.T) {
			_, errOut := c.must(t, 0, "install")
			if clitest.CheckContains(t, errOut, "OLM is already installed"); strings.Count(errOut, "\nunchanged ") != 29 {
				t.Error(errOut)
			}
			out, _ := c.must(t, 0, "install", "--dry-run", "-o", "yaml")
			objects, err := kube.Decode([]byte(out))
			if err != nil || len(objects) != 29 {
				t.Fatal(len(objects), err)
			}
			for _, o := range objects {
				if change, err := c.Client.ApplyOrRecreate(t.Context(), o); err != nil || change != kube.Unchanged {
					t.Errorf("applying the output of --dry-run: %s %s %v", change, kube.FullName(o), err)
				}
			}
		}},
		{"half of it deleted", func(t *testing.T) {
			c.Delete(t, "apps/v1", "Deployment", "olm", "olm-operator")
			c.Delete(t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "olm-operator-binding-olm")
			c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "olmconfigs.operators.coreos.com")
			c.Delete(t, "v1", "Namespace", "", "operators")
			c.Patch(t, kube.Named("apps/v1", "Deployment", "olm", "catalog-operator"), "", `{"spec":{"replicas":2}}`)
			_, errOut := c.must(t, 1, "status")
			clitest.CheckContains(t, errOut, "deployment olm/olm-operator is missing", "clusterrolebinding olm-operator-binding-olm is missing", "olmconfig cluster is missing",
				"deployment olm/catalog-operator differs: spec.replicas is 2, the release has 1")
			_, errOut = c.must(t, 0, "install")
			clitest.CheckContains(t, errOut, "created deployment olm/olm-operator", "updated deployment olm/catalog-operator", "created namespace operators")
			_, errOut = c.must(t, 0, "status")
			if strings.Contains(errOut, "differs") {
				t.Error(errOut)
			}
		}},
		{"a service account deleted", c.accountDeleted},
		{"pods that do not start", func(t *testing.T) {
			nodes, err := c.Client.List(t.Context(), kube.Resource{APIVersion: "v1", Name: "nodes"}, "", nil)
			if err != nil || len(nodes) != 1 {
				t.Fatal(nodes, err)
			}
			c.Patch(t, nodes[0], "", `{"spec":{"unschedulable":true}}`)
			var pod *kube.Object
			pods := func() []*kube.Object {
				pods, err := c.Client.List(t.Context(), kube.Resource{APIVersion: "v1", Name: "pods"}, "olm", nil)
				if err != nil {
					t.Fatal(err)
				}
				return slices.DeleteFunc(pods, func(o *kube.Object) bool { return !strings.HasPrefix(o.GetName(), "catalog-operator-") })
			}
			for _, old := range pods() {
				c.Delete(t, "v1", "Pod", "olm", old.GetName())
			}
			c.Try(t, func() error {
				for _, new := range pods() {
					if pod = new; strings.Contains(fmt.Sprint(new.Object["status"]), "unschedulable") {
						return nil
					}
				}
				return fmt.Errorf("no pod waits for a node")
			})
			// The cause of a real node, beside the one of this cluster.
			c.Patch(t, pod, "/status", `{"status":{"containerStatuses":[{"name":"catalog-operator","image":"quay.io/operator-framework/olm:v0.46.0",
"imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling it"}}}]}}`)
			_, errOut := c.must(t, 1, "install", "--timeout", "12s")
			clitest.CheckContains(t, errOut, "error: OLM is not ready: not done within 12s\ndeployment olm/catalog-operator: 0 of 1 updated replicas are available\n",
				"    no node accepts it: Unschedulable: 0/1 nodes are available: 1 node(s) were unschedulable.",
				"    container catalog-operator is waiting: ImagePullBackOff: Back-off pulling it\n",
				"- the nodes cannot pull quay.io/operator-framework/olm:v0.46.0: give --image-registry with a registry that they can reach and that has it, or --olm-image\n",
				"- add a node that accepts the pods to the cluster: Linux",
				"- run 'olm install' again to continue")
			c.Patch(t, nodes[0], "", `{"spec":{"unschedulable":null}}`)
			c.must(t, 0, "install")
		}},
		{"an older release", func(t *testing.T) {
			objects := c.serveRelease(t, "v0.40.0")
			_, errOut := c.must(t, 1, "install", "--version", "0.39.0")
			clitest.CheckContains(t, errOut, "fetching OLM v0.39.0: https://github.com/operator-framework/operator-lifecycle-manager/releases/download/v0.39.0/crds.yaml not found")
			out, _ := c.must(t, 0, "install", "--dry-run", "--version", "0.40.0", "--image-registry", "mirror.example.com/quay")
			clitest.CheckContains(t, out, `image: mirror.example.com/quay/operator-framework/olm:v0.40.0`)
			// Another program has installed it, with what the new release does not have any more, and with what
			// cannot be changed.
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
		}},
		{"upgrade", func(t *testing.T) {
			_, out, errOut := c.operon("status") // its pods may not be ready yet
			clitest.CheckContains(t, errOut, "OLM v0.40.0 in the namespace olm", `clusterrole aggregate-olm-edit differs: metadata.labels.rbac.authorization.k8s.io/aggregate-to-edit is absent, the release has "true"`)
			clitest.CheckContains(t, out, "operatorhubio-catalog                           olm          CatalogSource               LeftOut\n")
			published := c.http
			c.Delete(t, "networking.k8s.io/v1", "NetworkPolicy", "olm", "packageserver")
			c.http = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })
			c.Try(t, func() error {
				code, out, errOut := c.operon("status")
				if code != 0 || !strings.Contains(out, "packageserver                                   olm          NetworkPolicy               Unknown\n") || strings.Contains(errOut, "differs") ||
					!strings.Contains(errOut, "no route; the objects of v0.46.0 are part of this program and need no network\ncomparing with the objects of v0.46.0 instead, without their fields") {
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
		}},
		{"an API service that does not answer", func(t *testing.T) {
			service := kube.Named("apiregistration.k8s.io/v1", "APIService", "", "v1.packages.operators.coreos.com")
			c.Patch(t, service, "", `{"spec":{"service":{"port":1}}}`)
			c.Patch(t, kube.Named("v1", "Service", "olm", "packageserver-service"), "", `{"spec":{"ports":[{"port":1}]}}`)
			c.Try(t, func() error {
				if kube.HealthOf(c.Get(t, "apiregistration.k8s.io/v1", "APIService", "", "v1.packages.operators.coreos.com")).Ready {
					return fmt.Errorf("it is still available")
				}
				return nil
			})
			_, errOut := c.must(t, 1, "status")
			clitest.CheckContains(t, errOut, "clusterserviceversion olm/packageserver: apiservice v1.packages.operators.coreos.com: FailedDiscoveryCheck:")
			_, errOut = c.must(t, 1, "install", "--timeout", "40s")
			clitest.CheckContains(t, errOut, "apiservice v1.packages.operators.coreos.com: FailedDiscoveryCheck:", "- the API server must reach the pods of service olm/packageserver-service on port 5443")
		}},
		{"uninstall with an operator", func(t *testing.T) {
			c.installOperator(t)
			_, errOut := c.must(t, 1, "uninstall")
			lines := `users would lose these objects, and nothing was removed:
operator operators/memcached-operator.v0.0.1 will be deleted with its deployments and permissions
  memcacheds.cache.example.com: 1 will be deleted with their namespace: operators/going
  memcacheds.cache.example.com: 1 will be kept without an operator: default/staying
subscription operators/memcached-operator will be deleted
catalog olm/mine will be deleted
configmap operators/mine will be deleted with its namespace
give --force to remove all of them
`
			clitest.CheckContains(t, errOut, lines)
			out, _ := c.must(t, 0, "uninstall", "--dry-run")
			clitest.CheckContains(t, lines, out)
			for answer, want := range map[string]string{"no": "nothing was removed", "y": "nothing was removed"} {
				if code, text := c.atTerminal(answer, "uninstall"); code != 1 || !strings.Contains(text, want) {
					t.Errorf("answer %s: %d, %s", answer, code, text)
				}
			}
			if c.Get(t, "operators.coreos.com/v1alpha1", "Subscription", "operators", "memcached-operator") == nil {
				t.Error("something was removed")
			}
		}},
		{"uninstall is killed", func(t *testing.T) {
			c.killedAt(t, "DELETE", "/apis/cache.example.com/v1/namespaces/operators/memcacheds/going", "uninstall", "--force", "--timeout", "16s")
			// What the operator would do about its resources is no longer done, and a user deletes a namespace.
			c.Apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, namespace: olm, finalizers: [example.com/never]}}`)
			c.Delete(t, "v1", "Namespace", "", "olm")
			_, errOut := c.must(t, 1, "install", "--timeout", "5s")
			clitest.CheckContains(t, errOut, "namespace olm is being deleted since", "still exists (not done within 5s)", "'olm uninstall' removes what delays it; then install again")
		}},
		{"uninstall with another API service that does not answer", func(t *testing.T) {
			c.Apply(t, `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.other.example.com}, spec: {group: other.example.com, version: v1,
groupPriorityMinimum: 10, versionPriority: 10, service: {name: gone, namespace: default}}}`)
			code, text := c.atTerminal("yes", "uninstall", "--timeout", "16s")
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
			clitest.CheckContains(t, text, "removing the finalizer example.com/wait of memcached operators/going, which its controller does not remove", "removing the finalizer example.com/never of configmap olm/stuck, which its controller does not remove",
				"deleted apiservice v1.packages.operators.coreos.com", " was not deleted: not done within 16s\n  NamespaceDeletionDiscoveryFailure: ",
				"\n  apiservice v1.other.example.com is not available (ServiceNotFound: ", "'kubectl delete apiservice v1.other.example.com'; uninstall again to continue")
			c.Delete(t, "apiregistration.k8s.io/v1", "APIService", "", "v1.other.example.com")
		}},
		{"definitions that are held", c.definitionsHeld},
		{"a definition that is being deleted", c.definitionDeleted},
		{"uninstall completes it", func(t *testing.T) {
			_, errOut := c.must(t, 0, "uninstall")
			clitest.CheckContains(t, errOut, "deleted clusterrole system:controller:operator-lifecycle-manager", "OLM is removed\n")
			if c.Get(t, "cache.example.com/v1", "Memcached", "default", "staying") == nil {
				t.Error("a resource outside of OLM's namespaces is removed")
			}
			c.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "memcacheds.cache.example.com")
			same(t)
			c.must(t, 0, "uninstall")
		}},
	} {
		if !t.Run(row.name, row.run) {
			return // the others start from there
		}
	}
}

// tutorialTable is what operator-sdk's tutorial shows after olm install.
func tutorialTable(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(clitest.ReadFile(t, clitest.Testdata("olm", "tutorial-table.txt")))
}

// killedAt runs a command as a process and kills it when it sends a request, which the cluster never gets.
func (c *olmCluster) killedAt(t *testing.T, method, path string, args ...string) {
	t.Helper()
	server, err := url.Parse(c.Plane.URL)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.Plane.CAData)
	proxy := httputil.NewSingleHostReverseProxy(server)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	proxy.Transport = transport
	defer transport.CloseIdleConnections()
	reached, over := make(chan struct{}), make(chan struct{})
	var once sync.Once
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method && r.URL.Path == path && !r.URL.Query().Has("dryRun") {
			once.Do(func() { close(reached) })
			<-over
			return
		}
		r.Header.Set("Authorization", "Bearer "+c.Plane.Token) // clients send none without TLS
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	defer close(over)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: %q}}], users: [{name: u, user: {}}]}`, front.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := exec.Command(os.Args[0], append([]string{"olm"}, args...)...)
	p.Dir = c.dir
	p.Env = append(os.Environ(), clitest.KillVariable+"=0", "KUBECONFIG="+kubeconfig)
	var out clitest.Buffer
	p.Stdout, p.Stderr = &out, &out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case <-reached:
	case <-time.After(time.Minute):
		t.Errorf("it never asks for %s %s\n%s", method, path, out.String())
	case err := <-ended:
		t.Fatalf("it ended (%v) before it asked for %s %s\n%s", err, method, path, out.String())
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// atTerminal runs a command with a user who answers.
func (c *olmCluster) atTerminal(answer string, args ...string) (code int, text string) {
	var out clitest.Buffer
	env := &cmd.Env{In: strings.NewReader(""), Out: &out, Err: &out, Dir: c.dir, FS: afero.NewOsFs(), Now: time.Now, HTTP: c.http,
		Environ: []string{"KUBECONFIG=" + c.Plane.KubeconfigPath()}, InTerminal: true, OutTerminal: true, ErrTerminal: true, Prompter: onePrompter(answer)}
	code = cmd.Main(c.Context(), env, append([]string{"operon", "olm"}, args...))
	return code, out.String()
}

type onePrompter string

func (p onePrompter) Confirm(string, bool) (bool, error) { return p == "yes", nil }
func (p onePrompter) Input(cmd.Question) (string, error) { return string(p), nil }

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

// installOperator makes what OLM makes of a subscription, and what users make beside it.
func (c *olmCluster) installOperator(t *testing.T) {
	t.Helper()
	c.Apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: memcacheds.cache.example.com}
spec:
  group: cache.example.com
  scope: Namespaced
  names: {plural: memcacheds, singular: memcached, kind: Memcached, listKind: MemcachedList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	c.Apply(t, `
{apiVersion: cache.example.com/v1, kind: Memcached, metadata: {name: going, namespace: operators, finalizers: [example.com/wait]}}
---
{apiVersion: cache.example.com/v1, kind: Memcached, metadata: {name: staying, namespace: default}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: operators}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: mine, namespace: olm}, spec: {sourceType: grpc, image: example.com/catalog:v1}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: memcached-operator, namespace: operators}, spec: {name: memcached-operator, source: mine, sourceNamespace: olm}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: memcached-operator.v0.0.1, namespace: operators}
spec:
  displayName: Memcached
  version: 0.0.1
  customresourcedefinitions:
    owned: [{name: memcacheds.cache.example.com, kind: Memcached, version: v1}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: memcached-operator
        spec:
          selector: {matchLabels: {app: memcached-operator}}
          template:
            metadata: {labels: {app: memcached-operator}}
            spec: {containers: [{name: manager, image: "example.com/memcached-operator:v0.0.1"}]}
`)
	c.Try(t, func() error {
		csv := c.Get(t, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "operators", "memcached-operator.v0.0.1")
		if !strings.Contains(fmt.Sprint(csv.Object["status"]), "Succeeded") {
			return fmt.Errorf("the operator is not installed: %v", csv.Object["status"])
		}
		return nil
	})
}
