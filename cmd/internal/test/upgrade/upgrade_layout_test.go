//go:build unix

package upgrade

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// oldLayoutCode contains files that a user adds to a project of layout go/v3, with their expected contents after an upgrade.
func oldLayoutCode() (before, after map[string]string) {
	before = map[string]string{
		// With imports and line ends that gofmt would change.
		"pkg/extra/extra.go": "package extra\r\n\r\nimport ( ours \"example.com/walk/controllers\"\r\n \"example.com/walk/controllers\" )\r\n\r\n" +
			"// Kinds are controllers.\r\nvar Kinds = []any{ours.MemcachedReconciler{},   controllers.MemcachedReconciler{}}\r\n",
		"controllers/helpers.go":     "package controllers\n\nimport \"example.com/walk/controllers/names\"\n\n// Mine helps controllers.\nfunc (r *MemcachedReconciler) Mine() string { return names.Mine }\n",
		"controllers/names/names.go": "// Package names holds names.\npackage names\n\n// Mine is one.\nconst Mine = \"mine\"\n",
		"controllers/memcached_controller_test.go": `package controllers

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	cachev1 "example.com/walk/api/v1"
)

var _ = Describe("Memcached", func() {
	It("has a definition", func() {
		_, err := os.Stat(filepath.Join("..", "config", "samples", "cache_v1_memcached.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(k8sClient.List(context.Background(), &cachev1.MemcachedList{})).To(Succeed())
		Expect((&MemcachedReconciler{}).Mine()).To(Equal("mine"))
	})
})
`,
		"version.go": "package main\n\nconst version = \"mine\"\n",
		"tools.go":   "//go:build tools\n\npackage tools\n\nimport _ \"example.com/walk/controllers\"\n",
	}
	replace := strings.NewReplacer(
		`"example.com/walk/controllers`, `"example.com/walk/internal/controller`, "package controllers", "package controller",
		"  controllers.Memcached", "  controller.Memcached", `Join("..", `, `Join("..", "..", `)
	after = map[string]string{}
	for name, text := range before {
		name = strings.Replace(name, "controllers/", "internal/controller/", 1)
		if name == "version.go" {
			name = "cmd/version.go"
		}
		after[name] = replace.Replace(text)
	}
	return before, after
}

// oldProject creates a project of an older layout with the last kubebuilder that supports it.
func oldProject(t *testing.T, plugin string, commands ...string) string {
	t.Helper()
	program := clitest.BuildPeer(t, "peers/kubebuilder-3", "sigs.k8s.io/kubebuilder/v3/cmd")
	dir := filepath.Join(t.TempDir(), "walk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range append([]string{"init --plugins " + plugin + " --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false"}, commands...) {
		clitest.RunPeer(t, program, dir, strings.Fields(command)...)
	}
	return dir
}

// TestUpgradeOfLayout upgrades edited projects with main.go and controllers in the root directory to the current layout.
func TestUpgradeOfLayout(t *testing.T) {
	t.Parallel()
	dir := oldProject(t, "go/v3",
		"create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
		"create api --group cache --version v1 --kind Etcd --resource --controller --make=false")
	before, after := oldLayoutCode()
	for name, text := range before {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, filepath.Join(dir, name), text)
	}
	for old, mine := range map[string]string{
		"\tsetupLog.Info(\"starting manager\")": "\tsetupLog.Info(version, \"mine\", controllers.MemcachedReconciler{})\n\tsetupLog.Info(\"starting manager\")",
		"\topts := zap.Options{":                "\tvar mine string\n\tflag.StringVar(&mine, \"mine\", \"\", \"Mine.\")\n\topts := zap.Options{",
		"\t\tScheme: mgr.GetScheme(),\n":        "\t\tScheme: mgr.GetScheme(),\n\t\tProbes: probeAddr,\n",
		"\t//+kubebuilder:scaffold:scheme":      "\tutilruntime.Must(appsv1.AddToScheme(scheme))\n\t//+kubebuilder:scaffold:scheme",
		"\t\"k8s.io/apimachinery/pkg/runtime\"": "\tappsv1 \"k8s.io/api/apps/v1\"\n\t\"k8s.io/apimachinery/pkg/runtime\"",
	} {
		clitest.EditFile(t, dir, "main.go", old, mine)
	}
	clitest.EditFile(t, dir, "controllers/memcached_controller.go", "\tScheme *runtime.Scheme\n", "\tScheme *runtime.Scheme\n\tProbes string\n")
	clitest.EditFile(t, dir, "Makefile", "\n.PHONY: fmt\n", "\n.PHONY: mine\nmine:\n\tgo test ./controllers/... && go run ./main.go\n\n.PHONY: fmt\n")
	whole := clitest.ReadTree(t, dir)

	code, list, said := clitest.Run(t, dir, "", "upgrade", "--check")
	if code != 1 || !strings.Contains(said, " files out of date, as scaffolded by kubebuilder 3.1") || !strings.Contains(said, " (go/v3); run ") {
		t.Errorf("--check: exit code %d\n%s", code, said)
	}
	for _, line := range []string{
		"moved  main.go -> cmd/main.go  +", "moved  version.go -> cmd/version.go  +0 -0\n",
		"moved  controllers/memcached_controller.go -> internal/controller/memcached_controller.go  +1 -1\n", "updated  PROJECT  +1 -1\n",
		"moved  controllers/names/names.go -> internal/controller/names/names.go  +0 -0\n", "updated  pkg/extra/extra.go  +3 -3\n",
	} {
		if !strings.Contains(list, line) {
			t.Errorf("--check does not list %q, but\n%s", line, list)
		}
	}
	diff := clitest.MustRun(t, dir, "upgrade", "--dry-run")
	if !strings.Contains(diff, "diff --git a/main.go b/cmd/main.go\nrename from main.go\nrename to cmd/main.go\n--- a/main.go\n+++ b/cmd/main.go\n@@ ") ||
		!strings.Contains(diff, "rename from version.go\nrename to cmd/version.go\ndiff --git ") {
		t.Errorf("--dry-run does not report moves:\n%.3000s", diff)
	}
	if changed := differing(whole, clitest.ReadTree(t, dir)); len(changed) > 0 {
		t.Errorf("--check and --dry-run changed %q", changed)
	}

	runMigrationPage(t, dir)
	checkUpgraded(t, dir)
	now := clitest.ReadTree(t, dir)
	for name, text := range after {
		if now[name] != text {
			t.Errorf("%s is\n%s\nand is to be\n%s", name, now[name], text)
		}
	}
	for name := range now {
		if strings.HasPrefix(name, "controllers") || name == "main.go" {
			t.Errorf("%s has not moved", name)
		}
	}
	for name, parts := range map[string][]string{
		"cmd/main.go": {
			"\tsetupLog.Info(version, \"mine\", controller.MemcachedReconciler{})\n", "\tflag.StringVar(&mine, \"mine\", \"\", \"Mine.\")\n", "\t\tProbes: s.probeAddr,\n",
			"\tutilruntime.Must(appsv1.AddToScheme(scheme))\n", "\tappsv1 \"k8s.io/api/apps/v1\"\n",
		},
		"Makefile": {"\tgo test ./internal/controller/... && go run ./cmd/main.go\n"},
		"PROJECT":  {"- go.kubebuilder.io/v4\n"},
	} {
		for _, part := range parts {
			if !strings.Contains(now[name], part) {
				t.Errorf("%s has no %q:\n%s", name, part, now[name])
			}
		}
	}
	clitest.CheckProjectTests(t, dir, []string{"./..."}, "ok  \texample.com/walk/internal/controller\t")
	noUpgrade(t, dir)
}

// runMigrationPage runs the commands of docs/migration.md for older layouts, which must succeed with the output on the page.
func runMigrationPage(t *testing.T, dir string) {
	t.Helper()
	_, section, _ := strings.Cut(clitest.ReadFile(t, clitest.Root("docs", "migration.md")), "\n## Older layouts\n")
	_, console, _ := strings.Cut(section, "```console\n")
	console, _, _ = strings.Cut(console, "```")
	output, commands := "", 0
	for line := range strings.Lines(console) {
		typed, isCommand := strings.CutPrefix(strings.TrimSpace(line), "$ operon ")
		if !isCommand {
			if !strings.Contains(output, line) {
				t.Errorf("the output lacks %q:\n%s", line, output)
			}
			continue
		}
		commands++
		code, out, errOut := clitest.Run(t, dir, "", strings.Fields(typed)...)
		if output = out + errOut; code != 0 {
			t.Fatalf("%s: exit code %d\n%s", typed, code, output)
		}
	}
	if commands < 2 {
		t.Errorf("found %d commands for older layouts in docs/migration.md", commands)
	}
}

// checkUpgraded checks that an upgraded project builds and is up to date, except for files that were not formatted.
func checkUpgraded(t *testing.T, dir string) {
	t.Helper()
	clitest.CheckKustomizations(t, dir)
	clitest.CheckCompiles(t, dir)
}

// noUpgrade checks that a project is up to date.
func noUpgrade(t *testing.T, dir string) {
	t.Helper()
	before := clitest.ReadTree(t, dir)
	if code, out, said := clitest.Run(t, dir, "", "upgrade"); code != 0 || out != "" || said != "the project is up to date, nothing was changed\n" {
		t.Errorf("again: exit code %d\n%s%s", code, out, said)
	}
	if code, out, said := clitest.Run(t, dir, "", "upgrade", "--check"); code != 0 || out != "" || said != "the project is up to date\n" {
		t.Errorf("--check afterwards: exit code %d\n%s%s", code, out, said)
	}
	if changed := differing(before, clitest.ReadTree(t, dir)); len(changed) > 0 {
		t.Errorf("again changed %q", changed)
	}
}

// TestUpgradeOfGroups upgrades a project with several groups, whose APIs are in apis.
func TestUpgradeOfGroups(t *testing.T) {
	t.Parallel()
	dir := oldProject(t, "go/v3", "edit --multigroup=true",
		"create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
		"create api --group ship --version v1beta1 --kind Frigate --resource --controller --make=false",
		"create api --group apps --version v1 --kind Deployment --resource=false --controller --make=false")
	clitest.WriteFile(t, filepath.Join(dir, "apis/mine.go"), "// Package apis is mine.\npackage apis\n\nimport _ \"example.com/walk/apis/cache/v1\"\n")
	clitest.WriteFile(t, filepath.Join(dir, "mine.go"), "package main\n\nimport (\n\tmine \"example.com/walk/controllers/cache\"\n\tshipcontrollers \"example.com/walk/controllers/ship\"\n)\n\n"+
		"var _, _ = mine.MemcachedReconciler{}, shipcontrollers.FrigateReconciler{}\n")

	clitest.MustRun(t, dir, "upgrade")
	checkUpgraded(t, dir)
	clitest.CheckFormat(t, dir)
	now := clitest.ReadTree(t, dir)
	for name, parts := range map[string][]string{
		"cmd/main.go": {
			"\tcachev1 \"example.com/walk/api/cache/v1\"\n", "\tcachecontroller \"example.com/walk/internal/controller/cache\"\n",
			"\tshipcontroller \"example.com/walk/internal/controller/ship\"\n", "&shipcontroller.FrigateReconciler{\n",
		},
		"cmd/mine.go":                            {"import (\n\tmine \"example.com/walk/internal/controller/cache\"\n\tshipcontroller \"example.com/walk/internal/controller/ship\"\n)\n", "mine.MemcachedReconciler{}, shipcontroller.FrigateReconciler{}\n"},
		"PROJECT":                                {"path: example.com/walk/api/cache/v1\n", "path: example.com/walk/api/ship/v1beta1\n", "path: k8s.io/api/apps/v1\n", "core: true\n"},
		"api/mine.go":                            {"// Package apis is mine.\npackage apis\n\nimport _ \"example.com/walk/api/cache/v1\"\n"},
		"internal/controller/ship/suite_test.go": {`filepath.Join("..", "..", "..", "config", "crd", "bases")`},
	} {
		for _, part := range parts {
			if !strings.Contains(now[name], part) {
				t.Errorf("%s has no %q:\n%s", name, part, now[name])
			}
		}
	}
	noUpgrade(t, dir)
}

// TestUpgradeOfOldProjectFile checks that PROJECT files of versions 2 and 3-alpha are converted with information from
// the code, and that conflicts of a move are reported and change nothing.
func TestUpgradeOfOldProjectFile(t *testing.T) {
	t.Parallel()
	dir := oldProject(t, "go/v2",
		"create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
		"create api --group cache --version v1 --kind Etcd --resource --controller=false --namespaced=false --make=false")
	whole := clitest.ReadTree(t, dir)
	const resources = "repo: example.com/walk\nresources:\n- group: cache\n  kind: Memcached\n  version: v1\n- group: cache\n  kind: Etcd\n  version: v1\n"
	for version, text := range map[string]string{
		"2":       "domain: example.com\n" + resources + "version: \"2\"\n",
		"3-alpha": "domain: example.com\nlayout: go.kubebuilder.io/v2\nprojectName: walk\n" + resources + "version: 3-alpha\nplugins:\n  go.sdk.operatorframework.io/v2-alpha: {}\n",
	} {
		clitest.WriteFile(t, filepath.Join(dir, "PROJECT"), text)
		code, out, said := clitest.Run(t, dir, "", "upgrade", "--dry-run", "--conflict", "theirs")
		if !strings.Contains(out, "rename to cmd/main.go\n") && code == 2 {
			t.Errorf("%s: exit code %d\n%s", version, code, said)
		}
		_, diff, _ := strings.Cut(out, "+++ b/PROJECT\n")
		diff, _, _ = strings.Cut(diff, "diff --git ")
		for _, line := range []string{
			"+  - go.kubebuilder.io/v4\n", "+    controller: true\n", "+      crdVersion: v1\n", "+    path: example.com/walk/api/v1\n", "projectName: walk\n", "+version: \"3\"\n",
		} {
			if !strings.Contains(diff, line) {
				t.Errorf("%s: the new PROJECT has no %q:\n%s", version, line, diff)
			}
		}
		if n := strings.Count(diff, "namespaced: true"); n != 1 || strings.Count(diff, "controller: true") != 1 {
			t.Errorf("%s: one kind is namespaced and has a controller:\n%s", version, diff)
		}
	}
	clitest.WriteFile(t, filepath.Join(dir, "PROJECT"), whole["PROJECT"])
	for name, text := range map[string]string{"cmd/main.go": "package main\n", "internal/controller/mine.go": "package controller\n"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, filepath.Join(dir, name), text)
	}
	full := maps.Clone(clitest.ReadTree(t, dir))
	code, _, said := clitest.Run(t, dir, "", "upgrade")
	if code != 1 || !strings.Contains(said, "these 2 files are in the way, nothing was written:\n    cmd/main.go\n    internal/controller/mine.go\n") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	if changed := differing(full, clitest.ReadTree(t, dir)); len(changed) > 0 {
		t.Errorf("it changed %q", changed)
	}
}
