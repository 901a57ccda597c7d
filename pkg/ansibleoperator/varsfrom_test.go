package ansibleoperator_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/ansibleoperator"
	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/testdata/documented"
)

// source creates a Secret or ConfigMap, or replaces its data.
func (e *env) source(kind, name string, data map[string]string) {
	e.Helper()
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": e.namespace, "name": name},
		map[string]string{"Secret": "stringData", "ConfigMap": "data"}[kind]: data,
	})
	if err != nil {
		e.Fatal(err)
	}
	if _, err := e.get("v1", kind, name); err != nil {
		e.create(string(text))
		return
	}
	obj := &unstructured.Unstructured{}
	if err = obj.UnmarshalJSON(text); err == nil {
		err = e.client.Update(e.Context(), obj)
	}
	if err != nil {
		e.Fatal(err)
	}
}

// TestDocumentedVarsFrom executes the example of varsFrom in docs/ansible.md: runs wait for a source and follow its changes, also while
// they would wait for another try.
func TestDocumentedVarsFrom(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "Memcached")
	e.options = append(e.options, ansibleoperator.WithBackoff(24*time.Hour))
	e.role("memcached", `- ansible.builtin.shell: |
    cat > {{ dir }}/{{ ansible_operator_meta.name }}.text
    echo run >> {{ dir }}/{{ ansible_operator_meta.name }}.runs
  args: {stdin: "{{ sasl_password }} {{ memory | default(0) }}", stdin_add_newline: false}
- ansible.builtin.fail: {msg: "refused {{ sasl_password }}"}
  when: sasl_password == 'wrong-password'
`)
	e.start(strings.NewReplacer("v1alpha1", "v1", "cache.example.com", "GROUP", "  role: memcached\n",
		"  role: memcached\n  vars: {dir: "+e.dir+"}\n  finalizer: {name: example.com/f, vars: {sasl_password: none}}\n").Replace(documented.Example(t, "ansible.md", "", "varsFrom:")))
	one := e.waitReady(e.resource("Memcached", "one", "spec: {credentialsSecret: credentials}"), "False/VarsMissing")
	if got := conditionOf(one, "Failure")["message"]; got != "varsFrom: Secret "+e.namespace+"/credentials does not exist" {
		t.Errorf("message %q", got)
	}
	ran := func(runs int, want string) {
		t.Helper()
		e.eventually("a run with "+want, func() error {
			got, err := os.ReadFile(filepath.Join(e.dir, "one.text"))
			if err == nil && string(got) != want {
				err = fmt.Errorf("got %q", got)
			}
			if err != nil {
				return err
			}
			return e.checkRuns("one", runs)
		})
	}
	e.source("Secret", "credentials", map[string]string{"password": "wrong-password"})
	one = e.waitReady(one, "False/Failed")
	if got := conditionOf(one, "Ready")["message"]; got != "refused [redacted]" {
		t.Errorf("message %q", got)
	}
	const special = `p'ä"w$\d{{ 7*7 }}: #&`
	e.source("Secret", "credentials", map[string]string{"password": special})
	ran(2, special+" 0")
	e.waitReady(one, "True/Successful")
	e.source("ConfigMap", "memcached-defaults", map[string]string{"vars.yaml": "{memory: 64, sasl_password: low}"})
	ran(3, special+" 64")
	e.patch(one, "spec: {memory: 128}")
	ran(4, special+" 128")
	e.source("ConfigMap", "memcached-defaults", map[string]string{"vars.yaml": "ansible_python_interpreter: /bin/hidden"})
	one = e.waitReady(one, "False/VarsInvalid")
	if got := fmt.Sprint(conditionOf(one, "Ready")["message"]); !strings.Contains(got, "reserved for Ansible") || strings.Contains(got, "hidden") {
		t.Errorf("message %q", got)
	}
	e.source("ConfigMap", "memcached-defaults", map[string]string{"vars.yaml": "[hidden"})
	e.eventually("the mapping is not valid", func() error {
		one, err := e.read(one)
		if got := conditionOf(one, "Ready")["message"]; err == nil && got != "varsFrom: the key vars.yaml of ConfigMap "+e.namespace+"/memcached-defaults must be a mapping in YAML" {
			err = fmt.Errorf("message %q", got)
		}
		return err
	})
	if secret, err := e.get("v1", "Secret", "credentials"); err != nil {
		t.Fatal(err)
	} else {
		e.delete(secret)
	}
	e.delete(one) // the finalizer doesn't need the sources
	ran(5, "none 128")
}

// TestVarsFromSecrets checks that no content of sources is in the status, in the log, in the output or in what is kept of failed runs.
func TestVarsFromSecrets(t *testing.T) {
	t.Parallel()
	e := newEnv(t, "App")
	const special, lines = `p'ä"w$\d{{ x }}: #&`, "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\nc2Vjb25kIGxpbmU=\n-----END KEY-----\n"
	binary := base64.StdEncoding.EncodeToString([]byte{0xff, 0xfe, 0, 1, 2, 3, 4, 5, 6, 7})
	e.source("Secret", "secrets", map[string]string{
		"special": special, "lines": lines, "binary": binary, "short": "ab", "vars.yaml": "{nested: {list: [hidden-in-yaml]}, number: 918273645}",
	})
	e.source("ConfigMap", "public", map[string]string{"host": "internal-host.example.com"})
	const all = "{{ special }} {{ lines }} {{ lines | b64encode }} {{ binary }} {{ short }} {{ nested | to_json }} {{ number }} {{ host }}"
	e.role("app", `- ansible.builtin.debug: {msg: "`+all+`"}
- ansible.builtin.debug: {var: nested}
- ansible.builtin.command: echo {{ special | quote }} {{ lines | quote }} {{ binary }} {{ nested | to_json | quote }}
- {name: "task {{ special }}", ansible.builtin.fail: {msg: "refused `+all+`"}}
`)
	var output strings.Builder
	entry := "- {version: v1, group: GROUP, kind: App, role: app, varsFrom: [{kind: Secret, name: secrets}, {kind: ConfigMap, name: public, varsKey: host, targetVar: host}"
	for _, key := range []string{"special", "lines", "binary", "short"} {
		entry += ", {kind: Secret, name: secrets, varsKey: " + key + ", targetVar: " + key + "}"
	}
	stop := e.start(entry+"]}\n", func(s *ansibleoperator.Settings, _ *manager.Options) {
		s.LogEvents, s.Output = runner.Everything, &output
	})
	app := e.waitReady(e.resource("App", "one", "spec: {}"), "False/Failed")
	stop()
	places := map[string]string{"log": e.log.String(), "output": output.String(), "status": fmt.Sprint(app.Object["status"])}
	files := 0
	err := filepath.WalkDir(e.runs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		places[path] = string(data)
		files++
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files of the failed run: %v", files, err)
	}
	for place, text := range places {
		for _, secret := range []string{special, `\d{{`, "MIIEpAIBAAKCAQEA", "c2Vjb25kIGxpbmU", binary, "hidden-in-yaml", "918273645", "internal-host",
			base64.StdEncoding.EncodeToString([]byte(lines))} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s contains %s: %s", place, secret, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
	if got := fmt.Sprint(conditionOf(app, "Failure")["message"]); !strings.HasPrefix(got, "refused [redacted] ") || !strings.Contains(got, " ab ") {
		t.Errorf("message %q", got)
	}
}
