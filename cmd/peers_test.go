//go:build unix

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildPeer builds the kubebuilder that the module in a folder of testdata requires; the module and the
// build cache make that cheap the second time.
func buildPeer(t *testing.T, folder, pkg string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "kubebuilder.exe")
	goRun(t, filepath.Join(goldenDir, filepath.FromSlash(folder)), []string{"GOFLAGS=-mod=readonly"},
		"build", "-o", program, pkg)
	return program
}

// peer runs a peer's command in a project.
func peer(t *testing.T, program, dir string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("kubebuilder %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestKubebuilder hands a project from one to the other after every step from init to groups. Each
// continues what the other wrote, in the same files.
func TestKubebuilder(t *testing.T) {
	t.Parallel()
	program := buildPeer(t, "bench/peers", "sigs.k8s.io/kubebuilder/v4")
	const api, webhook = " create api --group %s --version %s --kind %s --resource --controller", " create webhook --group %s --version %s --kind %s"
	of := func(who, command, group, version, kind, more string) string {
		return who + fmt.Sprintf(command, group, version, kind) + " " + more
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
			takeTurns(t, program, dir, commands)
			goRun(t, dir, nil, "build", "./...")
			goRun(t, dir, nil, "vet", "-tags=e2e", "./...")
		})
	}
}

// takeTurns runs commands of Operon and of a peer in turn, and holds after each that the project is whole.
func takeTurns(t *testing.T, program, dir string, commands []string) {
	t.Helper()
	for _, command := range commands {
		who, args, _ := strings.Cut(command, " ")
		switch who {
		case "test":
			testOnControlPlane(t, dir, strings.Fields(args)...)
			continue
		case "controller-gen":
			checkControllerGen(t, dir)
			continue
		case "operon":
			operon(t, dir, strings.Fields(args)...)
		default:
			peer(t, program, dir, strings.Fields(args)...)
		}
		operon(t, dir, "generate")
		checkFormat(t, dir)
		checkKustomizations(t, dir)
		goRun(t, dir, nil, "mod", "tidy", "-diff")
		goRun(t, dir, nil, "vet", "./...")
		if t.Failed() {
			t.Fatalf("after %s", command)
		}
	}
}

// testOnControlPlane runs a project's own tests on real API servers, one at a time, and holds that those of
// the named packages are not empty.
func testOnControlPlane(t *testing.T, dir string, packages ...string) {
	t.Helper()
	assets, err := controlPlaneAssets()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"KUBEBUILDER_ASSETS=" + assets.Dir, "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m"}
	out := goRun(t, dir, env, "test", "-p", "1", "./...")
	for _, pkg := range packages {
		if !strings.Contains(out, "ok  \texample.com/walk/"+pkg+"\t") {
			t.Errorf("no tests of %s ran:\n%s", pkg, out)
		}
	}
}

// TestOperatorSDKReads holds that operator-sdk 1.42 reads the PROJECT file of whatever Operon makes, as long
// as nobody asks for what only newer peers know: its reader refuses every key that it does not know.
func TestOperatorSDKReads(t *testing.T) {
	t.Parallel()
	program := buildPeer(t, "peers/operator-sdk-1.42", "sigs.k8s.io/kubebuilder/v4")
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
		operon(t, dir, strings.Fields(command)...)
		// Editing reads PROJECT, writes it anew, and touches the Dockerfile besides.
		theirs := t.TempDir()
		ours := read(t, filepath.Join(dir, "PROJECT"))
		write(t, filepath.Join(theirs, "PROJECT"), ours)
		write(t, filepath.Join(theirs, "Dockerfile"), read(t, filepath.Join(dir, "Dockerfile")))
		peer(t, program, theirs, "edit", fmt.Sprintf("--multigroup=%t", strings.Contains(ours, "multigroup: true")))
		if got := read(t, filepath.Join(theirs, "PROJECT")); got != ours {
			t.Errorf("after %s, operator-sdk makes of PROJECT\n%s\nwhich was\n%s", command, got, ours)
		}
	}
}

// TestOlderLayout continues projects of the last kubebuilder that has main.go and the controllers at the
// root, with the controller-runtime of its days, and hands them back to it.
func TestOlderLayout(t *testing.T) {
	t.Parallel()
	program := buildPeer(t, "peers/kubebuilder-3", "sigs.k8s.io/kubebuilder/v3/cmd")
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
			peer(t, program, dir, strings.Fields("init --plugins go/v3 --domain example.com --repo example.com/walk"+
				" --project-name walk --fetch-deps=false --skip-go-version-check")...)
			if name == "groups" {
				peer(t, program, dir, "edit", "--multigroup=true")
			}
			// Its controller-runtime is older than all that the machine may have by now.
			goRun(t, dir, nil, "mod", "download")
			takeTurns(t, program, dir, commands)
			goRun(t, dir, nil, "build", "./...")
			files := readTree(t, dir)
			for _, folder := range []string{"cmd/", "internal/"} {
				for file := range files {
					if strings.HasPrefix(file, folder) {
						t.Errorf("%s does not belong to the layout", file)
					}
				}
			}
			if name == "one group" {
				p := startLocal(t, dir, nil, "run", "local", "--control-plane", "embedded")
				p.waitFor("press Ctrl-C", 1)
				p.waitFor("Starting workers", 4)
				p.interrupt()
				p.ends(0)
			}
		})
	}
}
