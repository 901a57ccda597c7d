package golden

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// buildObjects builds a kustomization of a project.
func buildObjects(t *testing.T, dir, kustomization string) []*kube.Object {
	t.Helper()
	data, err := manifest.Build(dir, kustomization)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kube.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// clientConfigs returns the fields of an object that configure how an API server calls a webhook.
func clientConfigs(o *kube.Object) (configs []map[string]any) {
	if config, ok := at(o.Object, "spec", "conversion", "webhook", "clientConfig").(map[string]any); ok {
		configs = append(configs, config)
	}
	webhooks, _ := o.Object["webhooks"].([]any)
	for _, webhook := range webhooks {
		if config, ok := at(webhook, "clientConfig").(map[string]any); ok {
			configs = append(configs, config)
		}
	}
	return configs
}

// at returns the field at a path of keys, or nil.
func at(value any, keys ...string) any {
	object, _ := value.(map[string]any)
	found, _, _ := unstructured.NestedFieldNoCopy(object, keys...)
	return found
}

// one returns the object of a kind whose name has a suffix.
func one(t *testing.T, objects []*kube.Object, kind, suffix string) *kube.Object {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind && strings.HasSuffix(o.GetName(), suffix) {
			return o
		}
	}
	t.Fatalf("no %s has a name that ends with %s", kind, suffix)
	return nil
}

// checkCertificate checks that a certificate is for a service, and that its issuer exists.
func checkCertificate(t *testing.T, objects []*kube.Object, certificate, service *kube.Object) {
	t.Helper()
	host := service.GetName() + "." + service.GetNamespace() + ".svc"
	if got, want := fmt.Sprint(at(certificate.Object, "spec", "dnsNames")), fmt.Sprint([]string{host, host + ".cluster.local"}); got != want {
		t.Errorf("%s has DNS names %s, want %s", kube.Name(certificate), got, want)
	}
	issuer := one(t, objects, "Issuer", "-selfsigned-issuer").GetName()
	if got := at(certificate.Object, "spec", "issuerRef", "name"); got != issuer {
		t.Errorf("%s has issuer %v, want %s", kube.Name(certificate), got, issuer)
	}
}

// TestWebhookManifests checks references between the objects of webhooks in clusters and bundles: from the API server to the
// service, from the service to the pods, from cert-manager to the names, and from the pods to the certificate. OLM mounts its own
// certificates, and a pod that waits for cert-manager's would not start.
func TestWebhookManifests(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]int{"memcached-operator": 2, "multigroup-operator": 3} {
		dir := clitest.Testdata(name)
		for _, kustomization := range []string{"config/default", "config/manifests"} {
			t.Run(path.Join(name, kustomization), func(t *testing.T) {
				checkWebhookManifests(t, buildObjects(t, dir, kustomization), calls, kustomization == "config/default")
			})
		}
	}
}

// checkWebhookManifests checks objects with the given number of webhook calls, whose pods mount a certificate or not.
func checkWebhookManifests(t *testing.T, objects []*kube.Object, calls int, mounted bool) {
	t.Helper()
	service := one(t, objects, "Service", "-webhook-service")
	certificate := one(t, objects, "Certificate", "-serving-cert")
	name, namespace := service.GetName(), service.GetNamespace()

	called := 0
	for _, o := range objects {
		for _, config := range clientConfigs(o) {
			called++
			if at(config, "service", "name") != name || at(config, "service", "namespace") != namespace {
				t.Errorf("%s calls %v, want %s in %s", kube.Name(o), config["service"], name, namespace)
			}
			want := certificate.GetNamespace() + "/" + certificate.GetName()
			if got := o.GetAnnotations()["cert-manager.io/inject-ca-from"]; got != want {
				t.Errorf("%s has the CA of %q, want %q", kube.Name(o), got, want)
			}
		}
	}
	if called != calls {
		t.Errorf("got %d webhook calls, want %d", called, calls)
	}
	checkCertificate(t, objects, certificate, service)
	checkCertificate(t, objects, one(t, objects, "Certificate", "-metrics-certs"), one(t, objects, "Service", "-metrics-service"))

	pod := at(one(t, objects, "Deployment", "-controller-manager").Object, "spec", "template")
	labels := at(pod, "metadata", "labels")
	for key, value := range at(service.Object, "spec", "selector").(map[string]any) {
		if at(labels, key) != value {
			t.Errorf("the service selects %s=%v, the pods have %v", key, value, labels)
		}
	}
	container := at(pod, "spec", "containers").([]any)[0]
	port := at(service.Object, "spec", "ports").([]any)[0]
	if text := fmt.Sprint(at(container, "ports")); !strings.Contains(text, fmt.Sprintf("containerPort:%v ", at(port, "targetPort"))) {
		t.Errorf("target port of the service = %v, the container has %s", at(port, "targetPort"), text)
	}
	const certs = "/tmp/k8s-webhook-server/serving-certs"
	if args := fmt.Sprint(at(container, "args")); !strings.Contains(args, "--webhook-cert-path="+certs) {
		t.Errorf("the manager has another path of the certificate: %s", args)
	}
	volumes, mounts := fmt.Sprint(at(pod, "spec", "volumes")), fmt.Sprint(at(container, "volumeMounts"))
	secret := fmt.Sprint(at(certificate.Object, "spec", "secretName"))
	if strings.Contains(volumes, "secretName:"+secret) != mounted || strings.Contains(mounts, certs) != mounted {
		t.Errorf("volumes %s, mounts %s; want the certificate among them: %t", volumes, mounts, mounted)
	}
}
