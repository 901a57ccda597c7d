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

// buildObjects are the objects of a project's kustomization.
func buildObjects(t *testing.T, dir, folder string) []*kube.Object {
	t.Helper()
	data, err := manifest.Build(dir, folder)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kube.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// clientConfigs are the places in an object that tell an API server how to call a webhook.
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

// at follows keys into an object; what is not there is nil.
func at(value any, keys ...string) any {
	object, _ := value.(map[string]any)
	found, _, _ := unstructured.NestedFieldNoCopy(object, keys...)
	return found
}

// one finds the object of a kind whose name ends with a text.
func one(t *testing.T, objects []*kube.Object, kind, suffix string) *kube.Object {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind && strings.HasSuffix(o.GetName(), suffix) {
			return o
		}
	}
	t.Fatalf("there is no %s whose name ends with %s", kind, suffix)
	return nil
}

// checkCertificate holds that a certificate is for a service, and that its issuer is there.
func checkCertificate(t *testing.T, objects []*kube.Object, certificate, service *kube.Object) {
	t.Helper()
	host := service.GetName() + "." + service.GetNamespace() + ".svc"
	if got, want := fmt.Sprint(at(certificate.Object, "spec", "dnsNames")), fmt.Sprint([]string{host, host + ".cluster.local"}); got != want {
		t.Errorf("%s is for %s, want %s", kube.Name(certificate), got, want)
	}
	issuer := one(t, objects, "Issuer", "-selfsigned-issuer").GetName()
	if got := at(certificate.Object, "spec", "issuerRef", "name"); got != issuer {
		t.Errorf("%s is signed by %v, want %s", kube.Name(certificate), got, issuer)
	}
}

// TestWebhookManifests holds that what a cluster or a bundle gets of webhooks fits together: the API server
// finds the service, the service the pods, cert-manager the names, and the pods the certificate. OLM brings
// certificates of its own, and would not start a pod that waits for those of cert-manager.
func TestWebhookManifests(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]int{"memcached-operator": 2, "multigroup-operator": 3} {
		dir := clitest.Testdata(name)
		for _, folder := range []string{"config/default", "config/manifests"} {
			t.Run(path.Join(name, folder), func(t *testing.T) {
				checkWebhookManifests(t, buildObjects(t, dir, folder), calls, folder == "config/default")
			})
		}
	}
}

// checkWebhookManifests holds it of objects that call webhooks so many times, in pods with a certificate or without.
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
				t.Errorf("%s takes the CA of %q, want %q", kube.Name(o), got, want)
			}
		}
	}
	if called != calls {
		t.Errorf("%d webhooks are called, want %d", called, calls)
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
		t.Errorf("the service calls port %v, the container has %s", at(port, "targetPort"), text)
	}
	const certs = "/tmp/k8s-webhook-server/serving-certs"
	if args := fmt.Sprint(at(container, "args")); !strings.Contains(args, "--webhook-cert-path="+certs) {
		t.Errorf("the manager looks for its certificate elsewhere: %s", args)
	}
	volumes, mounts := fmt.Sprint(at(pod, "spec", "volumes")), fmt.Sprint(at(container, "volumeMounts"))
	secret := fmt.Sprint(at(certificate.Object, "spec", "secretName"))
	if strings.Contains(volumes, "secretName:"+secret) != mounted || strings.Contains(mounts, certs) != mounted {
		t.Errorf("volumes are %s, mounts %s; the certificate is to be among them: %t", volumes, mounts, mounted)
	}
}
