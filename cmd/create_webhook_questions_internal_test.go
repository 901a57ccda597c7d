package cmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/project"
)

const hookedProject = `domain: example.com
layout: go.kubebuilder.io/v4
projectName: p
repo: example.com/p
resources:
- {core: true, group: apps, kind: Deployment, path: k8s.io/api/apps/v1, version: v1}
- {api: {crdVersion: v1}, domain: example.com, group: ship, kind: Full, path: example.com/p/api/v1, version: v1, webhooks: {defaulting: true, validation: true}}
- {api: {crdVersion: v1}, domain: example.com, group: ship, kind: Half, path: example.com/p/api/v1, version: v1, webhooks: {defaulting: true}}
- {api: {crdVersion: v1}, domain: example.com, group: ship, kind: Bare, path: example.com/p/api/v1, version: v1}
- {api: {crdVersion: v1}, domain: example.com, group: ship, kind: Bare, path: example.com/p/api/v2, version: v2}
version: "3"
`

// TestWebhookQuestions checks which kinds and webhooks create webhook offers, and in which order.
func TestWebhookQuestions(t *testing.T) {
	t.Parallel()
	config, err := project.Parse([]byte(hookedProject))
	if err != nil {
		t.Fatal(err)
	}
	kinds, hooked := webhookKinds(config, false)
	const want = "[ship.example.com/v1 Bare ship.example.com/v2 Bare ship.example.com/v1 Half apps/v1 Deployment]"
	if got := fmt.Sprint(kinds); got != want || !hooked {
		t.Errorf("kinds %s, %t", got, hooked)
	}
	if kinds, _ := webhookKinds(config, true); len(kinds) != 5 {
		t.Errorf("with --force: %v", kinds)
	}
	for kind, want := range map[string]string{"Bare": "both,defaulting,validation,conversion", "Half": "validation", "Full": "both,defaulting,validation,conversion"} {
		r, _ := config.Resource(project.GVK{Group: "ship", Domain: "example.com", Version: "v1", Kind: kind})
		var got []string
		for _, option := range webhookOptions(config.MissingWebhooks(r), false) {
			got = append(got, option.Value)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %v, want %s", kind, got, want)
		}
	}
	core := kindOptions(project.StableCoreKinds(), project.ResourceOptions{})
	if core[0].Text != "ControllerRevision (apps/v1)" {
		t.Errorf("the first kind is %s", core[0].Text)
	}
	for _, option := range core {
		if strings.Contains(option.Text, "alpha") || strings.Contains(option.Text, "beta") || strings.Contains(option.Text, "rbac.authorization/") {
			t.Errorf("kind %s", option.Text)
		}
	}
	questions := kindQuestions{command: newCreateAPI(newApp(&Env{}, "operon")), config: config, given: &action.CreateAPIOptions{}}
	names := project.ResourceOptions{Group: "ship", Version: "v3", Kind: "Bare"}
	if steps := questions.from(fromTypes, names); len(steps) != 1 || steps[0].Options[0].Value != "v2" || len(steps[0].Options) != 3 {
		t.Errorf("a further version asks %v", steps)
	}
	if names.Kind = "Other"; len(questions.from(fromTypes, names)) > 0 {
		t.Error("a new kind asks for a version to copy")
	}
}
