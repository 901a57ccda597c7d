package refactor

import (
	"fmt"
	"go/format"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// checkWhole checks that a project builds and is up to date.
func checkWhole(t *testing.T, dir string) {
	t.Helper()
	clitest.CheckFormat(t, dir)
	clitest.CheckOverlays(t, dir)
	clitest.CheckCompiles(t, dir)
	if out := clitest.MustRun(t, dir, "generate"); out != "" {
		t.Errorf("generate changes the project:\n%s", out)
	}
}

const createBoth = "create api --resource --controller "

// TestEditMultigroup moves a project with own code whose controllers belong to two groups. It compiles, and only
// references to moved packages change.
func TestEditMultigroup(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it type-checks a project several times")
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/moved",
		createBoth+"--group cache --version v1 --kind Memcached --image memcached:1",
		createBoth+"--group cache --version v1 --kind Redis",
		createBoth+"--group cache --version v2 --kind Redis --controller=false",
		"create api --resource=false --controller --group apps --version v1 --kind Deployment",
		"create api --resource=false --controller --group cache --version v1 --kind Redis --controller-name redis-backup",
	)
	clitest.WriteFiles(t, dir, map[string]string{
		// Used by one controller alone, and used from a string, a tag and a comment.
		"internal/controller/retry.go":       "package controller\n\n// retries is what Memcached needs.\nfunc (r *MemcachedReconciler) retries() int { return 3 }\n",
		"internal/controller/rollout.go":     "package controller\n\nimport \"example.com/moved/internal/names\"\n\nfunc (r *DeploymentReconciler) rollout() string {\n\treturn names.Of(\"example.com/moved/internal/controller\")\n}\n",
		"internal/names/names.go":            "// Package names stays.\npackage names\n\n// Of gives the name back.\nfunc Of(s string) string { return s }\n",
		"internal/controller/testdata/a.txt": "not Go\n",
		"internal/tool/tool.go":              "package tool\n\nimport   \"example.com/moved/internal/controller\" // not as gofmt has it\n\nfunc Make( controller2 int) any {\n\t_ = controller.DeploymentReconciler{}\n\tif controller := 1; controller2 > controller { return controller }\n\treturn &controller.MemcachedReconciler{}\n}\n",
		"internal/tool/tool_other.go":        "//go:build plan9\n\npackage tool\n\nimport v1 \"example.com/moved/api/v1\"\n\nvar _ v1.Memcached\n",
		"internal/controller/outer_test.go":  "package controller_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/moved/internal/controller\"\n)\n\nfunc TestOuter(t *testing.T) { _ = controller.RedisReconciler{}; _ = \"../../config\" }\n",
		"hack/list.sh":                       "ls ./api/v1 api/v1/*.go api/v10 my/api/v1\n",
		"internal/controller/sub/sub.go":     "// Package sub stays.\npackage sub\n",
		"config/rbac/redis_viewer_role.yaml": strings.Replace(clitest.ReadTree(t, dir)["config/rbac/redis_viewer_role.yaml"], "rules:", "# mine\nrules:", 1),
	})
	clitest.CheckTypes(t, dir, ".")
	before := clitest.ReadTree(t, dir)
	clitest.MustRun(t, dir, "edit", "--multigroup")
	after := clitest.ReadTree(t, dir)
	formatted, err := format.Source([]byte(after["internal/tool/tool.go"]))
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFiles(t, dir, map[string]string{"internal/tool/tool.go": string(formatted)})
	checkWhole(t, dir)
	clitest.CheckControllerGen(t, dir)
	clitest.CheckProjectTests(t, dir, []string{"./internal/controller/apps", "./internal/controller/cache"}, "ok  \t")
	for name, want := range map[string]string{
		"internal/controller/cache/retry.go":       strings.Replace(before["internal/controller/retry.go"], "package controller", "package cache", 1),
		"internal/controller/apps/rollout.go":      strings.Replace(before["internal/controller/rollout.go"], "package controller", "package apps", 1),
		"internal/names/names.go":                  before["internal/names/names.go"],
		"internal/controller/sub/sub.go":           before["internal/controller/sub/sub.go"],
		"api/cache/v1/memcached_types.go":          before["api/v1/memcached_types.go"],
		"api/cache/v2/redis_types.go":              before["api/v2/redis_types.go"],
		"hack/list.sh":                             "ls ./api/cache/v1 api/cache/v1/*.go api/v10 my/api/v1\n",
		"config/rbac/cache_redis_viewer_role.yaml": strings.Replace(before["config/rbac/redis_viewer_role.yaml"], "name: redis-viewer", "name: cache-redis-viewer", 1),
		"internal/tool/tool_other.go":              strings.Replace(before["internal/tool/tool_other.go"], "moved/api/v1", "moved/api/cache/v1", 1),
		"internal/controller/cache/outer_test.go":  "package cache_test\n\nimport (\n\t\"testing\"\n\n\tcachecontroller \"example.com/moved/internal/controller/cache\"\n)\n\nfunc TestOuter(t *testing.T) { _ = cachecontroller.RedisReconciler{}; _ = \"../../../config\" }\n",
		"internal/tool/tool.go": "package tool\n\nimport   appscontroller \"example.com/moved/internal/controller/apps\"\nimport cachecontroller \"example.com/moved/internal/controller/cache\" // not as gofmt has it\n\n" +
			"func Make( controller2 int) any {\n\t_ = appscontroller.DeploymentReconciler{}\n\tif controller := 1; controller2 > controller { return controller }\n\treturn &cachecontroller.MemcachedReconciler{}\n}\n",
	} {
		if after[name] != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, after[name], want)
		}
	}
	for name := range after {
		if strings.HasPrefix(name, "api/v") || filepath.Dir(name) == "internal/controller" {
			t.Errorf("%s was left behind", name)
		}
	}
	// The project goes on in its new layout.
	clitest.MustRun(t, dir, strings.Fields(createBoth+"--group cache --version v2 --kind Memcached --controller=false")...)
	clitest.MustRun(t, dir, strings.Fields(createBoth+"--group ship --version v1 --kind Frigate")...)
	checkWhole(t, dir)
}

// TestEditMultigroupWebhooks moves webhooks of two groups as kubebuilder writes them, and a patch of a CRD.
func TestEditMultigroupWebhooks(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/hooked",
		createBoth+"--group cache --version v1 --kind Memcached",
	)
	files := clitest.ReadTree(t, dir)
	hook := func(kind string) string {
		return "package v1\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\n// Setup" + kind + "WebhookWithManager does nothing.\nfunc Setup" + kind + "WebhookWithManager(ctrl.Manager) error { return nil }\n"
	}
	suite := "package v1\n\nimport (\n\t\"path/filepath\"\n\t\"testing\"\n\n\tcachev1 \"example.com/hooked/api/v1\"\n)\n\nfunc TestSuite(*testing.T) { _ = cachev1.Memcached{}; _ = filepath.Join(\"..\", \"..\", \"..\", \"config\") }\n"
	suite = strings.Replace(suite, "{ _ = cachev1.Memcached{}; ", "{\n\t_ = cachev1.Memcached{}\n\t", 1)
	suite = strings.Replace(suite, " }\n", "\n}\n", 1)
	set := func(kind string) string {
		return "\tif err := webhookv1.Setup" + kind + "WebhookWithManager(mgr); err != nil {\n\t\tos.Exit(1)\n\t}\n"
	}
	main := strings.Replace(files["cmd/main.go"], "\t\"example.com/hooked/internal/controller\"\n", "\t\"example.com/hooked/internal/controller\"\n\twebhookv1 \"example.com/hooked/internal/webhook/v1\"\n", 1)
	main = strings.Replace(main, "\t// +kubebuilder:scaffold:builder", set("Memcached")+set("Pod")+"\t// +kubebuilder:scaffold:builder", 1)
	clitest.WriteFiles(t, dir, map[string]string{
		"internal/webhook/v1/memcached_webhook.go":  hook("Memcached"),
		"internal/webhook/v1/pod_webhook.go":        hook("Pod"),
		"internal/webhook/v1/webhook_suite_test.go": suite,
		"cmd/main.go": main,
		"config/crd/patches/webhook_in_memcacheds.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: memcacheds.cache.example.com\n",
		"config/crd/kustomization.yaml":                 strings.Replace(files["config/crd/kustomization.yaml"], "# +kubebuilder:scaffold:crdkustomizewebhookpatch", "- path: patches/webhook_in_memcacheds.yaml\n# +kubebuilder:scaffold:crdkustomizewebhookpatch", 1),
		"PROJECT": strings.Replace(files["PROJECT"], "  version: v1\nversion:", "  version: v1\n  webhooks:\n    defaulting: true\n    webhookVersion: v1\n"+
			"- core: true\n  group: core\n  kind: Pod\n  path: k8s.io/api/core/v1\n  version: v1\n  webhooks:\n    defaulting: true\n    webhookVersion: v1\nversion:", 1),
	})
	checkWhole(t, dir)
	clitest.MustRun(t, dir, "edit", "--multigroup")
	checkWhole(t, dir)
	after := clitest.ReadTree(t, dir)
	for name, want := range map[string]string{
		"cmd/main.go":                                         "webhookcorev1.SetupPodWebhookWithManager(mgr)",
		"config/crd/kustomization.yaml":                       "- path: patches/webhook_in_cache_memcacheds.yaml\n",
		"internal/webhook/core/v1/pod_webhook.go":             "func SetupPodWebhookWithManager",
		"internal/webhook/cache/v1/webhook_suite_test.go":     `filepath.Join("..", "..", "..", "..", "config")`,
		"config/crd/patches/webhook_in_cache_memcacheds.yaml": "memcacheds.cache.example.com",
	} {
		if !strings.Contains(after[name], want) {
			t.Errorf("%s does not hold %s:\n%s", name, want, after[name])
		}
	}
	if strings.Contains(after["cmd/main.go"], "webhookv1") {
		t.Error("cmd/main.go names the package by its old name")
	}
}

// TestEditMultigroupSuites moves webhooks as create webhook writes them: the suite of each group sets up only its webhooks.
func TestEditMultigroupSuites(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/suites",
		createBoth+"--group cache --version v1 --kind Memcached",
		"create webhook --group cache --version v1 --kind Memcached --defaulting",
		"create webhook --group core --version v1 --kind Pod --defaulting",
		"create webhook --group apps --version v1 --kind Deployment --programmatic-validation",
	)
	clitest.MustRun(t, dir, "edit", "--multigroup")
	checkWhole(t, dir)
	files := clitest.ReadTree(t, dir)
	for group, kind := range map[string]string{"cache": "Memcached", "core": "Pod", "apps": "Deployment"} {
		suite := files["internal/webhook/"+group+"/v1/webhook_suite_test.go"]
		if n := strings.Count(suite, "WebhookWithManager(mgr)\n\tExpect(err).NotTo(HaveOccurred())"); n != 1 || !strings.Contains(suite, "Setup"+kind+"WebhookWithManager") {
			t.Errorf("the suite of group %s sets up %d webhooks:\n%s", group, n, suite)
		}
	}
}

// TestEditMultigroupShared checks that a move is refused that would need unexported code in two packages.
func TestEditMultigroupShared(t *testing.T) {
	t.Parallel()
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/shared",
		createBoth+"--group cache --version v1 --kind Memcached",
		"create api --resource=false --controller --group apps --version v1 --kind Deployment",
	)
	for name, use := range map[string]string{"memcached": "Memcached", "deployment": "Deployment"} {
		clitest.WriteFiles(t, dir, map[string]string{"internal/controller/" + name + "_more.go": "package controller\n\nfunc (r *" + use + "Reconciler) more() int { return shared() }\n"})
	}
	clitest.WriteFiles(t, dir, map[string]string{"internal/controller/shared.go": "package controller\n\nfunc shared() int { return 1 }\n"})
	before := clitest.ReadTree(t, dir)
	out := clitest.MustReject(t, dir, "edit", "--multigroup")
	if !strings.Contains(out, "internal/controller/shared.go:1: belongs to none of the groups apps, cache alone") {
		t.Errorf("got %s", out)
	}
	// A test of one controller that uses what is the other's.
	clitest.WriteFiles(t, dir, map[string]string{"internal/controller/shared.go": "package controller\n\nfunc shared() int { return 1 }\n",
		"internal/controller/memcached_controller_test.go": "package controller\n\nvar _ = DeploymentReconciler{}\n",
		"internal/controller/deployment_more.go":           "package controller\n\nfunc (r *DeploymentReconciler) more() int { return 2 }\n"})
	out = clitest.MustReject(t, dir, "edit", "--multigroup")
	if !strings.Contains(out, "would not compile after the move") || !strings.Contains(out, "internal/controller/cache/memcached_controller_test.go:3:9: undefined: DeploymentReconciler") {
		t.Errorf("got %s", out)
	}
	if after := clitest.ReadTree(t, dir); len(after) != len(before) {
		t.Errorf("%d files, want %d", len(after), len(before))
	}
}

// TestEditMultigroupMany moves fifty APIs and logs the duration.
func TestEditMultigroupMany(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	commands := []string{"init --domain example.com --repo example.com/many"}
	for i := range 50 {
		commands = append(commands, fmt.Sprintf("%s--group cache --version v1 --kind Kind%c%c --make=false", createBoth, 'a'+i/26, 'a'+i%26))
	}
	dir := clitest.NewProject(t, commands...)
	clitest.MustRun(t, dir, "generate")
	before := clitest.ReadTree(t, dir)
	start := time.Now()
	clitest.MustRun(t, dir, "edit", "--multigroup")
	t.Logf("there in %s", time.Since(start).Round(time.Millisecond))
	clitest.MustRun(t, dir, "generate", "--check")
	start = time.Now()
	clitest.MustRun(t, dir, "edit", "--multigroup=false")
	t.Logf("back in %s", time.Since(start).Round(time.Millisecond))
	after := clitest.ReadTree(t, dir)
	for name, content := range before {
		if after[name] != content {
			t.Errorf("%s is not what it was", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, want %d", len(after), len(before))
	}
}

// TestEditNamespaced limits projects to one namespace and removes the limit, which restores them.
func TestEditNamespaced(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	for name, commands := range map[string][]string{
		"one group": {
			"init --domain example.com --repo example.com/scope --license none",
			createBoth + "--group cache --version v1 --kind Memcached --image memcached:1",
			createBoth + "--group cache --version v1 --kind Redis",
			"create api --resource=false --controller --group core --version v1 --kind Pod",
			"create api --resource --controller=false --group cache --version v1 --kind Bare",
			"create api --resource=false --controller --group cache --version v1 --kind Bare",
		},
		"several": {
			"init --domain example.com --repo example.com/scope --multigroup",
			createBoth + "--group ship --version v1 --kind Frigate",
			createBoth + "--group cache --version v1 --kind Memcached --image memcached:1 --image-container-port 11211",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.NewProject(t, commands...)
			before := clitest.CopyTree(t, dir)
			clitest.MustRun(t, dir, "edit", "--namespaced")
			checkWhole(t, dir)
			fresh := clitest.NewProject(t, append([]string{commands[0] + " --namespaced"}, commands[1:]...)...)
			clitest.CompareTrees(t, fresh, dir)
			clitest.MustRun(t, dir, "edit", "--namespaced=false")
			clitest.CompareTrees(t, before, dir)
		})
	}
}
