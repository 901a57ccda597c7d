package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/testdata/e2e/cluster"
)

// testServices holds that the cluster is one: an image is pulled, a Deployment becomes available, its pods are
// reached by the name of their Service from another pod, an image that nobody pushed is said to be missing, and
// what is deleted goes.
func (b *bench) testServices(t *testing.T) {
	before := b.objects(t, cluster.Scope{Namespaces: []string{"e2e-services"}})
	b.apply(t, "objects/services.yaml")
	b.differsFrom(t, before)
	b.run(t, b.root, "kubectl", "-n", "e2e-services", "wait", "--for=condition=Available", "deployment/memcached", "--timeout=2m")
	b.run(t, b.root, "kubectl", "-n", "e2e-services", "wait", "--for=condition=Complete", "job/ask", "--timeout=2m")
	if log := b.run(t, b.root, "kubectl", "-n", "e2e-services", "logs", "job/ask"); !strings.Contains(log, "VERSION 1.6.39") {
		t.Errorf("the Service's pods answered %q", log)
	}
	b.progress.Done("a Service answers")
	b.eventually(t, func() error {
		out := b.run(t, b.root, "kubectl", "-n", "e2e-services", "get", "pod", "missing", "-o", "jsonpath={.status.containerStatuses[0].state.waiting}")
		if !strings.Contains(out, "ImagePull") {
			return fmt.Errorf("the pod with an image that does not exist waits for %q", out)
		}
		return nil
	})
	b.progress.Done("a missing image is told")
	b.run(t, b.root, "kubectl", "delete", "namespace", "e2e-services")
	b.progress.Done("the namespace is deleted")
	b.backTo(t, before)
}

// apply applies a file of testdata.
func (b *bench) apply(t *testing.T, file string) {
	t.Helper()
	objects, err := kube.Decode(read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if err := b.client.Apply(b.ctx, object, "default"); err != nil {
			t.Fatalf("applying %s: %v", kube.Name(object), err)
		}
	}
}
