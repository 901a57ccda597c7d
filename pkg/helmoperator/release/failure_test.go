package release

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// failingChart renders a Deployment that the server refuses if the value invalid is true.
const failingChart = `
-- templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: before}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {password: {{ randAlphaNum 12 }}}
{{- if .Values.extra }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: extra}
{{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: {{ .Values.replicas | default 1 }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: {{ if .Values.invalid }}other{{ else }}web{{ end }}}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
`

func values(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func TestFailedInstall(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	invalid := e.release(chart, values("invalid", true))
	e.plan(invalid, Install)
	_, err := invalid.Install(t.Context())
	if err == nil || !strings.Contains(err.Error(), `Deployment.apps "web" is invalid`) {
		t.Fatalf("error %v", err)
	}
	e.mustNot("v1 ConfigMap before")
	e.mustNot("v1 Secret password")
	if records := e.records(); records != "" {
		t.Errorf("records %s", records)
	}
	valid := e.release(chart, nil)
	e.install(valid)
	e.settled(valid)
}

// TestInstallRefusesForeignObjects does not delete an object that is not the release's.
func TestInstallRefusesForeignObjects(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: before, namespace: " + e.namespace + "}\ndata: {v: foreign}")
	_, err := e.release(e.chart(failingChart), nil).Install(t.Context())
	if err == nil || !strings.Contains(err.Error(), `ConfigMap "before" in namespace "`+e.namespace+`" exists and cannot be imported`) {
		t.Fatalf("error %v", err)
	}
	if v := e.field("v1 ConfigMap before", "data", "v"); v != "foreign" {
		t.Errorf("v %s", v)
	}
	e.mustNot("v1 Secret password")
}

func TestFailedUpgrade(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		t.Run(map[bool]string{false: "patch", true: "force"}[force], func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(failingChart)
			valid := e.release(chart, values("v", "1"))
			e.install(valid)
			password := e.field("v1 Secret password", "data", "password")
			uid := e.must("apps/v1 Deployment web").GetUID()
			invalid := e.release(chart, values("v", "2", "invalid", true, "extra", true))
			e.plan(invalid, Upgrade)
			_, err := invalid.Upgrade(t.Context(), UpgradeOptions{Force: force, RollbackForce: force})
			var rolledBack *RolledBackError
			if !errors.As(err, &rolledBack) || rolledBack.Revision != 1 || !strings.Contains(err.Error(), `Deployment.apps "web" is invalid`) {
				t.Fatalf("error %v", err)
			}
			if records := e.records(); records != "1 superseded, 2 failed, 3 deployed" {
				t.Errorf("records %s", records)
			}
			if v := e.field("v1 ConfigMap before", "data", "v"); v != "1" {
				t.Errorf("v %s", v)
			}
			e.mustNot("v1 ConfigMap extra")
			e.settled(valid)
			e.plan(invalid, Upgrade)
			if e.field("v1 Secret password", "data", "password") != password || e.must("apps/v1 Deployment web").GetUID() != uid {
				t.Error("objects were replaced by others")
			}
			e.upgrade(e.release(chart, values("v", "3")))
			if got := e.field("v1 Secret password", "data", "password"); got != password {
				t.Errorf("password %s, was %s", got, password)
			}
		})
	}
}

// kill makes all requests fail after the first that contains a text, as if the process were killed.
func (e *env) kill(at string) {
	dead := false
	e.requests.mutex.Lock()
	defer e.requests.mutex.Unlock()
	e.requests.intercept = func(request *http.Request) *http.Response {
		e.requests.mutex.Lock()
		defer e.requests.mutex.Unlock()
		if dead = dead || strings.Contains(request.Method+" "+request.URL.RequestURI(), at); !dead {
			return nil
		}
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"killed","reason":"InternalError","code":500}`
		return &http.Response{StatusCode: http.StatusInternalServerError, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body))}
	}
}

func TestKilledInstall(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	e.kill("POST /apis/apps/v1/namespaces/" + e.namespace + "/deployments")
	if _, err := e.release(chart, values("extra", true)).Install(t.Context()); err == nil {
		t.Fatal("not killed")
	}
	e.connect()
	if records := e.records(); records != "1 pending-install" {
		t.Fatalf("records %s", records)
	}
	password := e.field("v1 Secret password", "data", "password")
	again := e.release(chart, nil)
	if plan := e.plan(again, Install); plan.Reason != "revision 1 is pending-install" {
		t.Errorf("reason %s", plan.Reason)
	}
	e.install(again)
	e.settled(again)
	e.must("apps/v1 Deployment web")
	e.mustNot("v1 ConfigMap extra")
	if got := e.field("v1 Secret password", "data", "password"); got != password {
		t.Errorf("password %s, was %s", got, password)
	}
	e.uninstall(nil)
	e.mustNot("apps/v1 Deployment web")
}

func TestKilledUpgrade(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	first := e.release(chart, values("v", "1"))
	e.install(first)
	password := e.field("v1 Secret password", "data", "password")
	e.kill("PATCH /apis/apps/v1/namespaces/" + e.namespace + "/deployments/web")
	if _, err := e.release(chart, values("v", "2", "extra", true, "replicas", int64(2))).Upgrade(t.Context(), UpgradeOptions{}); err == nil {
		t.Fatal("not killed")
	}
	e.connect()
	if records := e.records(); records != "1 deployed, 2 pending-upgrade" {
		t.Fatalf("records %s", records)
	}
	e.must("v1 ConfigMap extra")
	first = e.release(chart, values("v", "1")) // the values are reverted
	e.upgrade(first)
	if v := e.field("v1 ConfigMap before", "data", "v"); v != "1" {
		t.Errorf("v %s", v)
	}
	e.mustNot("v1 ConfigMap extra")
	e.settled(first)
	if got := e.field("v1 Secret password", "data", "password"); got != password {
		t.Errorf("password %s, was %s", got, password)
	}
}

func TestKilledRollback(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(failingChart)
	first := e.release(chart, values("v", "1"))
	e.install(first)
	e.kill("PUT /api/v1/namespaces/" + e.namespace + "/secrets/sh.helm.release.v1.web.v3")
	if _, err := e.release(chart, values("v", "2", "invalid", true)).Upgrade(t.Context(), UpgradeOptions{}); err == nil {
		t.Fatal("not killed")
	}
	e.connect()
	if records := e.records(); !strings.HasSuffix(records, "2 failed, 3 pending-rollback") {
		t.Fatalf("records %s", records)
	}
	first = e.release(chart, values("v", "1"))
	e.upgrade(first)
	e.settled(first)
}

// TestKilledUninstall continues with another uninstallation, or with an installation for a new custom resource.
func TestKilledUninstall(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"uninstall", "install"} {
		t.Run(next, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(failingChart)
			e.install(e.release(chart, nil))
			e.kill("DELETE /api/v1/namespaces/" + e.namespace + "/configmaps/before")
			if _, err := e.release(nil, nil).Uninstall(t.Context(), UninstallOptions{}); err == nil {
				t.Fatal("not killed")
			}
			e.connect()
			if records := e.records(); records != "1 uninstalling" {
				t.Fatalf("records %s", records)
			}
			if next == "install" {
				e.install(e.release(chart, nil))
				e.settled(e.release(chart, nil))
			}
			e.uninstall(nil)
			e.mustNot("v1 ConfigMap before")
			e.mustNot("apps/v1 Deployment web")
		})
	}
}

// TestErrorsDoNotContainSecrets redacts what the server quotes.
func TestErrorsDoNotContainSecrets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const secret = "topsecret99"
	chart := e.chart(`
-- templates/all.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: {{ .Values.password }}}
---
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {ports: [{port: 80, name: "a_{{ .Values.password }}"}]}
`)
	_, err := e.release(chart, values("password", secret)).Install(t.Context())
	if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "[redacted]") || !strings.Contains(err.Error(), `Service "s" is invalid`) {
		t.Errorf("error %v", err)
	}
}
