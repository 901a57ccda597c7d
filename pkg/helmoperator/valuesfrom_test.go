package helmoperator_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

// credentials is a template with all that tests get from sources.
const credentials = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-config}
data:
  text: {{ .Values.text | quote }}
  password: {{ .Values.auth.password | quote }}
`

// source creates or replaces a Secret or ConfigMap.
func (e *env) source(kind, name string, data map[string]string) {
	e.Helper()
	field := map[string]string{"Secret": "stringData", "ConfigMap": "data"}[kind]
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	obj.SetNamespace(e.namespace)
	obj.SetName(name)
	content := map[string]any{}
	for key, text := range data {
		content[key] = text
	}
	obj.Object[field] = content
	err := e.client.Create(e.Context(), obj)
	if err != nil {
		err = e.client.Update(e.Context(), obj)
	}
	if err != nil {
		e.Fatal(err)
	}
}

// waitConfig waits until the ConfigMap of release one has a text and a password.
func (e *env) waitConfig(wantText, wantPassword string) {
	e.Helper()
	e.eventually("the release has the values", func() error {
		config, err := e.get("v1", "ConfigMap", "one-config")
		if err != nil {
			return err
		}
		if password, _, _ := unstructured.NestedString(config.Object, "data", "password"); password != wantPassword || text(config) != wantText {
			return fmt.Errorf("data %v", config.Object["data"])
		}
		return nil
	})
}

// TestDocumentedValuesFrom executes the example of valuesFrom in docs/helm.md: a release waits for a source, follows its changes, and is
// repaired while it is missing again. At rest, no source is read.
func TestDocumentedValuesFrom(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var reads atomic.Int32
	c := &transport{intercept: func(r *http.Request) int {
		if r.Method == http.MethodGet && (strings.HasSuffix(r.URL.Path, "/secrets/db") || strings.HasSuffix(r.URL.Path, "/configmaps/web-defaults")) {
			reads.Add(1)
		}
		return 0
	}}
	e.startDocumented(c, "valuesFrom:", "{text: chart, auth: {password: ''}}", map[string]string{"credentials.yaml": credentials})
	e.create("one", map[string]any{"credentialsSecret": "db"})
	obj := e.waitFor("one", helmoperator.ConditionReady, "False/ValuesMissing")
	e.waitFor("one", helmoperator.ConditionIrreconcilable, "True/ValuesMissing")
	if _, message := conditionOf(obj, helmoperator.ConditionReady); message != "valuesFrom: Secret "+e.namespace+"/db does not exist" {
		t.Errorf("message %q", message)
	}
	e.source("Secret", "db", map[string]string{"password": "first-password"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitFor("one", helmoperator.ConditionIrreconcilable, "absent")
	e.waitConfig("chart", "first-password")
	e.source("ConfigMap", "web-defaults", map[string]string{"values.yaml": "text: default\nauth: {password: low}\n"})
	e.waitConfig("default", "first-password")
	e.source("Secret", "db", map[string]string{"password": "second-password"})
	e.waitConfig("default", "second-password")
	e.patch(obj, "spec: {text: spec}")
	e.waitConfig("spec", "second-password")
	// The annotation makes a pass follow the other without a pause, and none of them reads a source.
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	before := reads.Load()
	e.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/reconcile-period: 10ms}}")
	requests := e.passes(c, 20)
	if got := reads.Load(); got > before+2 { // the last event of a watch can be late
		t.Errorf("%d reads of sources in 20 passes", got-before)
	}
	if requests > 30 {
		t.Errorf("%d requests in 20 passes", requests)
	}
	e.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/reconcile-period: null}}")
	e.source("Secret", "db", map[string]string{"other": "x"})
	obj = e.waitFor("one", helmoperator.ConditionReady, "False/ValuesMissing")
	if _, message := conditionOf(obj, helmoperator.ConditionReady); message != "valuesFrom: Secret "+e.namespace+"/db has no key password" {
		t.Errorf("message %q", message)
	}
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err == nil {
		err = e.client.Delete(e.Context(), config)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.waitConfig("spec", "second-password")
	if obj, _ = e.resource("one"); obj != nil {
		if got, _ := conditionOf(obj, helmoperator.ConditionReady); got != "False/ValuesMissing" {
			t.Errorf("Ready is %s", got)
		}
	}
	e.patch(obj, "spec: {credentialsSecret: null}")
	e.eventually("the name is missing", func() error {
		obj, err := e.resource("one")
		if _, message := conditionOf(obj, helmoperator.ConditionReady); err == nil && message != "valuesFrom: spec.credentialsSecret, the name of a Secret, is not set" {
			err = fmt.Errorf("message %q", message)
		}
		return err
	})
	e.patch(obj, "spec: {credentialsSecret: a/../../kube-system/secrets/x}")
	e.waitFor("one", helmoperator.ConditionReady, "False/ValuesInvalid")
	e.delete("one")
}

// passes returns the number of requests in a number of passes without changes, which read the records of the release once each.
func (e *env) passes(c *transport, n int32) int32 {
	e.Helper()
	var passes, requests atomic.Int32
	before := c.intercept
	c.intercept = func(r *http.Request) int {
		if !r.URL.Query().Has("watch") {
			requests.Add(1)
			if r.URL.Query().Get("labelSelector") == "owner=helm,name=one" {
				passes.Add(1)
			}
		}
		return before(r)
	}
	e.eventually("passes", func() error {
		if got := passes.Load(); got < n {
			return fmt.Errorf("%d passes", got)
		}
		return nil
	})
	return requests.Load()
}

// TestValuesFromFailedUpgrade changes a Secret after a failed upgrade, which nothing else would try again, and during the wait for a hook.
func TestValuesFromFailedUpgrade(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	e.source("Secret", "flags", map[string]string{"fail": "", "values.yaml": "text: a"})
	hook := strings.Replace(failingHook, "activeDeadlineSeconds: 1", "activeDeadlineSeconds: {{ .Values.seconds }}", 1)
	e.startCounting(c, helmoperator.WithChart(chart("app", "{text: x, fail: '', seconds: 1}", map[string]string{"configmap.yaml": configMap, "job.yaml": hook})),
		helmoperator.WithValuesFrom(valuesfrom.Source{Kind: "Secret", Name: "flags"},
			valuesfrom.Source{Kind: "Secret", Name: "flags", Key: "fail", Target: "fail"}))
	e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.source("Secret", "flags", map[string]string{"fail": "password-of-flags", "values.yaml": "text: b"})
	failed := failedRelease(e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/UpgradeError"))
	if !strings.HasPrefix(fmt.Sprint(failed["valuesDigest"]), "hmac-sha256:") || strings.Contains(fmt.Sprint(failed), "password-of") {
		t.Errorf("failed release %v", failed)
	}
	// A hook that waits for hours.
	e.source("Secret", "flags", map[string]string{"fail": "again", "values.yaml": "{text: c, seconds: 10000}"})
	e.waitFor("one", helmoperator.ConditionReady, "False/WaitingForHook")
	e.source("Secret", "flags", map[string]string{"fail": "", "values.yaml": "text: d"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.waitFor("one", helmoperator.ConditionReleaseFailed, "absent")
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "d" {
		t.Errorf("%v %v", config.Object["data"], err)
	}
}

// TestValuesFromSecrets checks that no content of sources is in the status, in events or in logs, whatever quotes it.
func TestValuesFromSecrets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	secrets := map[string]string{
		"special": `p'ä"w$\d{{ x }}: #&`, "lines": "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\nc2Vjb25kIGxpbmU=\n-----END KEY-----\n",
		"binary": base64.StdEncoding.EncodeToString([]byte{0xff, 0xfe, 0, 1, 2, 3, 4, 5, 6, 7}), "yaml": "", "number": "",
	}
	e.source("Secret", "secrets", map[string]string{
		"special": secrets["special"], "lines": secrets["lines"], "binary": secrets["binary"], "short": "ab",
		"values.yaml": "{yaml: {list: [hidden-in-yaml]}, number: 918273645, mode: refuse}",
	})
	e.source("ConfigMap", "public", map[string]string{"host": "internal-host.example.com"})
	const quoted = `{{ .Values.special }} {{ .Values.lines | b64enc }} {{ .Values.lines }} {{ .Values.binary }} {{ .Values.short }} {{ .Values.yaml.list | toJson }} {{ .Values.number | int64 }} {{ .Values.host }}`
	var sources []valuesfrom.Source
	for _, key := range []string{"special", "lines", "binary", "short"} {
		sources = append(sources, valuesfrom.Source{Kind: "Secret", Name: "secrets", Key: key, Target: key})
	}
	sources = append(sources, valuesfrom.Source{Kind: "Secret", Name: "secrets"},
		valuesfrom.Source{Kind: "ConfigMap", Name: "public", Key: "host", Target: "host"})
	e.start(helmoperator.WithChart(chart("app", "{text: a}", map[string]string{
		"configmap.yaml": configMap, "NOTES.txt": "notes " + quoted,
		"refused.yaml": `{{ if eq .Values.mode "refuse" }}
apiVersion: v1
kind: Service
metadata: {name: refused}
spec: {type: ExternalName, externalName: {{ .Values.special | quote }}, ports: [{port: 80, protocol: {{ .Values.lines | quote }}, name: {{ .Values.binary | quote }}}]}
{{ end }}`,
		"fail.yaml": `{{ if eq .Values.mode "fail" }}{{ fail (printf "template %s %q %s %s" .Values.special .Values.lines (toJson .Values.yaml) .Values.host) }}{{ end }}`,
	})), helmoperator.WithValuesFrom(sources...), helmoperator.WithStatusManifest(1<<20))
	e.create("one", nil)
	check := func(what string, obj *unstructured.Unstructured) {
		t.Helper()
		var events corev1.EventList
		if err := e.client.List(e.Context(), &events, client.InNamespace(e.namespace)); err != nil {
			t.Fatal(err)
		}
		messages := ""
		for _, event := range events.Items {
			messages += event.Message + "\n"
		}
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		for place, text := range map[string]string{"status": fmt.Sprint(conditions, obj.Object["status"]), "events": messages, "log": e.log.String()} {
			for _, secret := range []string{
				secrets["special"], `\d{{ x`, "MIIEpAIBAAKCAQEA", "c2Vjb25kIGxpbmU", secrets["binary"], "hidden-in-yaml", "918273645", "internal-host",
				base64.StdEncoding.EncodeToString([]byte(secrets["lines"])),
			} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: the %s contains %s:\n%s", what, place, secret, text)
				}
			}
		}
	}
	obj := e.waitFor("one", helmoperator.ConditionReleaseFailed, "True/InstallError")
	check("refused", obj)
	e.source("Secret", "secrets", map[string]string{
		"special": secrets["special"], "lines": secrets["lines"], "binary": secrets["binary"], "short": "ab",
		"values.yaml": "{yaml: {list: [hidden-in-yaml]}, number: 918273645, mode: fail}",
	})
	e.eventually("the template fails", func() (err error) {
		obj, err = e.resource("one")
		if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); err == nil && !strings.Contains(message, "template [redacted]") {
			err = fmt.Errorf("message %q", message)
		}
		return err
	})
	check("failed", obj)
	e.source("Secret", "secrets", map[string]string{"values.yaml": "[hidden-in-yaml: *x"})
	obj = e.waitFor("one", helmoperator.ConditionReady, "False/ValuesInvalid")
	check("invalid", obj)
	e.source("Secret", "secrets", map[string]string{
		"special": secrets["special"], "lines": secrets["lines"], "binary": secrets["binary"], "short": "ab",
		"values.yaml": "{yaml: {list: [hidden-in-yaml]}, number: 918273645, mode: work}",
	})
	obj = e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if _, message := conditionOf(obj, helmoperator.ConditionDeployed); !strings.Contains(message, "notes [redacted] [redacted] [redacted]") || !strings.Contains(message, " ab ") {
		t.Errorf("notes %q", message)
	}
	check("deployed", obj)
}
