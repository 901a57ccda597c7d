package release

import (
	"strings"
	"testing"
)

// hookChart counts the runs of a hook in what it renders, and has hooks whose changes require nothing.
const hookChart = `
-- values.yaml --
message: one
installed: x
tested: x
seed: a
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: same}
-- templates/migrate.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: migrate-{{ randAlphaNum 5 | lower }}
  annotations: {helm.sh/hook: "post-install,post-upgrade", helm.sh/hook-delete-policy: hook-succeeded}
data: {message: {{ .Values.message | quote }}, at: {{ now | quote }}, certificate: {{ (genSelfSignedCert .Values.seed nil nil 1).Cert | b64enc }}}
-- templates/stable.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: stable
  annotations: {helm.sh/hook: "pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
data: {message: {{ .Values.message | quote }}, revision: "{{ .Release.Revision }}"}
-- templates/install.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: install, annotations: {helm.sh/hook: pre-install}}
data: {v: {{ .Values.installed | quote }}}
-- templates/test.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: test, annotations: {helm.sh/hook: test}}
data: {v: {{ .Values.tested | quote }}}
`

// TestHookChanges upgrades if only hooks are rendered differently, but not because of random content, or of hooks that are not run
// again.
func TestHookChanges(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"client", "server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(hookChart)
			release := func(set ...any) *Release {
				return e.release(chart, values(set...), func(o *Options) { o.DryRun = mode })
			}
			e.install(release())
			e.settled(release())
			for name, r := range map[string]*Release{"installation": release("installed", "y"), "test": release("tested", "y")} {
				if plan := e.plan(r, None); len(plan.Nondeterministic) > 0 {
					t.Errorf("%s: nondeterministic %v", name, plan.Nondeterministic)
				}
			}
			changed := release("message", "two")
			if plan := e.plan(changed, Upgrade); !strings.HasPrefix(plan.Reason, "differs: hook ConfigMap/migrate-") || !strings.HasSuffix(plan.Reason, "hook ConfigMap/stable data.message") {
				t.Errorf("reason %s", plan.Reason)
			}
			before := e.must("v1 ConfigMap c").GetResourceVersion()
			e.upgrade(changed)
			if message := e.field("v1 ConfigMap stable", "data", "message"); message != "two" {
				t.Errorf("the hook was run with %s", message)
			}
			if after := e.must("v1 ConfigMap c").GetResourceVersion(); after != before {
				t.Error("an object was changed")
			}
			e.settled(release("message", "two"))
			e.connect() // a new process
			e.settled(release("message", "two"))
			seeded := release("message", "two", "seed", "b")
			if plan := e.plan(seeded, Upgrade); !strings.Contains(plan.Reason, "data.certificate") {
				t.Errorf("reason %s", plan.Reason)
			}
			e.upgrade(seeded)
			e.settled(release("message", "two", "seed", "b"))
			if records := e.records(); records != "1 superseded, 2 superseded, 3 deployed" {
				t.Errorf("records %s", records)
			}
		})
	}
}
