//go:build unix

package runlocal

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// TestMoleculeScenario runs the playbooks of the scenario default of the golden project, as Molecule runs them, on a control plane
// where run local runs the operator: the operator is deployed and reconciles the sample, a failing test reports why, and no file
// of the project changes. The second run of the playbooks changes nothing, also in the scenario kind.
func TestMoleculeScenario(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it starts a control plane")
	ansible.Require(t)
	program, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	dir := clitest.CopyGolden(t, "site-operator")
	before := projectFiles(t, dir)
	p := clitest.StartProcess(t, dir, []string{clitest.RuntimeVariable + "=" + program}, "run", "local", "--control-plane", "embedded")
	c := p.Cluster()
	p.WaitFor("press Ctrl-C", 1)

	inventories := map[string]string{"default": moleculeInventory(t, dir, "default"), "kind": moleculeInventory(t, dir, "kind")}
	tools := t.TempDir() // in place of the programs that the scenario kind calls
	calls := filepath.Join(tools, "calls")
	for _, name := range []string{"docker", "kind"} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\n[ \"$1\" = save ] && echo \"$2\" && exit\necho "+name+" \"$@\" >> "+calls+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(playbook string) (string, error) {
		scenario, name := filepath.Split(playbook)
		if scenario == "" {
			scenario = "default"
		}
		c := exec.Command("ansible-playbook", "-i", inventories[filepath.Clean(scenario)], filepath.Join(dir, "molecule", scenario, name))
		c.Env = append(os.Environ(), "K8S_AUTH_KUBECONFIG="+filepath.Join(dir, ".operon", "kubeconfig"), "OPERATOR_IMAGE=example.com/site:v1",
			"OPERATOR_PULL_POLICY=IfNotPresent", "TEST_OPERATOR_NAMESPACE=site-test", "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCAL_TEMP="+t.TempDir(),
			"PATH="+tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	for _, playbook := range []string{"create.yml", "prepare.yml", "converge.yml", "kind/converge.yml", "verify.yml"} {
		if out, err := run(playbook); err != nil {
			t.Fatalf("%s: %v\n%s", playbook, err, out)
		}
	}
	for _, playbook := range []string{"converge.yml", "kind/converge.yml"} { // as Molecule tests idempotence
		if out, err := run(playbook); err != nil || !strings.Contains(out, " changed=0 ") {
			t.Errorf("%s again: %v, want no changes\n%s", playbook, err, out)
		}
	}
	archive := filepath.Join(filepath.Dir(inventories["kind"]), "image.tar")
	want := "docker build -t example.com/site:v1 " + dir + "\nkind load image-archive --name osdk-test " + archive + "\n"
	if got := clitest.ReadFile(t, calls); got != want+want {
		t.Errorf("the scenario kind calls\n%s\nwant\n%s", got, want)
	}
	if got := clitest.ReadFile(t, archive); got != "example.com/site:v1\n" {
		t.Errorf("the archive of the image contains %q", got)
	}
	const container = "-o=jsonpath={.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].imagePullPolicy}"
	c.Must("example.com/site:v1 IfNotPresent", "get", "deployment/osdk-controller-manager", "-n", "site-test", container)

	test := filepath.Join(dir, "molecule", "default", "tasks", "site_test.yml")
	clitest.EditFile(t, dir, "molecule/default/tasks/site_test.yml", "== 'Hello'", "== 'Good day'")
	out, err := run("verify.yml")
	if err == nil {
		t.Errorf("a wrong test passes:\n%s", out)
	}
	for _, want := range []string{"Print the log of the operator", "osdk-controller-manager", "Test the pages: "} {
		if !strings.Contains(out, want) {
			t.Errorf("the failure does not contain %q:\n%s", want, out)
		}
	}
	clitest.WriteFile(t, test, before["molecule/default/tasks/site_test.yml"])

	if out, err := run("destroy.yml"); err != nil {
		t.Fatalf("destroy.yml: %v\n%s", err, out)
	}
	c.Must("", "get", "namespace", "site-test", "--ignore-not-found")
	p.Interrupt()
	p.MustEnd(0)
	if after := projectFiles(t, dir); !maps.Equal(before, after) {
		t.Errorf("files of the project have changed: %v", after)
	}
}

// projectFiles returns the files of a project without the ones that run local writes.
func projectFiles(t *testing.T, dir string) map[string]string {
	files := clitest.ReadTree(t, dir)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, ".operon/") })
	return files
}

// moleculeInventory writes the inventory of a scenario, as Molecule does, and returns its path. It is in the temporary directory of the
// scenario.
func moleculeInventory(t *testing.T, dir, scenario string) string {
	t.Helper()
	temp := t.TempDir()
	text := strings.NewReplacer("${MOLECULE_PROJECT_DIRECTORY}", dir, "${MOLECULE_EPHEMERAL_DIRECTORY}", temp).
		Replace(clitest.ReadFile(t, filepath.Join(dir, "molecule", scenario, "molecule.yml")))
	var config struct {
		Provisioner struct {
			Inventory struct {
				HostVars map[string]map[string]any `yaml:"host_vars"`
			}
		}
	}
	if err := safeyaml.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	inventory, err := json.Marshal(map[string]any{"all": map[string]any{"hosts": config.Provisioner.Inventory.HostVars}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(temp, "hosts.yml")
	clitest.WriteFile(t, name, string(inventory))
	return name
}
