package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// webhookVariants are the commands that create projects with all kinds of webhooks.
func webhookVariants() map[string][]string {
	const create = "create api --resource --controller "
	return map[string][]string{
		"one after the other": {
			"init --domain example.com --repo example.com/several",
			create + "--group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine",
			"create webhook --group cache --version v1alpha1 --kind Memcached --defaulting",
			"create webhook --group cache --version v1alpha1 --kind Memcached --programmatic-validation --validation-path /validate-me",
			"create api --group cache --version v1 --kind Memcached --resource --controller=false",
			"create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1",
			"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation",
			create + "--group cache --version v1 --kind Redis --namespaced=false --plural redises",
			"create webhook --group cache --version v1 --kind Redis --programmatic-validation",
			"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation --force",
		},
		"several groups": {
			"init --domain example.com --repo example.com/groups --multigroup --license none",
			create + "--group ship --version v1beta1 --kind Frigate",
			"create api --group ship --version v1 --kind Frigate --resource --controller=false",
			create + "--group ship --version v2 --kind Frigate --resource --controller=false",
			create + "--group sea-creatures --version v1 --kind Kraken",
			"create api --group sea-creatures --version v2 --kind Kraken --resource --controller=false",
			"create webhook --group ship --version v1 --kind Frigate --conversion --spoke v1beta1 --programmatic-validation",
			"create webhook --group ship --version v1 --kind Frigate --conversion --spoke v2",
			"create webhook --group sea-creatures --version v2 --kind Kraken --conversion --spoke v1 --defaulting",
			"create webhook --group apps --version v1 --kind Deployment --programmatic-validation",
			"create webhook --group core --version v1 --kind Pod --defaulting --defaulting-path /mutate-pods",
		},
		"kinds of others": {
			"init --domain example.com --repo example.com/others --namespaced",
			"create webhook --group networking --version v1 --kind Ingress --defaulting",
			"create webhook --group core --version v1 --kind Namespace --programmatic-validation",
			"create webhook --group apiextensions --version v1 --kind CustomResourceDefinition --programmatic-validation" +
				" --external-api-path k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 --external-api-domain k8s.io",
		},
	}
}

// TestWebhookVariants checks after each command that the project is formatted and tidy and that its overlays build, and at the end
// that it compiles, vets, and generates the same files as controller-gen.
func TestWebhookVariants(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it compiles many projects")
	makeVariants(t, webhookVariants())
}

// TestWebhooksAtWork implements webhooks as a user does. The tests of the project, including the scaffolded ones, must observe
// defaults, rejections and conversions of the API server.
func TestWebhooksAtWork(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs the tests of a project")
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"init --domain example.com --repo example.com/work",
		"create api --group cache --version v1alpha1 --kind Memcached --resource --controller=false",
		"create api --group cache --version v1 --kind Memcached --resource --controller=false",
		"create webhook --group cache --version v1alpha1 --kind Memcached --defaulting",
		"create webhook --group core --version v1 --kind ConfigMap --programmatic-validation",
	} {
		clitest.MustRun(t, dir, strings.Fields(command)...)
	}
	code := filepath.Join(dir, "internal", "webhook", "v1alpha1", "memcached_webhook.go")
	clitest.Substitute(t, code, "\treturn nil\n", "\tif obj.Spec.Foo == nil {\n\t\tobj.Spec.Foo = new(\"kept\")\n\t}\n\treturn nil\n")
	clitest.MustRun(t, dir, strings.Fields("create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1")...)
	clitest.MustRun(t, dir, strings.Fields("create webhook --group cache --version v1alpha1 --kind Memcached --programmatic-validation --force")...)
	clitest.Substitute(t, code, "\treturn nil, nil\n",
		"\tif *obj.Spec.Foo == \"bad\" {\n\t\treturn nil, errors.New(\"foo is bad\")\n\t}\n\treturn nil, nil\n")
	clitest.Substitute(t, code, "\t\"context\"\n", "\t\"context\"\n\t\"errors\"\n")
	test := filepath.Join(dir, "internal", "webhook", "v1alpha1", "memcached_webhook_test.go")
	clitest.Substitute(t, test, `var _ = Describe("Memcached validation webhook"`, `var _ = Describe("Memcached at work", func() {
	It("should default and reject", func() {
		obj := &cachev1alpha1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}}
		Expect(k8sClient.Create(ctx, obj)).To(Succeed())
		Expect(obj.Spec.Foo).To(HaveValue(Equal("kept")))
		obj = &cachev1alpha1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}}
		obj.Spec.Foo = new("bad")
		err := k8sClient.Create(ctx, obj)
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("foo is bad")))
	})
})

var _ = Describe("Memcached validation webhook"`)
	convert := filepath.Join(dir, "internal", "webhook", "v1", "memcached_webhook_test.go")
	clitest.Substitute(t, convert, "\t\terr := k8sClient.Create(ctx, obj)\n", "\t\tobj.Spec.Foo = new(\"carried\")\n\t\terr := k8sClient.Create(ctx, obj)\n")
	clitest.Substitute(t, convert, "\t\tExpect(converted.UID)", "\t\tExpect(converted.Spec.Foo).To(HaveValue(Equal(\"carried\")))\n\t\tExpect(converted.UID)")
	clitest.CheckFormat(t, dir)
	clitest.CheckProjectTests(t, dir, []string{"-v", "./api/...", "./internal/webhook/..."},
		"ok  \texample.com/work/api/v1alpha1", "ok  \texample.com/work/internal/webhook/v1\t", "ok  \texample.com/work/internal/webhook/v1alpha1")

	// The test of the scaffold fails if a conversion loses a field.
	lossy := filepath.Join(dir, "api", "v1alpha1", "memcached_conversion.go")
	clitest.Substitute(t, lossy, "\tdst.Spec.Foo = o.Spec.Foo\n", "")
	c := clitest.GoCommand(dir, "test", "-vet=off", "./api/v1alpha1")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "and back changes the object") {
		t.Errorf("a conversion that loses a field passes (%v):\n%s", err, out)
	}
}

// TestForceKeepsTheUsersCode adds and rewrites webhooks in an edited file.
func TestForceKeepsTheUsersCode(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const create = "create webhook --group cache --version v1 --kind Memcached --make=false "
	for _, command := range []string{
		"init --domain example.com --repo example.com/kept",
		"create api --group cache --version v1 --kind Memcached --resource --controller=false",
		create + "--defaulting",
	} {
		clitest.MustRun(t, dir, strings.Fields(command)...)
	}
	name := filepath.Join(dir, "internal", "webhook", "v1", "memcached_webhook.go")
	clitest.Substitute(t, name, "\treturn nil\n", "\tif obj.Labels == nil {\n\t\tobj.Labels = defaults() // mine\n\t}\n\treturn nil\n")
	clitest.AppendFile(t, name, "\n// defaults are the user's.\nfunc defaults() map[string]string { return map[string]string{\"mine\": \"too\"} }\n")
	test := filepath.Join(dir, "internal", "webhook", "v1", "memcached_webhook_test.go")
	clitest.AppendFile(t, test, "\nvar _ = Describe(\"mine\", func() {})\n")
	want, wantTest := clitest.ReadFile(t, name), clitest.ReadFile(t, test)

	clitest.MustRun(t, dir, strings.Fields(create+"--programmatic-validation --force")...)
	got := clitest.ReadFile(t, name)
	for _, part := range strings.SplitAfter(want[strings.Index(want, "// +kubebuilder:webhook"):], "\n\n") {
		if !strings.Contains(got, strings.TrimSpace(part)) {
			t.Errorf("lost:\n%s", part)
		}
	}
	if !strings.HasPrefix(clitest.ReadFile(t, test), wantTest) {
		t.Errorf("the tests of the user changed:\n%s", clitest.ReadFile(t, test))
	}
	for _, part := range []string{"type MemcachedCustomValidator", "WithValidator(&MemcachedCustomValidator{})", "WithDefaulter("} {
		if strings.Count(got, part) != 1 {
			t.Errorf("%s exists %d times:\n%s", part, strings.Count(got, part), got)
		}
	}

	clitest.MustRun(t, dir, strings.Fields(create+"--defaulting --force")...)
	got = clitest.ReadFile(t, name)
	if strings.Contains(got, "// mine") || !strings.Contains(got, "func defaults()") {
		t.Errorf("--force must rewrite the defaulter and nothing else:\n%s", got)
	}
	for _, p := range []string{"/first", "/second"} {
		clitest.MustRun(t, dir, strings.Fields(create+"--defaulting --force --defaulting-path "+p)...)
		got = clitest.ReadFile(t, name)
		if strings.Count(got, "WithDefaulterCustomPath(") != 1 || strings.Count(got, p) != 2 {
			t.Errorf("the path %s must be in the builder and in the marker:\n%s", p, got)
		}
	}
	clitest.MustRun(t, dir, strings.Fields(create+"--defaulting --force")...)
	if again := clitest.ReadFile(t, name); again != got {
		t.Errorf("--force without a path changes it:\n%s", again)
	}
	clitest.CheckFormat(t, dir)
	clitest.CheckTypes(t, dir, "internal")
}
