//go:build unix

package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestKubebuilder runs commands of Operon and kubebuilder in turn on one project, from init to several groups. Each continues
// the files of the other.
func TestKubebuilder(t *testing.T) {
	t.Parallel()
	peer := clitest.BuildPeer(t, "bench/peers", "sigs.k8s.io/kubebuilder/v4")
	const api, webhook = " create api --group %s --version %s --kind %s --resource --controller", " create webhook --group %s --version %s --kind %s"
	of := func(program, command, group, version, kind, more string) string {
		return program + fmt.Sprintf(command, group, version, kind) + " " + more
	}
	for name, commands := range map[string][]string{
		"begins": {
			"kubebuilder init --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false --skip-go-version-check",
			of("operon", api, "cache", "v1", "Memcached", ""),
			of("kubebuilder", api, "cache", "v1", "Redis", "--make=false"),
			of("operon", api, "cache", "v2", "Redis", "--controller=false"),
			of("operon", webhook, "cache", "v1", "Redis", "--defaulting --programmatic-validation"),
			of("kubebuilder", webhook, "cache", "v1", "Memcached", "--defaulting --make=false"),
			of("operon", webhook, "cache", "v1", "Memcached", "--programmatic-validation"),
			of("kubebuilder", webhook, "cache", "v1", "Redis", "--conversion --spoke v2 --make=false"),
			"operon edit --multigroup",
			of("kubebuilder", api, "ship", "v1", "Frigate", "--make=false"),
			of("operon", webhook, "ship", "v1", "Frigate", "--programmatic-validation"),
			of("kubebuilder", webhook, "cache", "v2", "Redis", "--defaulting --make=false"),
			of("operon", api, "cache", "v1", "Etcd", ""),
			"test internal/controller/cache internal/controller/ship internal/webhook/cache/v1",
			"controller-gen",
			"operon delete api --group cache --version v1 --kind Etcd",
			of("kubebuilder", api, "cache", "v1", "Valkey", "--make=false"),
		},
		"continues": {
			"operon init --domain example.com --repo example.com/walk --project-name walk",
			of("kubebuilder", api, "cache", "v1", "Memcached", "--make=false"),
			of("operon", api, "cache", "v1", "Redis", ""),
			of("operon", api, "cache", "v2", "Memcached", "--controller=false"),
			"kubebuilder create api --group apps --version v1 --kind Deployment --resource=false --controller --make=false",
			of("kubebuilder", webhook, "cache", "v1", "Redis", "--defaulting --programmatic-validation --make=false"),
			of("operon", webhook, "cache", "v1", "Memcached", "--defaulting --programmatic-validation"),
			of("operon", webhook, "cache", "v1", "Memcached", "--conversion --spoke v2"),
			"kubebuilder edit --multigroup",
			of("operon", api, "ship", "v1", "Frigate", ""),
			of("kubebuilder", webhook, "ship", "v1", "Frigate", "--defaulting --make=false"),
			"operon edit --multigroup",
			of("kubebuilder", api, "cache", "v1", "Etcd", "--make=false"),
			of("operon", webhook, "cache", "v1", "Etcd", "--defaulting"),
			"test internal/controller/cache internal/controller/ship internal/webhook/cache/v1",
			"controller-gen",
			"operon delete api --group apps --version v1 --kind Deployment --force",
			of("kubebuilder", api, "cache", "v1", "Valkey", "--make=false"),
		},
		"in one namespace": {
			"operon init --domain example.com --repo example.com/walk --project-name walk",
			of("operon", api, "cache", "v1", "Memcached", ""),
			"kubebuilder edit --namespaced",
			of("operon", api, "cache", "v1", "Redis", ""),
			"operon edit --namespaced=false",
			of("kubebuilder", api, "cache", "v1", "Etcd", "--make=false"),
			"operon edit --namespaced",
			of("kubebuilder", api, "cache", "v1", "Valkey", "--make=false"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "walk")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			takeTurns(t, peer, dir, commands)
		})
	}
}

// takeTurns runs commands of Operon and of a peer, and checks the project after each.
func takeTurns(t *testing.T, program, dir string, commands []string) {
	t.Helper()
	for i, command := range commands {
		name, args, _ := strings.Cut(command, " ")
		switch name {
		case "test":
			var wanted []string
			for _, pkg := range strings.Fields(args) {
				wanted = append(wanted, "ok  \texample.com/walk/"+pkg+"\t")
			}
			runTests(t, dir, wanted)
			continue
		case "controller-gen":
			clitest.CheckControllerGen(t, dir)
			continue
		case "operon":
			clitest.MustRun(t, dir, strings.Fields(args)...)
		default:
			clitest.RunPeer(t, program, dir, strings.Fields(args)...)
		}
		clitest.MustRun(t, dir, "generate")
		clitest.CheckFormat(t, dir)
		clitest.CheckKustomizations(t, dir)
		if *clitest.Thorough || i == len(commands)-1 {
			clitest.CheckCompiles(t, dir)
		} else {
			clitest.CheckTidy(t, dir)
		}
		if t.Failed() {
			t.Fatalf("after %s", command)
		}
	}
}

// runTests runs the tests of a project with the current requirements, whose packages other tests compile, too. With -thorough, a
// project keeps its own requirements, which are compiled for minutes. Otherwise its code is only type-checked with them, and the
// tests of projects with an older layout, which don't compile with others, do not run.
func runTests(t *testing.T, dir string, wanted []string) {
	t.Helper()
	older := strings.Contains(clitest.ReadFile(t, filepath.Join(dir, "PROJECT")), "go.kubebuilder.io/v3")
	switch {
	case *clitest.Thorough:
	case older:
		clitest.CheckTypes(t, dir, ".")
		return
	default:
		clitest.CheckTypes(t, dir, ".")
		dir = clitest.CopyTree(t, dir)
		requireCurrent(t, dir)
	}
	clitest.CheckProjectTests(t, dir, []string{"./..."}, wanted...)
}

// requireCurrent gives a project the requirements of the current scaffold.
func requireCurrent(t *testing.T, dir string) {
	t.Helper()
	module, _, _ := strings.Cut(clitest.ReadFile(t, filepath.Join(dir, "go.mod")), "\n")
	_, mod, _ := strings.Cut(clitest.ReadFile(t, clitest.Testdata("memcached-operator", "go.mod")), "\n")
	clitest.WriteFile(t, filepath.Join(dir, "go.mod"), module+"\n"+mod)
	clitest.WriteFile(t, filepath.Join(dir, "go.sum"), clitest.ReadFile(t, clitest.Testdata("memcached-operator", "go.sum")))
}

// TestOperatorSDKReads checks that operator-sdk 1.42 reads the PROJECT files of Operon, unless features of newer peers are used:
// it rejects unknown keys.
func TestOperatorSDKReads(t *testing.T) {
	t.Parallel()
	program := clitest.BuildPeer(t, "peers/operator-sdk-1.42", "sigs.k8s.io/kubebuilder/v4")
	dir := filepath.Join(t.TempDir(), "ours")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"init --domain example.com --repo example.com/ours",
		"create api --group cache --version v1 --kind Memcached --resource --controller --image memcached:1.6.39-alpine",
		"create api --group cache --version v2 --kind Memcached --resource --controller=false",
		"create api --group cache --version v1 --kind Memcached --resource=false --controller --controller-name memcached-backup",
		"create api --group cache --version v1 --kind Redis --resource --controller --plural redises --namespaced=false",
		"create api --group apps --version v1 --kind Deployment --resource=false --controller",
		"create api --group apiextensions --version v1 --kind CustomResourceDefinition --resource=false --controller" +
			" --external-api-path k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 --external-api-domain k8s.io",
		"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation --validation-path /check",
		"create webhook --group cache --version v1 --kind Memcached --conversion --spoke v2",
		"edit --multigroup",
		"create api --group ship --version v1 --kind Frigate --resource --controller",
		"delete api --group ship --version v1 --kind Frigate",
	} {
		clitest.MustRun(t, dir, strings.Fields(command)...)
		// edit reads and rewrites PROJECT, and requires a Dockerfile.
		theirs := t.TempDir()
		ours := clitest.ReadFile(t, filepath.Join(dir, "PROJECT"))
		clitest.WriteFile(t, filepath.Join(theirs, "PROJECT"), ours)
		clitest.WriteFile(t, filepath.Join(theirs, "Dockerfile"), clitest.ReadFile(t, filepath.Join(dir, "Dockerfile")))
		clitest.RunPeer(t, program, theirs, "edit", fmt.Sprintf("--multigroup=%t", strings.Contains(ours, "multigroup: true")))
		if got := clitest.ReadFile(t, filepath.Join(theirs, "PROJECT")); got != ours {
			t.Errorf("after %s: PROJECT written by operator-sdk =\n%s\nwant\n%s", command, got, ours)
		}
	}
}

// TestOlderLayout runs commands of Operon and of the last kubebuilder with main.go and controllers in the root directory in turn,
// with the controller-runtime of that release.
func TestOlderLayout(t *testing.T) {
	t.Parallel()
	program := clitest.BuildPeer(t, "peers/kubebuilder-3", "sigs.k8s.io/kubebuilder/v3/cmd")
	for name, commands := range map[string][]string{
		"one group": {
			"kubebuilder create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
			"operon create api --group cache --version v1 --kind Redis --resource --controller",
			"operon create api --group cache --version v2 --kind Redis --resource --controller=false",
			"operon create api --group apps --version v1 --kind Deployment --resource=false --controller",
			"kubebuilder create api --group cache --version v1 --kind Etcd --resource --controller --make=false",
			"test controllers",
			"controller-gen",
		},
		"groups": {
			"operon create api --group ship --version v1 --kind Frigate --resource --controller --namespaced=false",
			"kubebuilder create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
			"operon create api --group cache --version v1 --kind Redis --resource --controller",
			"operon create api --group ship --version v1 --kind Kraken --resource --controller",
			"kubebuilder create api --group ship --version v1 --kind Destroyer --resource --controller --make=false",
			"test controllers/cache controllers/ship",
			"controller-gen",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "walk")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			clitest.RunPeer(t, program, dir, strings.Fields("init --plugins go/v3 --domain example.com --repo example.com/walk"+
				" --project-name walk --fetch-deps=false --skip-go-version-check")...)
			if name == "groups" {
				clitest.RunPeer(t, program, dir, "edit", "--multigroup=true")
			}
			// The module cache may not contain its old controller-runtime.
			clitest.RunGo(t, dir, nil, "mod", "download")
			takeTurns(t, program, dir, commands)
			files := clitest.ReadTree(t, dir)
			for _, dir := range []string{"cmd/", "internal/"} {
				for file := range files {
					if strings.HasPrefix(file, dir) {
						t.Errorf("%s is not part of the layout", file)
					}
				}
			}
			if name == "one group" && *clitest.Thorough {
				p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded")
				p.WaitFor("press Ctrl-C", 1)
				p.WaitFor("Starting workers", 4)
				p.Interrupt()
				p.MustEnd(0)
			}
		})
	}
}

// TestEditNamespaced changes the scope of kubebuilder projects and reverts it, with the same files as before.
func TestEditNamespaced(t *testing.T) {
	t.Parallel()
	program := clitest.BuildPeer(t, "bench/peers", "sigs.k8s.io/kubebuilder/v4")
	for name, test := range map[string]struct {
		flag      string
		first     string
		there     string
		manager   string
		role      string
		unchanged []string
	}{
		"from the cluster": {
			there: "--namespaced", first: "--namespaced=false",
			manager: "        - name: WATCH_NAMESPACE\n          valueFrom:\n", role: "Role",
		},
		"from one namespace": {
			flag: "--namespaced", there: "--namespaced=false", first: "--namespaced",
			manager: "        - name: WATCH_NAMESPACE\n          value: \"\"\n", role: "ClusterRole", unchanged: []string{"Makefile", "cmd/main.go"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "scope")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			init := "init --domain example.com --repo example.com/scope --project-name scope --fetch-deps=false --skip-go-version-check " + test.flag
			clitest.RunPeer(t, program, dir, strings.Fields(init)...)
			clitest.RunPeer(t, program, dir, strings.Fields("create api --group cache --version v1 --kind Memcached --resource --controller --make=false")...)
			requireCurrent(t, dir)
			clitest.MustRun(t, dir, "generate")
			clitest.RunGo(t, dir, nil, "mod", "tidy")
			before := clitest.CopyTree(t, dir)
			clitest.MustRun(t, dir, "edit", test.there)
			checkScope(t, dir, test.manager, test.role)
			for _, name := range test.unchanged {
				if got, want := clitest.ReadFile(t, filepath.Join(dir, name)), clitest.ReadFile(t, filepath.Join(before, name)); got != want {
					t.Errorf("%s changed:\n%s", name, clitest.DiffLines(want, got))
				}
			}
			clitest.MustRun(t, dir, "edit", test.first)
			clitest.CompareTrees(t, before, dir)
		})
	}
}

// checkScope checks a project whose manager must have the given variable and kind of role.
func checkScope(t *testing.T, dir, manager, role string) {
	t.Helper()
	clitest.CheckFormat(t, dir)
	clitest.CheckKustomizations(t, dir)
	clitest.CheckCompiles(t, dir)
	files := clitest.ReadTree(t, dir)
	for name, want := range map[string]string{
		"cmd/main.go":                   "WATCH_NAMESPACE",
		"config/manager/manager.yaml":   manager,
		"config/rbac/role.yaml":         "kind: " + role + "\n",
		"config/rbac/role_binding.yaml": "\n  kind: " + role + "\n",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not contain %q:\n%s", name, want, files[name])
		}
	}
}

// TestDeleteFirstAPI creates and deletes the first API of a kubebuilder project, and the lists of CRDs and samples with it.
func TestDeleteFirstAPI(t *testing.T) {
	t.Parallel()
	program := clitest.BuildPeer(t, "bench/peers", "sigs.k8s.io/kubebuilder/v4")
	dir := filepath.Join(t.TempDir(), "first")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.RunPeer(t, program, dir, strings.Fields("init --domain example.com --repo example.com/first --project-name first --fetch-deps=false --skip-go-version-check")...)
	clitest.RunGo(t, dir, nil, "mod", "tidy")
	before := clitest.CopyTree(t, dir)
	const memcached = " api --group cache --version v1 --kind Memcached"
	clitest.MustRun(t, dir, strings.Fields("create"+memcached+" --resource --controller")...)
	if _, err := os.Stat(filepath.Join(dir, "config", "crd", "kustomization.yaml")); err != nil {
		t.Error(err)
	}
	clitest.MustRun(t, dir, strings.Fields("delete"+memcached)...)
	// The role is generated. That of init differs from the one generated without markers.
	const role = "config/rbac/role.yaml"
	clitest.WriteFiles(t, dir, map[string]string{role: clitest.ReadFile(t, filepath.Join(before, role))})
	clitest.CompareTrees(t, before, dir)
}
