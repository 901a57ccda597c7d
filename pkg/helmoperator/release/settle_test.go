package release

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// settlingSecret is a Secret whose password is random unless lookup finds it. The two cases differ in their text, and each include
// of the template has another password.
const settlingSecret = `
-- templates/%[1]s.yaml --
apiVersion: v1
kind: Secret
metadata: {name: %[1]s}
stringData: {user: {{ .Values.user | quote }}}
data:
{{- $old := lookup "v1" "Secret" .Release.Namespace "%[1]s" }}
{{- if $old }}
  p: {{ $old.data.p }}
{{- else }}
  p: {{ randAlphaNum 12 | b64enc | quote }}
{{- end }}
`

const settlingConfig = `
-- values.yaml --
user: admin
v: 1
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
`

// settlingStatefulSet hashes templates, and has a random value that lookup finds in it.
const settlingStatefulSet = `
-- templates/w.yaml --
{{- $old := lookup "apps/v1" "StatefulSet" .Release.Namespace "w" }}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: w
  annotations:
    id: {{ if $old }}{{ index $old.metadata.annotations "id" }}{{ else }}{{ uuidv4 }}{{ end }}
spec:
  serviceName: w
  selector: {matchLabels: {app: w}}
  template:
    metadata:
      labels: {app: w}
      annotations:
        %s
    spec:
      containers: [{name: w, image: example.com/w:1}]
`

func settlingSum(name string) string {
	return fmt.Sprintf(`sum/%[1]s: {{ include (print $.Template.BasePath "/%[1]s.yaml") . | sha256sum }}`, name)
}

// podAnnotations returns the annotations of the pods.
func (e *env) podAnnotations() string {
	e.Helper()
	return e.field("apps/v1 StatefulSet w", "spec", "template", "metadata", "annotations")
}

// TestHashesSettle hashes Secrets that are random in the installation and found by lookup afterwards. The hashes of the first
// revision already correspond to what lookup finds, so that pods are not replaced after the installation.
func TestHashesSettle(t *testing.T) {
	t.Parallel()
	one, two := fmt.Sprintf(settlingSecret, "s"), fmt.Sprintf(settlingSecret, "z")
	plain := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: plain}\nstringData: {p: {{ randAlphaNum 12 }}}\n"
	for name, files := range map[string]string{
		"one":   one + fmt.Sprintf(settlingStatefulSet, settlingSum("s")),
		"mixed": one + plain + fmt.Sprintf(settlingStatefulSet, settlingSum("s")),
		"two":   one + two + fmt.Sprintf(settlingStatefulSet, settlingSum("s")+"\n        "+settlingSum("z")),
	} {
		for _, mode := range []string{"client", "server"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				e := newEnv(t)
				chart := e.chart(settlingConfig + files)
				release := func(values map[string]any) *Release {
					return e.release(chart, values, func(o *Options) { o.DryRun = mode })
				}
				e.install(release(nil))
				installed, password := e.podAnnotations(), e.field("v1 Secret s", "data", "p")
				e.settled(release(nil))

				e.upgrade(release(values("v", "2")))
				e.settled(release(values("v", "2")))
				if after := e.podAnnotations(); after != installed {
					t.Errorf("a value that is not hashed: %s, was %s", after, installed)
				}

				user := map[string]any{"v": "2", "user": "root"}
				e.upgrade(release(user))
				e.settled(release(user))
				changed := e.podAnnotations()
				if changed == installed {
					t.Errorf("a value that is hashed: %s", changed)
				}
				if after := e.field("v1 Secret s", "data", "p"); after != password {
					t.Errorf("password %s, was %s", after, password)
				}

				e.update("v1 Secret s", func(o *unstructured.Unstructured) {
					_ = unstructured.SetNestedField(o.Object, "b3RoZXI=", "data", "p")
				})
				e.upgrade(release(user))
				e.settled(release(user))
				if after := e.podAnnotations(); after == changed || e.field("v1 Secret s", "data", "p") != "b3RoZXI=" {
					t.Errorf("a changed Secret: %s, was %s", after, changed)
				}
				// A deleted Secret is repaired, and is no reason to replace pods.
				after := e.podAnnotations()
				e.remove("v1 Secret s")
				again := release(user)
				e.plan(again, None)
				e.repair(again)
				if e.field("v1 Secret s", "data", "p") != "b3RoZXI=" || e.podAnnotations() != after {
					t.Errorf("a deleted Secret: %s, was %s", e.podAnnotations(), after)
				}
				if records := e.records(); records != "1 superseded, 2 superseded, 3 superseded, 4 deployed" {
					t.Errorf("revisions: %s", records)
				}
			})
		}
	}
}

// TestAddedHashSettles upgrades to a chart with another Secret, whose password is random and then found by lookup, and to one that
// renders what lookup finds differently.
func TestAddedHashSettles(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	files := settlingConfig + fmt.Sprintf(settlingSecret, "s")
	set := fmt.Sprintf(settlingStatefulSet, settlingSum("s"))
	e.install(e.release(e.chart(files+set), nil))
	installed := e.podAnnotations()

	added := fmt.Sprintf(settlingSecret, "z")
	two := e.chart(files + added + fmt.Sprintf(settlingStatefulSet, settlingSum("s")+"\n        "+settlingSum("z")))
	e.upgrade(e.release(two, nil))
	e.settled(e.release(two, nil))
	password := e.field("v1 Secret z", "data", "p")

	changed := e.chart(strings.ReplaceAll(files, "p: {{ $old.data.p }}", "p: {{ $old.data.p | quote }}") + set)
	e.upgrade(e.release(changed, nil))
	e.settled(e.release(changed, nil))
	if after := e.podAnnotations(); after == installed {
		t.Errorf("a changed chart: %s", after)
	}
	e.mustNot("v1 Secret z")
	if password == e.field("v1 Secret s", "data", "p") {
		t.Errorf("the Secrets have the same password %s", password)
	}
}

// TestFirstRenderingIsDeployed has fields that say whether the objects of the release exist, which are not random: the installation
// must not deploy them as if they did.
func TestFirstRenderingIsDeployed(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(fmt.Sprintf(settlingSecret, "s") + `
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  bootstrap: {{ empty (lookup "v1" "Secret" .Release.Namespace "s") | quote }}
  {{- if not (lookup "v1" "Secret" .Release.Namespace "s") }}
  token: {{ randAlphaNum 8 }}
  {{- end }}
`)
	e.install(e.release(chart, nil))
	if bootstrap := e.field("v1 ConfigMap c", "data", "bootstrap"); bootstrap != "true" || e.field("v1 ConfigMap c", "data", "token") == "" {
		t.Errorf("bootstrap: %s", bootstrap)
	}
}

// TestSettleFails has templates that fail if the objects of the release exist. They are deployed as rendered.
func TestSettleFails(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(settlingConfig + fmt.Sprintf(settlingSecret, "s") + `
-- templates/f.yaml --
{{ if and .Release.IsInstall (lookup "v1" "Secret" .Release.Namespace "s") }}{{ fail "the Secret exists" }}{{ end }}
`)
	e.install(e.release(chart, nil))
	if e.field("v1 Secret s", "data", "p") == "" {
		t.Error("there is no password")
	}
}
