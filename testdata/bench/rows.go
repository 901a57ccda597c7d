package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-sdk/operon/testdata/cases"
)

// many is the number of APIs in the project of the last rows.
const many = 50

// memcachedTypes is the file with the types of the golden memcached project.
const memcachedTypes = "api/v1alpha1/memcached_types.go"

// buildPeers builds the tools of peers/go.mod.
func buildPeers(to string) (string, error) {
	c := exec.Command("go", "build", "-o", to+string(filepath.Separator),
		"sigs.k8s.io/kubebuilder/v4", "sigs.k8s.io/controller-tools/cmd/controller-gen", "sigs.k8s.io/kustomize/kustomize/v5")
	c.Dir = filepath.Join("testdata", "bench", "peers")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return to, c.Run()
}

func (b *bench) rows() []row {
	peer := func(name string) string { return filepath.Join(b.peers, name) }
	initialize := []string{"init", "--domain", "example.com", "--repo", "example.com/bench", "--project-name", "bench"}
	create := func(kind string) []string {
		return []string{"create", "api", "--group", "cache", "--version", "v1", "--kind", kind, "--resource", "--controller"}
	}
	webhook := []string{
		"create", "webhook", "--group", "cache", "--version", "v1", "--kind", kindName(0),
		"--defaulting", "--programmatic-validation",
	}
	kindTypes, kindHead := "api/v1/"+strings.ToLower(kindName(0))+"_types.go", "type "+kindName(0)+"Spec struct {\n"
	object := command{peer("controller-gen"), "object:headerFile=hack/boilerplate.go.txt", "paths=./..."}
	manifests := command{peer("controller-gen"), "rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}
	bundle := command{b.operon, "bundle", "--version", "0.0.1"}
	streamed := command{"sh", "-c", "exec " + b.operon + " generate bundle --package bench --version 0.0.1 --stdout <" + streamFile + " >/dev/null"}
	steps := []command{ // as in make bundle
		object, manifests,
		{b.operon, "generate", "kustomize", "manifests", "--interactive=false"},
		{"sh", "-c", peer("kustomize") + " build config/manifests | " + b.operon + " generate bundle --version 0.0.1"},
	}
	project := func(apis int) func(string) error {
		return func(dir string) error {
			// It is the same project each time: made once, copied from then on.
			made := filepath.Join(b.dir, fmt.Sprintf("project-%d", apis))
			if _, err := os.Stat(made); err == nil {
				return os.CopyFS(dir, os.DirFS(made))
			}
			if _, err := b.exec(dir, append(command{b.operon}, initialize...), ""); err != nil {
				return err
			}
			for i := range apis {
				if _, err := b.exec(dir, append(command{b.operon}, create(kindName(i))...), ""); err != nil {
					return err
				}
			}
			return os.CopyFS(made, os.DirFS(dir))
		}
	}
	memcached := func(dir string) error {
		if _, err := b.exec(dir, append(command{b.operon}, initialize...), ""); err != nil {
			return err
		}
		_, err := b.exec(dir, append(append(command{b.operon}, create("Memcached")...), "--image", "memcached:1.6.39-alpine"), "")
		return err
	}
	golden := func(dir string) error {
		return os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "memcached-operator")))
	}
	ledger, err := filepath.Abs(filepath.Join("testdata", "charts", "ledger"))
	if err != nil {
		ledger = err.Error() // the command fails with it
	}
	helmInit := []string{"init", "--plugins", "helm", "--domain", "example.com", "--project-name", "bench"}
	helmCreate := []string{"create", "api", "--group", "storage", "--version", "v1", "--kind", "Ledger", "--helm-chart", ledger}
	ansibleInit := []string{"init", "--plugins", "ansible", "--domain", "example.com", "--project-name", "bench"}
	ansibleCreate := []string{"create", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--generate-role", "--generate-playbook"}
	commands := func(list ...[]string) func(string) error {
		return func(dir string) error {
			for _, args := range list {
				if _, err := b.exec(dir, append(command{b.operon}, args...), ""); err != nil {
					return err
				}
			}
			return nil
		}
	}
	rows := []row{
		{name: "version", goal: 18 * time.Millisecond, operon: []command{{b.operon, "version"}}, peer: []command{{peer("kubebuilder"), "version"}}},
		{
			name:    "init",
			prepare: func(string) error { return nil },
			operon:  []command{append(command{b.operon}, initialize...)},
			peer:    []command{append(command{peer("kubebuilder")}, initialize...)},
		},
		{
			name:    "create api",
			goal:    250 * time.Millisecond,
			prepare: project(0),
			operon:  []command{append(command{b.operon}, create("Memcached{new}")...)},
			peer:    []command{append(append(command{peer("kubebuilder")}, create("Memcached{new}")...), "--make=false"), object, manifests},
		},
		{
			name:    "create webhook",
			goal:    500 * time.Millisecond,
			prepare: project(1),
			operon:  []command{append(command{b.operon}, webhook...)},
			peer:    []command{append(append(command{peer("kubebuilder")}, webhook...), "--make=false"), object, manifests},
		},
		{
			name: "generate after a change", goal: 250 * time.Millisecond, change: b.changed(project(1), kindTypes, kindHead),
			operon: []command{{b.operon, "generate"}}, peer: []command{object, manifests},
		},
		{
			name: "generate, nothing changed", goal: 30 * time.Millisecond, change: b.prepared(project(1)),
			operon: []command{{b.operon, "generate"}}, peer: []command{object, manifests},
		},
		{
			name: "bundle after a change", goal: 350 * time.Millisecond, change: b.changed(golden, memcachedTypes, "type MemcachedSpec struct {\n"),
			operon: []command{bundle}, peer: steps,
		},
		{
			name: "bundle, nothing changed", goal: 50 * time.Millisecond, change: b.prepared(golden),
			operon: []command{bundle}, peer: steps,
		},
		{
			name: "create api, Helm, from a local chart", prepare: commands(helmInit),
			operon: []command{append(command{b.operon}, append(helmCreate, "--kind", "Ledger{new}")...)},
		},
		{
			name: "generate, Helm, nothing changed", change: b.prepared(commands(helmInit, helmCreate)),
			operon: []command{{b.operon, "generate"}},
		},
		{
			name: "create api, Ansible, with a role", goal: 250 * time.Millisecond, prepare: commands(ansibleInit),
			operon: []command{append(command{b.operon}, append(ansibleCreate, "--kind", "Memcached{new}")...)},
		},
		{
			name: "generate, Ansible, nothing changed", goal: 50 * time.Millisecond, change: b.prepared(commands(ansibleInit, ansibleCreate)),
			operon: []command{{b.operon, "generate"}},
		},
		// The second of these shall take twice what the first does.
		{name: "bundle from 150 CRDs, 5,000 objects", prepare: stream(150, 5_000), operon: []command{streamed}},
		{name: "bundle from 300 CRDs, 10,000 objects", prepare: stream(300, 10_000), operon: []command{streamed}},
		{
			name: "bundle validate, 1000 bundles in one call", change: bundles(1000),
			operon: []command{{"sh", "-c", b.operon + " bundle validate bundles/*"}},
		},
		{
			name: "bundle validate, 50 bundles, or 50 calls", change: bundles(50),
			operon: []command{{"sh", "-c", b.operon + " bundle validate bundles/*"}},
			peer:   []command{{"sh", "-c", "for d in bundles/*; do " + b.operon + " bundle validate $d || exit; done"}},
		},
		{
			name: fmt.Sprintf("create api, number %d", many), goal: 250 * time.Millisecond, prepare: project(many - 1),
			operon: []command{append(command{b.operon}, create("Memcached{new}")...)},
		},
		{
			name: fmt.Sprintf("generate after a change, %d APIs", many), goal: 250 * time.Millisecond,
			change: b.changed(project(many), kindTypes, kindHead),
			operon: []command{{b.operon, "generate"}}, peer: []command{object, manifests},
		},
		{
			name: fmt.Sprintf("edit --multigroup, %d APIs", many), prepare: project(many),
			operon: []command{{b.operon, "edit", "--multigroup"}},
		},
		{
			name: "kustomize build config/default", change: b.prepared(project(1)),
			operon: []command{{b.operon, "tool", "kustomize", "build", "config/default"}},
			peer:   []command{{peer("kustomize"), "build", "config/default"}},
		},
		{
			name: "run local, to the first reconcile", goal: 2500 * time.Millisecond, change: b.prepared(memcached), until: `"reason": "Created"`,
			operon: []command{{b.operon, "run", "local", "--control-plane", "embedded", "--samples"}},
		},
	}
	return append(rows, b.testRows(golden)...)
}

// kindName returns a kind for a number: KindAa, KindAb, …
func kindName(i int) string {
	return "Kind" + string(rune('A'+i/26)) + string(rune('a'+i%26))
}

// bundles creates n copies of a recorded bundle at a side's first run.
func bundles(n int) func(string, int) error {
	return func(dir string, _ int) error {
		to := filepath.Join(dir, "bundles")
		if _, err := os.Stat(to); err == nil {
			return nil
		}
		good, err := cases.Read("validate/01-good")
		if err != nil {
			return err
		}
		for i := range n {
			if err := os.CopyFS(filepath.Join(to, fmt.Sprint(i)), good.FS("tree/bundle")); err != nil {
				return err
			}
		}
		return nil
	}
}

// prepared creates the project at a side's first run.
func (b *bench) prepared(prepare func(string) error) func(string, int) error {
	return func(dir string, _ int) error {
		if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err == nil {
			return nil
		}
		return prepare(dir)
	}
}

// changed creates the project at a side's first run, and adds a field to a type at each run.
func (b *bench) changed(prepare func(string) error, file, head string) func(string, int) error {
	return func(dir string, round int) error {
		if err := b.prepared(prepare)(dir, round); err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(file))
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		// Results are cached, so the change differs from that of any earlier run.
		extra := fmt.Sprintf("%d_%d", b.start, round)
		field := fmt.Sprintf("\t// Extra%[1]s is here to be generated.\n\t// +optional\n\tExtra%[1]s []string `json:\"extra%[1]s,omitempty\"`\n", extra)
		return os.WriteFile(name, []byte(strings.Replace(string(text), head, head+field, 1)), 0o644)
	}
}
