package local

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMainPackage(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"cmd/main.go": "./cmd", "main.go": ".", "cmd/manager/main.go": "./cmd/manager", "other.go": ""} {
		dir := t.TempDir()
		write(t, dir, file, "package main")
		got, err := MainPackage(dir)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: got %q, %v", file, got, err)
		}
	}
}

func TestWebhookPort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"webhook.Options{TLSOpts: o}":                               9443,
		"ctrl.Options{Port: 9876, LeaderElection: true}":            9876,
		"webhook.Options{\n\tPort:    19443,\n\tHost: host}":        19443,
		"webhook.Options{Port: port}":                               9443,
		`var _ = flag.Int("webhook-port", 9999, "")`:                9999,
		`var _ = flag.Int("webhook-port", webhook.DefaultPort, "")`: 9443,
	} {
		dir := t.TempDir()
		write(t, dir, "main.go", "package main\n"+text)
		if got := webhookPort(dir, "."); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

func TestManagerEnv(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if found, err := (projectManifests{root: dir}).manager(); err != nil || managerEnv(found, "n") != nil {
		t.Errorf("without config/manager: %v, %v", found, err)
	}
	write(t, dir, "config/manager/manager.yaml", `apiVersion: v1
kind: Namespace
metadata: {name: system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: m}
spec:
  template:
    spec:
      containers:
      - name: proxy
        env: [{name: PROXY, value: "1"}]
      - name: manager
        env:
        - {name: IMAGE, value: "a:1"}
        - {name: EMPTY, value: ""}
        - {name: ANSIBLE_GATHERING, value: explicit}
        - {name: ANSIBLE_LOCAL_TEMP, value: /tmp/.ansible/tmp}
        - {name: ANSIBLE_REMOTE_TEMP, value: /tmp/.ansible/tmp}
        - {name: ANSIBLE_LIBRARY, value: ./library}
        - {name: XDG_CONFIG_HOME, value: /tmp/.config}
        - {name: WEBHOOK_SECRET, value: webhook-server-cert}
        - {name: PATH, value: /evil}
        - {name: LD_PRELOAD, value: evil.so}
        - {name: PYTHONPATH, value: evil}
        - name: WATCH_NAMESPACE
          valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
        - name: GOMEMLIMIT
          valueFrom: {resourceFieldRef: {resource: limits.memory}}
`)
	found, err := projectManifests{root: dir}.manager()
	env := managerEnv(found, "team")
	if want := []string{"IMAGE=a:1", "EMPTY=", "ANSIBLE_GATHERING=explicit", "WATCH_NAMESPACE=team"}; err != nil || !slices.Equal(env, want) {
		t.Errorf("got %q, %v, want %q", env, err, want)
	}
	write(t, dir, "config/manager/manager.yaml", "a: {")
	if _, err := (projectManifests{root: dir}).manager(); err == nil || !strings.Contains(err.Error(), "config/manager/manager.yaml") || strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
}

const crdText = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.example.com}
spec: {group: example.com}
`

func definitions(dir string, e *endpoint) ([]*kube.Object, error) {
	found, err := projectManifests{root: dir}.crds()
	return converted(found, e), err
}

// TestCRDs checks what becomes of CRDs: from a kustomization or from files, with and without conversion.
func TestCRDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if found, err := definitions(dir, nil); err != nil || len(found) != 0 {
		t.Errorf("without config: %v, %v", found, err)
	}
	write(t, dir, "config/crd/bases/a.yaml", crdText)
	if found, err := definitions(dir, nil); err != nil || len(found) != 1 || found[0].GetName() != "as.example.com" {
		t.Errorf("from bases: %v, %v", found, err)
	}
	write(t, dir, "config/crd/patch.yaml", strings.Replace(crdText, "spec: {group: example.com}", "spec:", 1)+`  conversion:
    strategy: Webhook
    webhook:
      clientConfig: {service: {name: s, namespace: n, path: /convert}}
      conversionReviewVersions: [v1]
`)
	write(t, dir, "config/crd/kustomization.yaml", "resources: [bases/a.yaml]\npatches: [{path: patch.yaml}]\n")
	found, err := definitions(dir, &endpoint{port: 1234, ca: []byte("CA")})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	webhook := kube.ValueAt(found[0].Object, "spec", "conversion", "webhook")
	if kube.ValueAt(webhook, "clientConfig", "url") != "https://127.0.0.1:1234/convert" || kube.ValueAt(webhook, "clientConfig", "caBundle") != "Q0E=" ||
		kube.ValueAt(webhook, "clientConfig", "service") != nil || len(kube.ListAt(webhook, "conversionReviewVersions")) != 1 {
		t.Errorf("conversion: %v", webhook)
	}
	found, err = definitions(dir, nil)
	if err != nil || kube.ValueAt(found[0].Object, "spec", "conversion", "strategy") != "None" || kube.ValueAt(found[0].Object, "spec", "conversion", "webhook") != nil {
		t.Errorf("without webhooks: %v, %v", found, err)
	}
	write(t, dir, "config/crd/kustomization.yaml", "resources: [bases/b.yaml]\n")
	if _, err := definitions(dir, nil); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("a broken kustomization: %v", err)
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := &endpoint{port: 1234, ca: []byte("CA")}
	if found, err := (projectManifests{root: dir}).webhooks(); err != nil || found != nil {
		t.Errorf("without webhooks: %v, %v", found, err)
	}
	write(t, dir, project.WebhookManifests, `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating-webhook-configuration}
webhooks:
- name: m.example.com
  clientConfig: {service: {name: webhook-service, namespace: system, path: /mutate}}
`)
	found, err := projectManifests{root: dir}.webhooks()
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	found = configured(found, "p-run-local-", e)
	config := kube.ValueAt(kube.ListAt(found[0].Object, "webhooks")[0], "clientConfig")
	if found[0].GetName() != "p-run-local-mutating-webhook-configuration" || kube.ValueAt(config, "url") != "https://127.0.0.1:1234/mutate" || kube.ValueAt(config, "service") != nil {
		t.Errorf("got %s %v", found[0].GetName(), config)
	}
}

// TestSamples checks that samples are found without a kustomization, and that a spec that is left empty is one.
func TestSamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "config/samples/a.yaml", "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec:\n  # nothing yet\n")
	write(t, dir, "config/samples/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
	found, err := projectManifests{root: dir}.samples()
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	if spec, ok := found[0].Object["spec"].(map[string]any); !ok || len(spec) != 0 {
		t.Errorf("spec: %v", found[0].Object["spec"])
	}
	if _, ok := found[1].Object["spec"]; ok {
		t.Error("an object without spec got one")
	}
}

// TestWatch checks which changes are noticed and which are not.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "cmd/main.go", "package main")
	write(t, dir, "cmd/old.go", "package main")
	write(t, dir, "go.mod", "module m")
	w, err := NewWatch(dir, func(name string) bool { return IsSource(name) && name != "config/rbac/role.yaml" })
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cmd/main_test.go", "api/zz_generated.deepcopy.go", "config/rbac/role.yaml", ".git/a.go", "bin/a.go", "README.md", "config/.a.yaml.swp", "env/pyvenv.cfg", "env/a.go"} {
		write(t, dir, name, "text")
	}
	// The same content again is no change.
	write(t, dir, "cmd/main.go", "package main")
	if changed := w.scan(); len(changed) > 0 {
		t.Errorf("noticed %v", changed)
	}
	write(t, dir, "cmd/main.go", "package other")
	write(t, dir, "internal/new.go", "package internal")
	write(t, dir, "config/samples/a.yaml", "a: b")
	write(t, dir, "go.mod", "module n")
	if err := os.Remove(filepath.Join(dir, "cmd", "old.go")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	changed, err := w.Next(ctx)
	if want := []string{"cmd/main.go", "cmd/old.go", "config/samples/a.yaml", "go.mod", "internal/new.go"}; err != nil || !slices.Equal(changed, want) {
		t.Errorf("got %v, %v, want %v", changed, err, want)
	}
	cancel()
	if changed, err := w.Next(ctx); err == nil {
		t.Errorf("noticed %v where nothing has changed", changed)
	}
}

func TestIsAnsibleSource(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"roles/a/tasks/main.yml": true, "roles/a/files/run.sh": true, "roles/a/templates/a.conf": true, "playbooks/a.yml": true, "playbook.yml": true,
		"watches.yaml": true, "config/samples/a.yaml": true, "library/module.py": true, "templates/a.j2": true, "requirements.yml": true,
		"roles/a/README.md": false, "roles/.placeholder": false, "roles/a/tasks/.main.yml.swp": false, "library/module.pyc": false, "playbooks/a.retry": false,
		"molecule/default/molecule.yml": false, "bundle/manifests/a.yaml": false, "config/testing/kustomization.yaml": false, "Makefile": false, "PROJECT": false,
	} {
		if got := IsAnsibleSource(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func startGo(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), variables...), out, errOut
	return c.Run()
}

// TestManagerIsKept expects a new run to link the manager only if the code has changed.
func TestManagerIsKept(t *testing.T) {
	t.Parallel()
	root, kept := t.TempDir(), filepath.Join(t.TempDir(), "manager")
	write(t, root, "go.mod", "module example.com/kept\n\ngo 1.24\n")
	write(t, root, "cmd/main.go", "package main\n\nfunc main() { println(\"one\") }\n")
	build := func() os.FileInfo {
		t.Helper()
		r := &runner{o: Options{Root: root, Keep: kept, Environ: os.Environ(), Go: gotool.Go{Progress: io.Discard, Start: startGo}}, workspace: &tempdir.Dir{Path: t.TempDir()}}
		if err := r.build(t.Context()); err != nil {
			t.Fatal(err)
		}
		binary, err := os.ReadFile(r.binary)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(kept)
		if err != nil || !bytes.Equal(content, binary) {
			t.Fatalf("the stored file differs from the manager: %v", err)
		}
		info, err := os.Stat(kept)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first, second := build(), build()
	if !os.SameFile(first, second) {
		t.Error("the manager was linked again without a change")
	}
	write(t, root, "cmd/main.go", "package main\n\nfunc main() { println(\"two\") }\n")
	if third := build(); os.SameFile(second, third) {
		t.Error("the manager was not linked again after a change")
	}
}

// TestPatient gives all webhooks time for breakpoints.
func TestPatient(t *testing.T) {
	t.Parallel()
	o := &kube.Object{Object: map[string]any{"webhooks": []any{map[string]any{"name": "a"}, map[string]any{"name": "b", "timeoutSeconds": int64(1)}}}}
	for _, webhook := range kube.ListAt(patient([]*kube.Object{o})[0].Object, "webhooks") {
		if got := kube.IntAt(webhook, "timeoutSeconds"); got != 30 {
			t.Errorf("%v: %d", webhook, got)
		}
	}
}

// TestExports prints variables for the shells of each system.
func TestExports(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{
		"linux":   "  export KUBECONFIG=\"$PWD/.operon/kubeconfig\"\n  export ENABLE_WEBHOOKS=false",
		"windows": "  $env:KUBECONFIG = \"$PWD\\.operon\\kubeconfig\"\n  $env:ENABLE_WEBHOOKS = \"false\"",
	} {
		if got := strings.Join(exports(system, ".operon/kubeconfig", []string{"ENABLE_WEBHOOKS=false"}), "\n"); got != want {
			t.Errorf("%s:\n%s", system, got)
		}
	}
}
