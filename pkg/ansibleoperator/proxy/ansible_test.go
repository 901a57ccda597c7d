package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// command returns a command with the kubeconfig of a run of the owner of the test, and an empty home and temporary directory.
func (e *env) command(settings proxy.Settings, name string, args ...string) *exec.Cmd {
	e.Helper()
	kubeconfig, release, err := e.proxy.Register(e.owner, settings)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(release)
	dir := e.TempDir()
	file := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		e.Fatal(err)
	}
	c := exec.CommandContext(e.Context(), name, args...)
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C.UTF-8", "KUBECONFIG=" + file, "K8S_AUTH_KUBECONFIG=" + file, "ANSIBLE_LOCALHOST_WARNING=false"}
	return c
}

// TestAnsible runs the modules of kubernetes.core against the proxy.
func TestAnsible(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	ansible.Require(t)
	r := &requeues{namespace: e.namespace}
	barrier := e.newBarrier(r.settings())
	parent := e.create(e.client, e.configMapText("parent"))
	for _, round := range []string{"1", "2"} {
		c := e.command(r.settings(), "/usr/bin/ansible-playbook", "-i", "localhost,", "-c", "local", "-e", "ansible_python_interpreter=/usr/bin/python3",
			"-e", "ns="+e.namespace, "-e", "parent="+string(parent.GetUID()), "-e", "round="+round, filepath.Join("testdata", "playbook.yml"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if changed := !strings.Contains(string(out), "changed=0 "); changed != (round == "1") {
			t.Errorf("run %s:\n%s", round, out)
		}
		for _, name := range []string{"present", "applied", "forced", "merged"} {
			e.wantOwner(e.configMap(name))
		}
		e.wantOwners(e.configMap("other"), "ConfigMap/parent", "App/one")
		e.wantAnnotations(e.get("v1", "Namespace", "", e.namespace+"-ansible"))
		e.wantOwner(e.get("apps/v1", "Deployment", e.namespace, "scaled"))
	}
	// The runs require no further run.
	barrier.wait(e, r)
	if u := e.configMap("forced"); u.Object["data"].(map[string]any)["a"] != "2" {
		t.Errorf("%v is not replaced", u)
	}
}

// TestPythonClient uses the Kubernetes client of Python.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	ansible.Require(t)
	out, err := e.command(proxy.Settings{}, "/usr/bin/python3", filepath.Join("testdata", "client.py"), e.namespace).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "done ") {
		t.Fatalf("%v\n%s", err, out)
	}
	e.wantOwner(e.configMap("python"))
	e.wantOwner(e.configMap("python-applied"))
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("v1")
	list.SetKind("ConfigMapList")
	if err := e.client.List(t.Context(), list, client.InNamespace(e.namespace)); err != nil {
		t.Fatal(err)
	}
	watched := 0
	for _, u := range list.Items {
		if strings.HasPrefix(u.GetName(), "python-watched-") {
			e.wantOwner(&u)
			watched++
		}
	}
	if watched != 1 {
		t.Errorf("%d watched objects", watched)
	}
}
