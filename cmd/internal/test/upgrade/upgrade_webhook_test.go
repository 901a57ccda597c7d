//go:build unix

package upgrade

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// oldWebhookEdits are edits of webhooks in the package of types that kubebuilder 3 scaffolded: a file, a text of it and
// its replacement, or a text to append.
func oldWebhookEdits() [][3]string {
	const hooks, other, hub, spoke = "api/v1/memcached_webhook.go", "api/v1/etcd_webhook.go", "api/v1/redis_types.go", "api/v2/redis_types.go"
	return [][3]string{
		{hooks, "\t// TODO(user): fill in your defaulting logic.\n", "\tif r.Spec.Foo == \"\" {\n\t\tr.Spec.Foo = usualFoo() // mine\n\t}\n"},
		{hooks, "\t// TODO(user): fill in your validation logic upon object creation.\n\treturn nil, nil\n", "\treturn admission.Warnings{\"think twice\"}, r.validate()\n"},
		{hooks, "\t// TODO(user): fill in your validation logic upon object update.\n\treturn nil, nil\n",
			"\tif old.(*Memcached).Spec.Foo != r.Spec.Foo {\n\t\treturn nil, errors.New(\"foo cannot change\")\n\t}\n\treturn nil, r.validate()\n"},
		{hooks, "import (\n", "import (\n\t\"errors\"\n\n\t\"sigs.k8s.io/controller-runtime/pkg/client\"\n\n"},
		// A set-up that needs what only this package has.
		{hooks, "\treturn ctrl.NewWebhookManagedBy(mgr).\n", "\tmemcachedReader = mgr.GetAPIReader() // mine\n\treturn ctrl.NewWebhookManagedBy(mgr).\n"},
		{hooks, "", "\n// memcachedReader is mine.\nvar memcachedReader client.Reader\n\nfunc usualFoo() string { return \"usual\" }\n\n" +
			"func (r *Memcached) validate() error {\n\tif r.Spec.Foo == \"bad\" || memcachedReader == nil {\n\t\treturn errors.New(\"foo is bad\")\n\t}\n\treturn nil\n}\n"},
		{hooks, ",verbs=create;update,versions=v1,name=vmemcached.kb.io,admissionReviewVersions=v1", ",verbs=create;update;delete,versions=v1,name=mine.kb.io,admissionReviewVersions={v1,v1beta1}"},
		// One that does not.
		{other, "\treturn ctrl.NewWebhookManagedBy(mgr).\n\t\tFor(r).\n", "\t// This is mine.\n\tmgr.GetLogger().Info(\"setting up\", \"kind\", r.Kind)\n\treturn ctrl.NewWebhookManagedBy(mgr).\n\t\tFor(r).\n\t\tRecoverPanic().\n"},
		{other, "\t// TODO(user): fill in your defaulting logic.\n", "\tr.Spec.Foo = \"set\"\n"},
		{"api/v1/memcached_webhook_test.go", "\t\t\t// TODO(user): Add your logic here\n", `			obj := &Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}}
			Expect(k8sClient.Create(ctx, obj)).To(Succeed())
			Expect(obj.Spec.Foo).To(Equal("usual"))
			other := &Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}}
			Expect(k8sClient.Create(ctx, other)).To(Succeed())
			Expect(other.Spec.Foo).To(Equal("set"))
`},
		{"api/v1/memcached_webhook_test.go", "\t\t\t// TODO(user): Add your logic here\n", `			obj := &Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}, Spec: MemcachedSpec{Foo: "bad"}}
			Expect(k8sClient.Create(ctx, obj)).To(MatchError(ContainSubstring("foo is bad")))
`},
		{"api/v1/memcached_webhook_test.go", "ginkgo/v2\"\n", "ginkgo/v2\"\n\t. \"github.com/onsi/gomega\"\n\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n"},
		// The types convert.
		{hub, "//+kubebuilder:object:root=true\n", "//+kubebuilder:object:root=true\n//+kubebuilder:storageversion\n"},
		{hub, "", "\n// Hub is mine.\nfunc (*Redis) Hub() {}\n"},
		{spoke, "import (\n", "import (\n\t\"sigs.k8s.io/controller-runtime/pkg/conversion\"\n\n\tcachev1 \"example.com/walk/api/v1\"\n"},
		{spoke, "", "\nfunc (r *Redis) ConvertTo(hub conversion.Hub) error {\n\thub.(*cachev1.Redis).ObjectMeta = r.ObjectMeta\n\treturn nil\n}\n\n" +
			"func (r *Redis) ConvertFrom(hub conversion.Hub) error {\n\tr.ObjectMeta = hub.(*cachev1.Redis).ObjectMeta\n\treturn nil\n}\n"},
	}
}

// TestUpgradeOfWebhooks upgrades a project of kubebuilder 3 whose types have webhooks: their methods are not changed,
// and the API server calls them.
func TestUpgradeOfWebhooks(t *testing.T) {
	t.Parallel()
	const api, webhook = "create api --group cache --make=false --resource ", "create webhook --group cache "
	dir := oldWebhooks(t, oldWebhookEdits(),
		"init --plugins go/v4 --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false --skip-go-version-check",
		api+"--version v1 --kind Memcached --controller",
		api+"--version v1 --kind Redis --controller=false",
		api+"--version v2 --kind Redis --controller=false",
		api+"--version v1 --kind Etcd --controller=false",
		webhook+"--version v1 --kind Memcached --defaulting --programmatic-validation",
		webhook+"--version v1 --kind Redis --conversion",
		webhook+"--version v1 --kind Etcd --defaulting")
	clitest.WriteFile(t, filepath.Join(dir, "api", "v1", "mine_test.go"), "package v1\n\nimport \"testing\"\n\nfunc TestMine(t *testing.T) {\n\tif usualFoo() == \"\" {\n\t\tt.Fatal()\n\t}\n}\n")
	before := clitest.ReadTree(t, dir)
	upgradeWhole(t, dir)
	if code, out, said := clitest.Run(t, dir, "", "upgrade", "--check"); code != 0 || out != "" {
		t.Errorf("--check afterwards: exit code %d\n%s%s", code, out, said)
	}
	after := clitest.ReadTree(t, dir)
	keepsMethods(t, before, after, map[string]string{
		"api/v1/memcached_webhook.go": "api/v1/memcached_webhook.go", "api/v1/etcd_webhook.go": "api/v1/etcd_webhook.go"})
	holdsTexts(t, after, map[string][]string{
		"PROJECT":                       {"  webhooks:\n    conversion: true\n    spoke:\n    - v2\n    webhookVersion: v1\n"},
		"api/v1/memcached_webhook.go":   {"\tmemcachedReader = mgr.GetAPIReader() // mine\n\treturn nil\n"},
		"api/v1/mine_test.go":           {before["api/v1/mine_test.go"]},
		"config/webhook/manifests.yaml": {"  name: mine.kb.io\n", "    - DELETE\n"},
		"internal/webhook/v1/memcached_webhook.go": {
			"(&cachev1.Memcached{}).SetupWebhookWithManager(mgr)", ",verbs=create;update;delete,versions=v1,name=mine.kb.io,admissionReviewVersions={v1,v1beta1}\n"},
		"internal/webhook/v1/etcd_webhook.go": {
			"\t// This is mine.\n\tmgr.GetLogger().Info(\"setting up\", \"kind\", r.Kind)\n", "WithDefaulter(&EtcdCustomDefaulter{}).\n\t\tRecoverPanic(true).\n"},
		"internal/webhook/v1/redis_webhook.go": {"NewWebhookManagedBy(mgr, &cachev1.Redis{})"},
		"config/default/kustomization.yaml":    {"\n- ../webhook\n", "\n- ../certmanager\n", "\n- path: manager_webhook_patch.yaml\n  target:\n", "\n - source:"},
		// Nobody edited the suite.
		"internal/webhook/v1/webhook_suite_test.go": {"SetupRedisWebhookWithManager(mgr)", "func binaryAssets() string"},
	})
	for _, name := range []string{"api/v1/redis_webhook.go", "api/v1/webhook_suite_test.go", "api/v1/memcached_webhook_test.go"} {
		if _, ok := after[name]; ok {
			t.Errorf("%s is still there", name)
		}
	}
	clitest.CheckProjectTests(t, dir, []string{"./..."}, "ok  \texample.com/walk/api/v1\t", "ok  \texample.com/walk/internal/webhook/v1\t")
}

// TestUpgradeOfOlderWebhooks upgrades webhooks of the preceding layout and of several groups, whose validation returns
// no warnings.
func TestUpgradeOfOlderWebhooks(t *testing.T) {
	t.Parallel()
	const hooks, suite = "apis/cache/v1/memcached_webhook.go", "apis/cache/v1/webhook_suite_test.go"
	edits := [][3]string{
		{hooks, "\t// TODO(user): fill in your defaulting logic.\n", "\tif r.Spec.Foo == \"\" {\n\t\tr.Spec.Foo = \"usual\"\n\t}\n"},
		{hooks, "\t// TODO(user): fill in your validation logic upon object creation.\n\treturn nil\n", "\treturn r.validate()\n"},
		{hooks, "import (\n", "import (\n\t\"errors\"\n\n"},
		{hooks, "", "\nfunc (r *Memcached) validate() error {\n\tif r.Spec.Foo == \"bad\" {\n\t\treturn errors.New(\"foo is bad\")\n\t}\n\treturn nil\n}\n"},
		{suite, "\ttestEnv = &envtest.Environment{\n", "\ttestEnv = &envtest.Environment{\n\t\tAttachControlPlaneOutput: false, // mine\n\n"},
		{suite, "\"k8s.io/apimachinery/pkg/runtime\"", "metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\t\"k8s.io/apimachinery/pkg/runtime\""},
		{suite, "", `
var _ = Describe("mine", func() {
	It("should default and reject", func() {
		obj := &Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}}
		Expect(k8sClient.Create(ctx, obj)).To(Succeed())
		Expect(obj.Spec.Foo).To(Equal("usual"))
		obj = &Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}, Spec: MemcachedSpec{Foo: "bad"}}
		Expect(k8sClient.Create(ctx, obj)).To(MatchError(ContainSubstring("foo is bad")))
	})
})
`},
	}
	const flags = " --make=false --resource "
	dir := oldWebhooks(t, edits,
		"init --plugins go/v3 --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false --skip-go-version-check",
		"edit --multigroup",
		"create api --group cache --version v1 --kind Memcached --controller"+flags,
		"create api --group ship --version v1 --kind Frigate --controller"+flags,
		"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation",
		"create webhook --group ship --version v1 --kind Frigate --defaulting")
	before := clitest.ReadTree(t, dir)
	upgradeWhole(t, dir)
	if code, out, said := clitest.Run(t, dir, "", "upgrade", "--check"); code != 0 || out != "" {
		t.Errorf("--check afterwards: exit code %d\n%s%s", code, out, said)
	}
	after := clitest.ReadTree(t, dir)
	keepsMethods(t, before, after, map[string]string{hooks: "api/cache/v1/memcached_webhook.go"})
	holdsTexts(t, after, map[string][]string{
		"cmd/main.go": {"webhookcachev1.SetupMemcachedWebhookWithManager(mgr)", "webhookshipv1.SetupFrigateWebhookWithManager(mgr)"},
		"internal/webhook/cache/v1/memcached_webhook.go": {"\treturn nil, newObj.ValidateUpdate(oldObj)\n"},
		"config/default/kustomization.yaml":              {"\n- ../webhook\n", "\n- ../certmanager\n", "\n- path: manager_webhook_patch.yaml\n  target:\n", "\n - source:"},
		// One suite is edited, the other is not.
		"internal/webhook/cache/v1/webhook_suite_test.go": {"\t\tAttachControlPlaneOutput: false, // mine\n", `filepath.Join("..", "..", "..", "..", "config", "webhook")`},
		"internal/webhook/ship/v1/webhook_suite_test.go":  {"func binaryAssets() string"},
	})
	clitest.CheckProjectTests(t, dir, []string{"./..."}, "ok  \texample.com/walk/internal/webhook/cache/v1\t", "ok  \texample.com/walk/internal/webhook/ship/v1\t")
}

// oldWebhooks creates a project with kubebuilder 3 and edits it.
func oldWebhooks(t *testing.T, edits [][3]string, commands ...string) string {
	t.Helper()
	program := clitest.BuildPeer(t, "peers/kubebuilder-3", "sigs.k8s.io/kubebuilder/v3/cmd")
	dir := filepath.Join(t.TempDir(), "walk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		scaffoldOffline(t, program, dir, command)
	}
	for _, e := range edits {
		if name := filepath.Join(dir, e[0]); e[1] == "" {
			clitest.AppendFile(t, name, e[2])
		} else {
			clitest.Substitute(t, name, e[1], e[2])
		}
	}
	commentIn(t, filepath.Join(dir, "config", "default", "kustomization.yaml"))
	return dir
}

// commentIn enables webhooks and their certificates in config/default as the scaffold describes.
func commentIn(t *testing.T, name string) {
	t.Helper()
	lines := strings.SplitAfter(clitest.ReadFile(t, name), "\n")
	from := 0
	for i, line := range lines {
		block := strings.HasPrefix(line, "#replacements:") || strings.HasPrefix(line, "#- name: CERTIFICATE_NAMESPACE")
		if block && from == 0 {
			from = i
		}
		entry := strings.HasPrefix(line, "#- ") && strings.Contains(line, "webhook") || strings.HasPrefix(line, "#- ../certmanager")
		if entry || from > 0 {
			lines[i] = strings.TrimPrefix(line, "#")
		}
	}
	if from == 0 {
		t.Fatalf("%s has nothing to comment in", name)
	}
	clitest.WriteFile(t, name, strings.Join(lines, ""))
}

// keepsMethods checks that the functions of files, except for set-up, are unchanged in the new files.
func keepsMethods(t *testing.T, before, after, names map[string]string) {
	t.Helper()
	for old, name := range names {
		found := regexp.MustCompile(`(?ms)^(// [^\n]*\n)*func .*?^}\n`).FindAllString(before[old], -1)
		for _, method := range found {
			if !strings.Contains(method, "SetupWebhookWithManager") && !strings.Contains(after[name], method) {
				t.Errorf("%s lost:\n%s", name, method)
			}
		}
		if len(found) < 2 {
			t.Errorf("%s has no methods", old)
		}
	}
}

// holdsTexts checks that files contain texts.
func holdsTexts(t *testing.T, files map[string]string, wanted map[string][]string) {
	t.Helper()
	for name, texts := range wanted {
		for _, text := range texts {
			if !strings.Contains(files[name], text) {
				t.Errorf("%s has no %q:\n%s", name, text, files[name])
			}
		}
	}
}

// scaffoldOffline runs a command of kubebuilder 3, which runs make after it created webhooks.
func scaffoldOffline(t *testing.T, program, dir, command string) {
	t.Helper()
	if !strings.HasPrefix(command, "create webhook") {
		clitest.RunPeer(t, program, dir, strings.Fields(command)...)
		return
	}
	makefile := clitest.ReadFile(t, filepath.Join(dir, "Makefile"))
	clitest.WriteFile(t, filepath.Join(dir, "Makefile"), "generate:\n")
	clitest.RunPeer(t, program, dir, strings.Fields(command)...)
	clitest.WriteFile(t, filepath.Join(dir, "Makefile"), makefile)
}
