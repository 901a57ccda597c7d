package preview

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

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/testdata/apiserver"
	"github.com/operon-sdk/operon/testdata/snapshot"
)

// begin starts an API server, and a gateway before it whose writes are dry runs that a preview collects.
func begin(t *testing.T) (cluster, operator *kube.Client, p *Preview) {
	t.Helper()
	cluster, _ = apiserver.Start(t)
	transport, err := cluster.Transport()
	if err != nil {
		t.Fatal(err)
	}
	p = newPreview(t, Options{})
	dryRun, err := p.Begin(t.Context(), cluster, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(gateway.Options{URL: cluster.URL, Transport: transport, DryRun: dryRun})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Stop)
	g.SetTokens("token")
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if operator, err = kube.New(g.Kubeconfig(tokenFile)); err != nil {
		t.Fatal(err)
	}
	return cluster, operator, p
}

// TestNothingIsWritten sends writes of each kind through a gateway to an API server.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	cluster, operator, p := begin(t)
	for _, manifest := range []string{
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: x}}, data: {k: v}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {app: x}, finalizers: [example.com/f]}, data: {k: v}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {k: v}}`,
		`{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {serviceAccountName: a, automountServiceAccountToken: false, containers: [{name: c, image: i}]}}`,
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`,
	} {
		objects, err := kube.Decode([]byte(manifest))
		if err != nil {
			t.Fatal(err)
		}
		if err := cluster.Apply(t.Context(), objects[0], "default"); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot.Take(t, cluster)
	const core, apps = "/api/v1/namespaces/default", "/apis/apps/v1/namespaces/default"
	for i, w := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", core + "/configmaps", `{"metadata":{"name":"new"},"data":{"k":"v"}}`, 0},
		{"POST", core + "/configmaps", `{"metadata":{"generateName":"new-"}}`, 0},
		{"POST", core + "/configmaps", `{"metadata":{"name":"a"}}`, 409},
		{"POST", core + "/configmaps", `{"metadata":{"name":"A"}}`, 422},
		{"PUT", core + "/configmaps/a", `{"metadata":{"name":"a"},"data":{"k":"w"}}`, 0},
		{"PUT", core + "/configmaps/new", `{"metadata":{"name":"new","resourceVersion":"1"},"data":{"k":"w"}}`, 404},
		{"PATCH", core + "/configmaps/a", `{"data":{"l":"w"}}`, 0},
		{"DELETE", core + "/configmaps/a", "", 0},
		{"DELETE", core + "/configmaps/a", `{"propagationPolicy":"Background","dryRun":[]}`, 0},
		{"DELETE", core + "/configmaps/b", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground"}`, 0},
		{"DELETE", core + "/configmaps?labelSelector=app%3Dx", "", 0},
		{"DELETE", core + "/configmaps?labelSelector=app%3Dx", `{"gracePeriodSeconds":0}`, 0},
		{"PATCH", core + "/secrets/s", `{"stringData":{"k":"hidden"}}`, 0},
		{"PATCH", apps + "/deployments/d", `{"spec":{"replicas":2}}`, 0},
		{"PATCH", apps + "/deployments/d/scale", `{"spec":{"replicas":3}}`, 0},
		{"PATCH", apps + "/deployments/d/status", `{"status":{"observedGeneration":1}}`, 0},
		{"PUT", "/api/v1/namespaces/default/finalize", `{"metadata":{"name":"default"},"spec":{"finalizers":["example.com/f"]}}`, 0},
		{"POST", core + "/pods/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`, 0},
		{"POST", core + "/pods/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, 0},
		{"POST", core + "/pods/p/binding", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, 403},
		{"POST", core + "/bindings", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, 403},
		{"POST", core + "/pods/p/exec?command=ls", "", 403},
		{"POST", core + "/serviceaccounts/a/token", `{"spec":{}}`, 403},
		{"POST", core + "/events", `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`, 0},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`, 0},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"x"}}`, 0},
		{"POST", "/api/v1/namespaces", `{"metadata":{"name":"ns"}}`, 0},
		{"PATCH", "/api/v1/namespaces/applied?fieldManager=m", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"applied"}}`, 0},
		{"DELETE", "/api/v1/namespaces/default", "", 403}, // the API server protects it
	} {
		var body any
		if w.body != "" {
			body = json.RawMessage(w.body)
		}
		media := ""
		if w.method == http.MethodPatch {
			if media = kube.MergePatch; strings.Contains(w.path, "fieldManager") {
				media = kube.ApplyPatch
			}
		}
		var answer map[string]any
		err := operator.Do(t.Context(), w.method, w.path, media, body, &answer)
		if want := fmt.Sprint(w.code); (err == nil) != (w.code == 0) || err != nil && code(err) != want {
			t.Errorf("%d. %s %s %s: %v, want %s", i, w.method, w.path, w.body, err, want)
		}
		if changes := before.Changes(snapshot.Take(t, cluster)); len(changes) > 0 {
			t.Fatalf("%d. %s %s %s changes the cluster:\n%s", i, w.method, w.path, w.body, strings.Join(changes, "\n"))
		}
	}
	r := p.Result()
	var names []string
	for _, c := range r.Changes {
		names = append(names, c.Path)
	}
	want := []string{
		"configmap/default/a", "configmap/default/a", "configmap/default/a", "configmap/default/b", "configmap/default/new", "configmap/default/new-*",
		"deployment.apps/default/d", "deployment.apps/default/d/status", "deployments.apps/default/d/scale",
		"namespace/applied", "namespace/default/finalize", "namespace/ns", "pod/default/p", "secret/default/s",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the changes are\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	if r.Created != 4 || r.Changed != 3 || r.Deleted != 3 || r.Events != 1 || len(r.Refused) != 6 || len(r.Unknown) > 0 {
		t.Errorf("got %d created, %d changed, %d deleted, %d Events\n%s", r.Created, r.Changed, r.Deleted, r.Events, strings.Join(append(r.Refused, r.Unknown...), "\n"))
	}
}

// code returns the HTTP status in an error.
func code(err error) string {
	for _, c := range []struct {
		is   func(error) bool
		code string
	}{{kube.IsNotFound, "404"}, {kube.IsConflict, "409"}, {kube.IsForbidden, "403"}} {
		if c.is(err) {
			return c.code
		}
	}
	if strings.Contains(err.Error(), "is invalid") {
		return "422"
	}
	return err.Error()
}

// TestCompare checks the warnings about CRDs.
func TestCompare(t *testing.T) {
	t.Parallel()
	cluster, _, _ := begin(t)
	define := func(extra string) *kube.Object {
		objects, err := kube.Decode([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: frogs.example.com}, spec: {
  group: example.com, scope: Namespaced, names: {plural: frogs, kind: Frog}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object` + extra + `}}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return objects[0]
	}
	for _, tc := range []struct {
		name       string
		definition *kube.Object
		want       string
	}{
		{"missing", define(""), "the cluster doesn't have the CRD frogs.example.com"},
		{"equal", define(", properties: {a: {type: string}, b: {type: string}}"), ""},
		{"less", define(", properties: {a: {type: string}}"), "differs from the one in the cluster"},
		{"more", define(", properties: {a: {type: string}, b: {type: string}, c: {type: string}}"), "differs from the one in the cluster"},
		{"invalid", define(", x-kubernetes-validations: [{rule: 'self.z'}]"), "the cluster would refuse the CRD frogs.example.com: "},
	} {
		var warnings []string
		p := New(Options{Now: time.Now, Progressf: t.Logf, Warnf: func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }})
		if _, err := p.Begin(t.Context(), cluster, []*kube.Object{tc.definition}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(warnings, "\n")
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || p.Misses("frogs.example.com") != (tc.name == "missing") {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if tc.name == "missing" {
			if err := cluster.Apply(t.Context(), define(", properties: {a: {type: string}, b: {type: string}}"), ""); err != nil {
				t.Fatal(err)
			}
			if err := cluster.WaitEstablished(t.Context(), "frogs.example.com", time.Minute); err != nil {
				t.Fatal(err)
			}
		}
	}
}
