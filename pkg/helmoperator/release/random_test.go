package release

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Each of these templates is rendered differently each time, or depends on the cluster. All settle after the installation, in both
// modes, and keep their content when another field is upgraded.
var randomTemplates = map[string]struct {
	template string
	// want is a nondeterministic field, "" if lookup makes the template deterministic.
	want string
}{
	"password": {`data: {p: {{ randAlphaNum 12 | b64enc | quote }}}`, "Secret/s data.p"},
	"plain":    {`stringData: {p: {{ randAscii 12 | quote }}, num: {{ randNumeric 5 | quote }}}`, "Secret/s data.num, Secret/s data.p"},
	"time":     {`stringData: {p: {{ now | date "2006" | quote }}, q: {{ date "15:04:05.000" "" | quote }}}`, "Secret/s data.p, Secret/s data.q"},
	"uuid":     {`stringData: {p: {{ uuidv4 | quote }}, q: {{ randInt 1 3 | quote }}, r: {{ shuffle "ab" }}}`, "Secret/s data.p, Secret/s data.q, Secret/s data.r"},
	"ca": {`{{ $ca := genCA "ca" 10 }}{{ $cert := genSignedCert "cn" nil (list "a" "b") 10 $ca }}
data: {ca: {{ $ca.Cert | b64enc }}, cert: {{ $cert.Cert | b64enc }}, key: {{ $cert.Key | b64enc }}}`, "Secret/s data.ca, Secret/s data.cert, Secret/s data.key"},
	"htpasswd": {`stringData: {p: {{ htpasswd "u" "p" | quote }}, q: {{ encryptAES "k" "text" | quote }}}`, "Secret/s data.p, Secret/s data.q"},
	"lookup": {`{{ $old := lookup "v1" "Secret" .Release.Namespace "s" }}
data: {p: {{ if $old }}{{ $old.data.p }}{{ else }}{{ randAlphaNum 12 | b64enc }}{{ end }}}`, ""},
	"hash of lookup": {`{{ $data := (lookup "v1" "Secret" .Release.Namespace "s").data }}
stringData: {p: {{ if $data }}{{ b64dec $data.p }}{{ else }}{{ randAlphaNum 12 }}{{ end }}}
data: {sum: {{ ($data | default dict).p | default (randAlphaNum 5) | sha256sum | b64enc }}}`, ""},
	"found": {`stringData: {p: {{ if lookup "v1" "ConfigMap" .Release.Namespace "present" }}there{{ else }}missing{{ end }}}`, ""},
	"checksum": {`{{ $p := randAlphaNum 12 }}
stringData: {p: {{ $p }}, sum: {{ sha256sum $p | quote }}}`, "Secret/s data.p, Secret/s data.sum"},
	"revision": {`stringData: {p: "{{ .Release.Revision }}{{ .Release.IsInstall }}"}`, ""},
}

func TestRandomTemplatesSettle(t *testing.T) {
	t.Parallel()
	for name, test := range randomTemplates {
		for _, mode := range []string{"client", "server"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				e := newEnv(t)
				e.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: present, namespace: " + e.namespace + "}")
				chart := e.chart(`
-- templates/s.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
` + test.template + `
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
`)
				release := func(v string) *Release {
					return e.release(chart, map[string]any{"v": v}, func(o *Options) { o.DryRun = mode })
				}
				e.install(release("1"))
				content := e.field("v1 Secret s", "data")
				for range 2 {
					plan := e.settled(release("1"))
					if got := strings.Join(plan.Nondeterministic, ", "); got != test.want {
						t.Errorf("nondeterministic: %s, want %s", got, test.want)
					}
				}
				e.upgrade(release("2"))
				if v := e.field("v1 ConfigMap c", "data", "v"); v != "2" {
					t.Errorf("v %s", v)
				}
				if after := e.field("v1 Secret s", "data"); after != content && name != "revision" {
					t.Errorf("secret changed: %s, was %s", after, content)
				}
				e.settled(release("2"))
				e.uninstall(nil)
			})
		}
	}
}

// TestTrailingNewlines has an object whose text ends with newlines that belong to it, beside a random one that upgrades keep.
func TestTrailingNewlines(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart("-- templates/c.yaml --\n" + `apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  v: {{ .Values.v | quote }}
  text: |+
    line

-- templates/s.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {p: {{ randAlphaNum 5 }}}
-- templates/z.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: z}
data:
  text: |+
    line


`)
	e.install(e.release(chart, values("v", "1")))
	e.settled(e.release(chart, values("v", "1")))
	e.upgrade(e.release(chart, values("v", "2")))
	e.settled(e.release(chart, values("v", "2")))
}

// TestRandomInputs changes what random fields are made of.
func TestRandomInputs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	files := `
-- values.yaml --
length: 8
port: 1
-- templates/s.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData:
  password: {{ randAlphaNum (int .Values.length) }}
  other: {{ randAlphaNum 9 }}
  config: "{{ randAlphaNum 3 }}:{{ .Values.port }}"
`
	chart := e.chart(files)
	e.install(e.release(chart, nil))
	data := func() map[string]string {
		values, _, _ := unstructured.NestedStringMap(e.must("v1 Secret s").Object, "data")
		return values
	}
	first := data()
	longer := e.release(chart, map[string]any{"length": int64(16)})
	if plan := e.plan(longer, Upgrade); plan.Reason != "differs: Secret/s data.password" {
		t.Errorf("reason: %s", plan.Reason)
	}
	e.upgrade(longer)
	second := data()
	if second["password"] == first["password"] || second["other"] != first["other"] || second["config"] != first["config"] {
		t.Errorf("%v, was %v", second, first)
	}
	e.settled(longer)
	port := e.release(chart, map[string]any{"length": int64(16), "port": int64(2)})
	e.upgrade(port)
	third := data()
	if third["config"] == second["config"] || third["password"] != second["password"] {
		t.Errorf("%v, was %v", third, second)
	}
	// A chart that adds a random field to a deployed object.
	more := e.release(e.chart(files+"  added: {{ randAlphaNum 5 }}\n"), port.options.Values)
	e.upgrade(more)
	if fourth := data(); fourth["added"] == "" || fourth["password"] != third["password"] {
		t.Errorf("%v, was %v", fourth, third)
	}
	e.settled(more)
}

// TestRandomNames deploys an object with a random name, which other objects refer to.
func TestRandomNames(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	chart := e.chart(`
-- templates/all.yaml --
{{ $name := printf "job-%s" (randAlphaNum 8 | lower) }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ $name }}}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: reference}
data: {name: {{ $name }}}
`)
	e.install(e.release(chart, map[string]any{"v": "1"}))
	name := e.field("v1 ConfigMap reference", "data", "name")
	plan := e.settled(e.release(chart, map[string]any{"v": "1"}))
	if got := strings.Join(plan.Nondeterministic, ", "); got != "ConfigMap/"+name+" metadata.name, ConfigMap/reference data.name" {
		t.Errorf("nondeterministic: %s", got)
	}
	e.upgrade(e.release(chart, map[string]any{"v": "2"}))
	if e.field("v1 ConfigMap reference", "data", "name") != name || e.field("v1 ConfigMap "+name, "data", "v") != "2" {
		t.Errorf("renamed from %s", name)
	}
	e.settled(e.release(chart, map[string]any{"v": "2"}))
}

// TestLookupHidesOwnObject has the pattern of charts that create a Secret only if there is none.
func TestLookupHidesOwnObject(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"client", "server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(`
-- templates/s.yaml --
{{- if not (lookup "v1" "Secret" .Release.Namespace "s") }}
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {p: {{ randAlphaNum 12 | b64enc }}}
{{- end }}
-- templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
`)
			release := func(v string) *Release {
				return e.release(chart, values("v", v), func(o *Options) { o.DryRun = mode })
			}
			e.install(release("1"))
			password := e.field("v1 Secret s", "data", "p")
			e.settled(release("1"))
			e.upgrade(release("2"))
			e.settled(release("2"))
			if after := e.field("v1 Secret s", "data", "p"); after != password {
				t.Errorf("password %s, was %s", after, password)
			}
			e.uninstall(nil)
			e.mustNot("v1 Secret s")
		})
	}
}

// TestLookupRequired has the pattern of charts that refuse to be upgraded unless lookup finds the password of the release. One
// object is left out by a value.
func TestLookupRequired(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"client", "server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			chart := e.chart(`
-- values.yaml --
extra: true
-- templates/s.yaml --
{{- $old := lookup "v1" "Secret" .Release.Namespace "s" }}
{{- if and .Release.IsUpgrade (not $old) }}{{ fail "the password is required in upgrades" }}{{ end }}
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {p: {{ if $old }}{{ $old.data.p }}{{ else }}{{ randAlphaNum 12 | b64enc }}{{ end }}}
-- templates/c.yaml --
{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {v: {{ .Values.v | quote }}}
{{- end }}
`)
			release := func(values map[string]any) *Release {
				return e.release(chart, values, func(o *Options) { o.DryRun = mode })
			}
			e.install(release(values("v", "1")))
			password := e.field("v1 Secret s", "data", "p")
			for _, v := range []string{"2", "3"} {
				e.upgrade(release(values("v", v)))
				e.settled(release(values("v", v)))
			}
			without := release(map[string]any{"extra": false})
			e.upgrade(without)
			e.mustNot("v1 ConfigMap c")
			e.settled(without)
			if after := e.field("v1 Secret s", "data", "p"); after != password {
				t.Errorf("password %s, was %s", after, password)
			}
		})
	}
}
