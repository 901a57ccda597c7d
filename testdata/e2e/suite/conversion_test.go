package suite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// pushNext pushes the manager and the bundle of the golden project's next version, which Operon makes as a person
// would: it serves a second version of the API, in which a field has another name, and converts between the two.
func (b *bench) pushNext(t *testing.T) (dir string) {
	t.Helper()
	dir = b.copyProject(t)
	operon := func(line string, args ...string) {
		b.runOperon(t, 0, append([]string{"-C", dir}, append(strings.Fields(line), args...)...)...)
	}
	edit := func(patch string) {
		b.run(t, dir, "env", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "git", "apply",
			filepath.Join(b.root, "testdata/e2e/suite/objects/next", patch))
	}
	operon("create api --group cache --version v1beta1 --kind Memcached --resource --controller=false")
	edit("types.diff")
	operon("create webhook --group cache --version v1alpha1 --kind Memcached --conversion --spoke v1beta1")
	edit("conversion.diff")
	operon("generate")
	operon("image build --push --image", b.registry+"/"+nextImage)
	operon("bundle --version 0.0.2 --image", b.image(nextImage))
	operon("image bundle --push --image", b.registry+"/"+nextBundleImage)
	return dir
}

// testConversion reads and writes Memcacheds in both versions of the API, which the API server converts through the
// operator, with OLM's certificate. dir is the next version's project, uid that of the Memcached from before. In the
// end there is one of each version.
func (b *bench) testConversion(t *testing.T, dir, uid string) {
	const (
		old   = "memcacheds.v1alpha1.cache.example.com/memcached-sample"
		asNew = "memcacheds.v1beta1.cache.example.com/memcached-sample"
		next  = "memcacheds.v1beta1.cache.example.com/memcached-next"
	)
	get := func(what, path string) string {
		return b.run(t, dir, "kubectl", "get", what, "-o", "jsonpath="+path)
	}
	sees := func(what, path, want string) {
		t.Helper()
		if got := get(what, path); got != want {
			t.Errorf("after the upgrade, %s of %s is %q, not %q", path, what, got, want)
		}
	}
	// The certificate may be in the API server's definition a moment before it is in the manager.
	b.eventually(t, func() error {
		_, err := b.command(dir, "kubectl", "get", asNew)
		return err
	})
	const both = "{.metadata.uid} {.spec.size} {.spec.replicas} {.spec.containerPort}"
	sees(old, both, uid+" 1  11211")
	sees(asNew, both, uid+"  1 11211")

	b.run(t, dir, "kubectl", "patch", asNew, "--type=merge", "-p", `{"spec":{"replicas":2}}`)
	sees(old, both, uid+" 2  11211")
	b.eventually(t, func() error {
		if got := get(asNew, "{.status.replicas} ") + get("deployment/memcached-sample", "{.status.readyReplicas}"); got != "2 2" {
			return fmt.Errorf("after a change to 2 replicas, the status and the Deployment have %q", got)
		}
		return nil
	})
	out, err := b.command(dir, "kubectl", "patch", asNew, "--type=merge", "-p", `{"spec":{"memoryMegabytes":1000}}`)
	if err == nil || !strings.Contains(out, "take more than the 1024 MB") {
		t.Errorf("the webhook of v1alpha1 let 2 pods with 1000 MB pass in v1beta1: %s", out)
	}

	b.run(t, dir, "kubectl", "apply", "-f", "config/samples/cache_v1beta1_memcached.yaml")
	b.run(t, dir, "kubectl", "wait", "--for=condition=Available", next, "--timeout=2m")
	sees("memcacheds.v1alpha1.cache.example.com/memcached-next", "{.spec.size} {.spec.memoryMegabytes}", "1 64")
	sees("crd/memcacheds.cache.example.com", "{.spec.conversion.webhook.clientConfig.service.namespace}", "memcached")
}
