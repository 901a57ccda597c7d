package suite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// pushNext pushes the manager and the bundle of the next version of the golden project in dir, which Operon makes as a person
// would: it serves a second version of the API, in which a field has another name, and converts between the two.
func (b *bench) pushNext(t *testing.T, dir string) {
	t.Helper()
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
}

// testConversion reads and writes Memcacheds in both versions of the API, which the API server converts through the
// operator, with OLM's certificate. dir is the next version's project, uid that of the Memcached from before. In the
// end there is one of each version. OLM makes another certificate, and restarts the operator with it, once the replaced
// ClusterServiceVersion is gone: each request may have to be repeated.
func (b *bench) testConversion(t *testing.T, dir, uid string) {
	const (
		crd   = "crd/memcacheds.cache.example.com"
		old   = "memcacheds.v1alpha1.cache.example.com/memcached-"
		asNew = "memcacheds.v1beta1.cache.example.com/memcached-"
	)
	kubectl := func(args ...string) {
		t.Helper()
		b.eventually(t, func() error {
			_, err := b.command(dir, "kubectl", args...)
			return err
		})
	}
	sees := func(what, path, want string) {
		t.Helper()
		b.eventually(t, func() error {
			got, err := b.command(dir, "kubectl", "get", what, "-o", "jsonpath="+path)
			if err == nil && got != want {
				err = fmt.Errorf("after the upgrade, %s of %s is %q, not %q", path, what, got, want)
			}
			return err
		})
	}
	sees(crd, "{.spec.conversion.strategy} {.spec.conversion.webhook.clientConfig.service.namespace}", "Webhook memcached")
	const both = "{.metadata.uid} {.spec.size} {.spec.replicas} {.spec.containerPort}"
	sees(old+"sample", both, uid+" 1  11211")
	sees(asNew+"sample", both, uid+"  1 11211")

	kubectl("patch", asNew+"sample", "--type=merge", "-p", `{"spec":{"replicas":2}}`)
	sees(old+"sample", both, uid+" 2  11211")
	sees(asNew+"sample", "{.status.replicas}", "2")
	sees("deployment/memcached-sample", "{.status.readyReplicas}", "2")
	b.eventually(t, func() error {
		out, err := b.command(dir, "kubectl", "patch", asNew+"sample", "--type=merge", "-p", `{"spec":{"memoryMegabytes":1000}}`)
		if err == nil || !strings.Contains(out, "take more than the 1024 MB") {
			return fmt.Errorf("the webhook of v1alpha1 let 2 pods with 1000 MB pass in v1beta1: %s", out)
		}
		return nil
	})

	kubectl("apply", "-f", "config/samples/cache_v1beta1_memcached.yaml")
	sees(asNew+"next", `{.status.conditions[?(@.type=="Available")].status}`, "True")
	sees(old+"next", "{.spec.size} {.spec.memoryMegabytes}", "1 64")
}
