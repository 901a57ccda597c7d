package release

import (
	"errors"
	"strings"
	"testing"
)

// TestRefusedRollback changes nothing if the server refuses an object of the revision to return to.
func TestRefusedRollback(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(`
-- templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
{{- if .Values.lock }}
immutable: true
{{- end }}
data: {v: {{ .Values.v | quote }}}
-- templates/hook.yaml --
{{- if .Values.lock }}
apiVersion: batch/v1
kind: Job
metadata: {name: hook, annotations: {helm.sh/hook: post-upgrade}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: example.com/c}]}}}
{{- end }}
`)
	e.install(e.release(chart, values("v", "1")))
	locked := e.release(chart, values("v", "2", "lock", true))
	e.plan(locked, Upgrade)
	_, err := locked.Upgrade(t.Context(), UpgradeOptions{}) // no controller completes the Job
	var rolledBack *RolledBackError
	if err == nil || errors.As(err, &rolledBack) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"post-upgrade hooks failed", "roll back to revision 1: the API server refuses it, nothing was changed: ConfigMap/b: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if v := e.field("v1 ConfigMap a", "data", "v"); v != "2" {
		t.Errorf("v %s", v)
	}
	if records := e.records(); records != "1 deployed, 2 failed" {
		t.Errorf("records %s", records)
	}
}
