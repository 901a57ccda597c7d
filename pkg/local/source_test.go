package local

import (
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

const givenText = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: dashboard, namespace: s}
spec: {template: {spec: {containers: [{name: web, ports: [{name: hooks, containerPort: 1}]}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: m, namespace: s}
spec: {template: {spec: {containers: [{name: manager, ports: [{name: webhook-server, containerPort: 9876}]}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: hooks, namespace: s}
spec: {ports: [{port: 8443, targetPort: 1111}, {port: 443, targetPort: webhook-server}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: defaults, namespace: s}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: v}
webhooks:
- {name: v.example.com, clientConfig: {service: {name: hooks, namespace: s, path: /v}}}
`

// TestGivenManifests checks what a run takes from the manifests of an operator that isn't a project.
func TestGivenManifests(t *testing.T) {
	t.Parallel()
	objects, err := kube.Decode([]byte(givenText))
	if err != nil {
		t.Fatal(err)
	}
	given := givenManifests(objects)
	if port, err := given.webhookPort(); port != 9876 || err != nil {
		t.Errorf("port of webhooks: %d, %v", port, err)
	}
	if port, err := given[:4].webhookPort(); port != defaultWebhookPort || err != nil {
		t.Errorf("without webhooks: %d, %v", port, err)
	}
	found := given.supporting()
	if len(found) != 3 || found[1].GetName() != "defaults" {
		t.Fatalf("supporting objects: %v", found)
	}
	webhook := kube.ListAt(found[2].Object, "webhooks")[0]
	if kube.StringAt(webhook, "clientConfig", "service", "path") != "/v" || kube.ValueAt(webhook, "objectSelector", "matchLabels") == nil {
		t.Errorf("the webhook that the operator knows: %v", webhook)
	}
	found, _ = given.webhooks()
	configured(found, "", &endpoint{port: 1})
	if given[4].GetName() != "v" || kube.ValueAt(given[4].Object, "webhooks").([]any)[0].(map[string]any)["clientConfig"].(map[string]any)["service"] == nil {
		t.Error("the given objects have changed")
	}
}

// TestProgramSets checks which flags of a command the run leaves alone.
func TestProgramSets(t *testing.T) {
	t.Parallel()
	p := Program{Args: []string{"run", "--metrics-bind-address=:1", "-leader-elect", "cert-dir"}}
	for name, want := range map[string]bool{"metrics-bind-address": true, "leader-elect": true, "run": false, "cert-dir": false} {
		if got := p.sets(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestManagerFlags checks the flags of a manager: those that its help names and the user doesn't set.
func TestManagerFlags(t *testing.T) {
	t.Parallel()
	config, err := project.New(project.Options{ProjectName: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	workspace, err := tempdir.New(t.TempDir(), "run")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{workspace: workspace, flags: map[string]bool{"leader-elect": true, "metrics-addr": true, "other": true}}
	r.o = Options{Root: t.TempDir(), Config: config, Program: Program{Args: []string{"--metrics-addr=:8080"}}}
	args, _, err := r.command()
	if want := []string{"--leader-elect=false"}; err != nil || !slices.Equal(args, want) {
		t.Errorf("got %q, %v, want %q", args, err, want)
	}
}
