package project

import (
	"reflect"
	"strings"
	"testing"
)

// TestResolveWebhook checks that new webhooks are added to those that are recorded, and their paths.
func TestResolveWebhook(t *testing.T) {
	t.Parallel()
	hub := api("cache", "v1", "Memcached")
	hub.Webhooks = &Webhooks{WebhookVersion: "v1", Conversion: true, Spoke: []string{"v1alpha1"}, Validation: true, ValidationPath: "/mine"}
	c := withResources(t, api("cache", "v1alpha1", "Memcached"), api("cache", "v2", "Memcached"), hub)
	o := WebhookOptions{Defaulting: true, Conversion: true, Spokes: []string{"v2"}}
	o.Group, o.Version, o.Kind = "cache", "v1", "Memcached"
	r, findings := ResolveWebhook(c, o)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	want := Webhooks{WebhookVersion: "v1", Conversion: true, Spoke: []string{"v1alpha1", "v2"}, Validation: true, ValidationPath: "/mine", Defaulting: true}
	if !reflect.DeepEqual(*r.Webhooks, want) {
		t.Errorf("got %+v, want %+v", *r.Webhooks, want)
	}
	if len(hub.Webhooks.Spoke) != 1 {
		t.Error("the recorded resource changed")
	}
	if r.DefaultingPath() != "/mutate-cache-example-com-v1-memcached" || r.ValidationPath() != "/mine" {
		t.Errorf("paths %s and %s", r.DefaultingPath(), r.ValidationPath())
	}
	check(t, c.UpdateResource(r))
	again, err := Parse(c.Bytes())
	check(t, err)
	if got, _ := again.Resource(r.GVK); !reflect.DeepEqual(got, r) {
		t.Errorf("PROJECT has %+v, want %+v", got, r)
	}

	pod := WebhookOptions{Defaulting: true}
	pod.Group, pod.Version, pod.Kind = "core", "v1", "Pod"
	r, findings = ResolveWebhook(c, pod)
	if len(findings) > 0 || r.DefaultingPath() != "/mutate--v1-pod" || r.APIGroup() != "" || !r.Core {
		t.Errorf("%v, %s, %+v", findings, r.DefaultingPath(), r)
	}
	ingress := WebhookOptions{Validation: true}
	ingress.Group, ingress.Version, ingress.Kind = "networking", "v1", "Ingress"
	r, findings = ResolveWebhook(c, ingress)
	if len(findings) > 0 || r.ValidationPath() != "/validate-networking-k8s-io-v1-ingress" {
		t.Errorf("%v, %s", findings, r.ValidationPath())
	}
}

// TestWebhookFiles checks that kinds of two groups do not share a file in a project of one group.
func TestWebhookFiles(t *testing.T) {
	t.Parallel()
	mine := api("batch", "v1", "Job")
	mine.Webhooks = &Webhooks{WebhookVersion: "v1", Defaulting: true}
	c := withResources(t, mine)
	o := WebhookOptions{Validation: true}
	o.Group, o.Version, o.Kind = "apps", "v1", "Deployment"
	if _, findings := ResolveWebhook(c, o); len(findings) > 0 {
		t.Error(findings)
	}
	o.ExternalPath, o.ExternalDomain = "example.org/jobs/v1", "example.org"
	o.Group, o.Kind = "jobs", "Job"
	if _, findings := ResolveWebhook(c, o); len(findings) != 1 || !strings.Contains(findings.Error(), "have the same file") {
		t.Errorf("got %v", findings)
	}
}
