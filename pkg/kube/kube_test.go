package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	objects, err := Decode([]byte(`# a comment
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {number: "1"}
---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: b}}
- {apiVersion: v1, kind: Secret, metadata: {name: c}}
`))
	if err != nil || len(objects) != 3 || Name(objects[0]) != "configmap/a" || Name(objects[2]) != "secret/c" {
		t.Errorf("got %v, %v", objects, err)
	}
	for text, want := range map[string]string{
		"a: {":      "line 1",
		"---\na: b": "line 2: apiVersion and kind are required",
		"- a\n":     "line 1: must be an object",
		"just text": "line 1: must be an object",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func kubeconfig(server string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u, namespace: team}}]
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {token: t}}]
`, server)
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, broken, empty := file("good", kubeconfig("http://127.0.0.1:1/")), file("broken", "a: {"), file("empty", "")
	missing := filepath.Join(dir, "missing")
	client, err := Load(missing, good)
	if err != nil || client.URL != "http://127.0.0.1:1" || client.Context != "c" || client.Namespace != "team" {
		t.Errorf("got %+v, %v", client, err)
	}
	if named, err := loadContext("c", []string{good}); err != nil || named.URL != client.URL {
		t.Errorf("the context c: got %+v, %v", named, err)
	}
	if _, err := loadContext("d", []string{good}); !diag.IsUsage(err) {
		t.Errorf("the context d: %v, want a finding about --context", err)
	}
	if _, err := Load(empty); !errors.Is(err, errNoKubeconfig) {
		t.Errorf("Load of an empty file: %v, want ErrNoKubeconfig", err)
	}
	for _, files := range [][]string{{missing}, {broken}, {good, broken}} {
		if _, err := Load(files...); err == nil {
			t.Errorf("Load(%v) succeeded", files)
		} else if _, ok := errors.AsType[*configError](err); !ok {
			t.Errorf("Load(%v) = %v, want a *ConfigError", files, err)
		}
	}
	if _, err := New([]byte("a: {")); err == nil {
		t.Error("New succeeded with an invalid kubeconfig")
	}
}

// TestErrors checks the errors of a server. Tests of commands check its results.
func TestErrors(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/status":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"u must not","code":403}`)
		case "/text":
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "no backend\n")
		case "/nothing":
			w.WriteHeader(http.StatusNotFound)
		case "/version":
			<-r.Context().Done()
		default:
			fmt.Fprint(w, "{")
		}
	}))
	defer server.Close()
	client, err := New([]byte(kubeconfig(server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) error {
		var out map[string]any
		return client.Do(t.Context(), http.MethodGet, path, "", nil, &out)
	}
	if err := get("/status"); !IsForbidden(err) || IsNotFound(err) || err.Error() != "u must not" {
		t.Errorf("/status: %v", err)
	}
	if err := get("/text"); err == nil || !strings.Contains(err.Error(), `"no backend"`) {
		t.Errorf("/text: %v", err)
	}
	if err := get("/nothing"); !IsNotFound(err) || err.Error() != "the server could not find the requested resource" {
		t.Errorf("/nothing: %v", err)
	}
	if err := get("/torn"); err == nil || !strings.Contains(err.Error(), "GET /torn") {
		t.Errorf("/torn: %v", err)
	}
	if _, err := client.Ping(t.Context(), 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "no response within 50ms") {
		t.Errorf("silent server: %v", err)
	}
}

// TestExplain checks the description of a crashed container, which no simulated node has.
func TestExplain(t *testing.T) {
	t.Parallel()
	logQuery := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/namespaces/a/pods":
			fmt.Fprint(w, `{"kind":"PodList","items":[{"metadata":{"name":"p","namespace":"a"},"status":{"phase":"Running","containerStatuses":[
{"name":"c","image":"i","ready":false,"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
"lastState":{"terminated":{"exitCode":1,"reason":"Error"}}}]}}]}`)
		case "/api/v1/namespaces/a/pods/p/log":
			logQuery = r.URL.RawQuery
			fmt.Fprint(w, "first\nlast\r\n")
		case "/api/v1/namespaces/a/events":
			fmt.Fprint(w, `{"kind":"EventList","items":[{"reason":"Late","message":"two","lastTimestamp":"2026-01-02T00:00:00Z"},
{"reason":"Early","message":"one","lastTimestamp":"2026-01-01T00:00:00Z"},{"reason":"BackOff","message":"back-off","lastTimestamp":"2026-01-03T00:00:00Z"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	client, err := New([]byte(kubeconfig(server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Decode([]byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: a}, spec: {selector: {matchLabels: {app: d}}},
status: {conditions: [{type: Available, status: "False", reason: Few, message: too few}, {type: Progressing, status: "True"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	found := client.ExplainWorkload(t.Context(), objects[0])
	want := `condition Available=False: Few: too few
pod p is Running
  container c is waiting: CrashLoopBackOff: back-off
  container c exited with code 1: Error
  from its log:
    first
    last
  event Early: one
  event Late: two`
	if got := found.Error(); got != want || len(found.WithRule(Crashed)) != 1 || len(found.WithRule(Refused))+len(found.WithRule(Unscheduled))+len(found.WithRule(Unpulled)) > 0 {
		t.Errorf("%+v\n%s", found, got)
	}
	if !strings.Contains(logQuery, "previous=true") || !strings.Contains(logQuery, "tailLines=100") {
		t.Errorf("the query of the log is %q", logQuery)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`kind: Deployment, metadata: {generation: 2}, status: {observedGeneration: 1}`:                        "its newest generation is not observed yet",
		`kind: Deployment, spec: {replicas: 2}, status: {updatedReplicas: 1}`:                                 "1 of 2 replicas are updated",
		`kind: Deployment, status: {updatedReplicas: 1, replicas: 3}`:                                         "2 old replicas still exist",
		`kind: Deployment, status: {updatedReplicas: 1, replicas: 1}`:                                         "0 of 1 updated replicas are available",
		`kind: Deployment, status: {updatedReplicas: 1, replicas: 1, availableReplicas: 1}`:                   "",
		`kind: Deployment, spec: {replicas: 0}`:                                                               "",
		`kind: APIService`:                                                                                    "has no condition Available yet",
		`kind: APIService, status: {conditions: [{type: Available, status: "False", reason: R, message: m}]}`: "R: m",
		`kind: CustomResourceDefinition, status: {conditions: [{type: Established, status: "True"}]}`:         "",
		`kind: ConfigMap`: "",
		`kind: ConfigMap, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}`: "is being deleted",
	} {
		objects, err := Decode([]byte("{apiVersion: v1, " + text + "}"))
		if err != nil {
			t.Fatal(err)
		}
		o, err := objects[0].MarshalJSON() // like a server
		if err != nil {
			t.Fatal(err)
		}
		object, err := decodeObject(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := HealthOf(object); got.Ready != (want == "") || got.Reason != want {
			t.Errorf("%s: %+v, want %q", text, got, want)
		}
	}
}
