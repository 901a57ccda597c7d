package deploy

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
)

func decode(t *testing.T, manifest string) []*kube.Object {
	t.Helper()
	objects, err := kube.Decode([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestOrdered expects what others need before them, and otherwise the order of the manifests.
func TestOrdered(t *testing.T) {
	t.Parallel()
	var names []string
	for _, o := range ordered(decode(t, `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: webhook}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager}}
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: issuer}}
---
{apiVersion: v1, kind: Service, metadata: {name: b}}
---
{apiVersion: v1, kind: Service, metadata: {name: a}}
---
{apiVersion: v1, kind: Secret, metadata: {name: secret}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: role}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crd}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: system}}
`)) {
		names = append(names, o.GetName())
	}
	if got, want := strings.Join(names, " "), "system crd role secret b a issuer manager webhook"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestParent expects the annotations of the specification, without the parent itself.
func TestParent(t *testing.T) {
	t.Parallel()
	s := &set{name: "operon-frog", namespace: "frog-system"}
	// From sha256sum and base64 of operon-frog.frog-system.ConfigMap. with a dot at the end.
	const id = "applyset-2p94DQZ7ClbVHrNbfpcVUp6rHhbuCSZKbOQopF-shGo-v1"
	objects := decode(t, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: frog-system}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: role, namespace: kube-system}}
---
{apiVersion: v1, kind: Service, metadata: {name: service, namespace: frog-system}}
`)
	parent := s.parent(objects)
	parent = s.parent(append(objects, parent))
	annotations := parent.GetAnnotations()
	if got, want := annotations[kindsAnnotation], "Deployment.apps,Role.rbac.authorization.k8s.io,Service"; got != want {
		t.Errorf("kinds %s, want %s", got, want)
	}
	if got := annotations[namespacesAnnotation]; got != "kube-system" {
		t.Errorf("namespaces %s", got)
	}
	if got := parent.GetLabels()[idLabel]; got != id || annotations[toolingAnnotation] != "operon/v1" {
		t.Errorf("%s, %v", got, annotations)
	}
}

// TestMask expects no value of a Secret, but which ones change.
func TestMask(t *testing.T) {
	t.Parallel()
	objects := decode(t, `
{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {same: c2FtZQ==, changed: b2xk, gone: Z29uZQ==}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {same: c2FtZQ==, changed: bmV3, added: YWRkZWQ=}}
`)
	old, new := objects[0], objects[1]
	mask(old, new)
	for _, row := range []struct {
		o    *kube.Object
		want string
	}{
		{old, "data:\n  changed: '*** (before)'\n  gone: '***'\n  same: '***'\n"},
		{new, "data:\n  added: '***'\n  changed: '*** (after)'\n  same: '***'\n"},
	} {
		text, err := encode(row.o)
		if err != nil || !strings.Contains(string(text), row.want) {
			t.Errorf("got %s (%v), want %s", text, err, row.want)
		}
	}
	mask(nil, new)
}

// TestCheckImages checks what is said about images before anything else.
func TestCheckImages(t *testing.T) {
	t.Parallel()
	const manifest = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: m}, spec: {template: {spec: {containers: [{name: manager, image: IMAGE}]}}}}"
	for _, row := range []struct{ built, given, want string }{
		{"example.com/frog:v1", "", ""},
		{"example.com/frog:v1", "example.com/frog:v1", ""},
		{"example.com/frog:latest", "example.com/frog", ""},
		{"controller:latest", "controller:latest", ""},
		{"controller:latest", "", "the placeholder of the scaffold"},
		{"example.com/frog:v1", "example.com/frog:v2", "has no effect"},
	} {
		err := CheckImages(decode(t, strings.Replace(manifest, "IMAGE", `"`+row.built+`"`, 1)), row.given)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s with --image %q: %v, want %q", row.built, row.given, err, row.want)
		}
	}
}
