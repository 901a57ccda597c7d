package golden

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// TestGoldenAnsibleTree checks that a golden Ansible project has all files of operator-sdk's projects, and the same PROJECT.
func TestGoldenAnsibleTree(t *testing.T) {
	t.Parallel()
	files := clitest.ReadTree(t, clitest.Testdata("site-operator"))
	renamed := strings.NewReplacer("cache.example.com_memcacheds", "web.example.com_sites", "cache_v1alpha1_memcached", "web_v1alpha1_site",
		"memcached-operator", "site-operator", "memcached", "site", "Memcached", "Site", "group: cache", "group: web")
	for name := range strings.FieldsSeq(clitest.ReadFile(t, filepath.Join("testdata", "ansible-operator.txt"))) {
		if _, ok := files[renamed.Replace(name)]; !ok {
			t.Errorf("%s is missing", renamed.Replace(name))
		}
	}
	if want := renamed.Replace(clitest.ReadFile(t, filepath.Join("testdata", "ansible-operator.PROJECT"))); files["PROJECT"] != want {
		t.Errorf("PROJECT is\n%s\nwant\n%s", files["PROJECT"], want)
	}
}

// TestGoldenAnsibleSyntax checks the playbooks, roles and tests of a golden Ansible project, and of a new one, with Ansible.
func TestGoldenAnsibleSyntax(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs Ansible")
	ansible.Require(t)
	fresh := clitest.NewProject(t, "init --plugins ansible --domain example.com --group cache --version v1alpha1 --kind Memcached --generate-role --generate-playbook",
		"create api --group cache --version v1alpha1 --kind Redis --generate-playbook")
	for name, dir := range map[string]string{"golden": clitest.CopyGolden(t, "site-operator"), "new": fresh} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkSyntax(t, dir)
			checkOverlay(t, dir)
		})
	}
}

// checkSyntax runs ansible-playbook --syntax-check for all playbooks of a project.
func checkSyntax(t *testing.T, dir string) {
	t.Helper()
	var playbooks []string
	for _, pattern := range []string{"playbooks/*.yml", "molecule/*/*.yml"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if filepath.Base(name) != "molecule.yml" { // the configuration of Molecule
				playbooks = append(playbooks, name)
			}
		}
	}
	if len(playbooks) < 10 {
		t.Fatalf("found only %d playbooks", len(playbooks))
	}
	tests, err := filepath.Glob(filepath.Join(dir, "molecule/default/tasks/*_test.yml"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("found no tests (%v)", err)
	}
	// Files of tasks are checked in a playbook that imports them.
	var all strings.Builder
	all.WriteString("- hosts: localhost\n  tasks:\n")
	for _, name := range tests {
		all.WriteString("    - ansible.builtin.import_tasks: " + name + "\n")
	}
	imports := filepath.Join(t.TempDir(), "tests.yml")
	if err := os.WriteFile(imports, []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	runAnsible(t, dir, append([]string{"--syntax-check", imports}, playbooks...)...)
}

// checkOverlay builds the manifests of the Molecule scenarios, as they do, and checks that no file of the project changes.
func checkOverlay(t *testing.T, dir string) {
	t.Helper()
	before := clitest.ReadTree(t, dir)
	temp := t.TempDir()
	output := filepath.Join(temp, "manifests.yaml")
	print := "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.copy:\n        dest: " + output +
		"\n        content: \"{{ manifests | to_nice_yaml }}\"\n"
	playbook := filepath.Join(temp, "print.yml")
	if err := os.WriteFile(playbook, []byte(print), 0o644); err != nil {
		t.Fatal(err)
	}
	runAnsible(t, dir, "-e", "namespace=test-ns", "-e", "config_dir="+dir+"/config", "-e", "overlay_dir="+temp+"/overlay",
		"-e", "operator_image=registry.example.com:5000/site@sha256:12", "-e", "operator_pull_policy=Never", "-e", `{"kustomize": "operon tool kustomize"}`,
		filepath.Join(dir, "molecule/default/kustomize.yml"), playbook)
	manifests := clitest.ReadFile(t, output)
	for _, want := range []string{"image: registry.example.com:5000/site@sha256:12", "imagePullPolicy: Never", "namespace: test-ns", "--health-probe-bind-address=:6789", "ANSIBLE_DEBUG_LOGS"} {
		if !strings.Contains(manifests, want) {
			t.Errorf("the manifests lack %q:\n%s", want, manifests)
		}
	}
	if strings.Contains(manifests, "osdk-test") {
		t.Error("the manifests have the default namespace")
	}
	if !maps.Equal(before, clitest.ReadTree(t, dir)) {
		t.Error("files of the project have changed")
	}
}

// runAnsible runs ansible-playbook in a project.
func runAnsible(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("ansible-playbook", append([]string{"-i", "localhost,", "-c", "local"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "ANSIBLE_ROLES_PATH="+filepath.Join(dir, "roles"), "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCAL_TEMP="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("ansible-playbook %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestGoldenPlatforms checks that projects without Go code build their images for the platforms of Operon's base images.
func TestGoldenPlatforms(t *testing.T) {
	t.Parallel()
	architectures := regexp.MustCompile(`(?m)^IMAGE_ARCHITECTURES := (.*)$`).FindStringSubmatch(clitest.ReadFile(t, clitest.Testdata("../Makefile")))
	if architectures == nil {
		t.Fatal("the Makefile of Operon has no IMAGE_ARCHITECTURES")
	}
	want := "PLATFORMS ?= linux/" + strings.Join(strings.Fields(architectures[1]), ",linux/")
	for _, name := range []string{"site-operator", "shop-operator"} {
		if lines := strings.Split(clitest.ReadFile(t, clitest.Testdata(name+"/Makefile")), "\n"); !slices.Contains(lines, want) {
			t.Errorf("the Makefile of %s lacks %q", name, want)
		}
	}
}
