package ansiblerole

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// Ansible runs the role of testdata/suffices with the permissions that are derived from it, and fails without one of them.
func TestRoleSuffices(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it starts Ansible and a control plane")
	}
	ansible.Require(t)
	startServer(t)
	dir := filepath.Join("testdata", "suffices")
	files := Files{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	definition := crd.Definition{
		Group: "suffices.example.com", Kind: "Suffices", Plural: "suffices", Versions: []crd.Version{{Name: "v1", Spec: map[string]any{"type": "object"}}},
		Status: map[string]any{"type": "object", preserveUnknown: true},
	}
	manifest, err := definition.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := safeyaml.UnmarshalJSON(manifest, &object); err != nil {
		t.Fatal(err)
	}
	serve(t, object, "/apis/suffices.example.com/v1/namespaces/default/suffices")
	rules, notes := Rules(files, []API{{Group: definition.Group, Version: "v1", Kind: definition.Kind, Plural: definition.Plural, Watch: Watch{Role: "app"}}})
	if len(notes) > 0 {
		t.Errorf("notes: %v", notes)
	}
	if out, err := playRole(t, "allowed", rules); err != nil {
		t.Fatalf("Ansible needs more than the derived permissions: %v\n%s", err, out)
	}
	// The test would find a missing permission.
	permissions := rbac.Permissions{}
	for _, r := range rules {
		permissions.AddRule(r)
	}
	delete(permissions, rbac.Target{Resource: "configmaps"})
	if out, err := playRole(t, "denied", permissions.Rules()); err == nil || !strings.Contains(out, "orbidden") {
		t.Errorf("without permissions for ConfigMaps: %v\n%s", err, out)
	}
}

// playRole runs the role in a namespace as a service account with rules.
func playRole(t *testing.T, namespace string, rules []rbac.Rule) (out string, err error) {
	t.Helper()
	create := func(path string, object map[string]any) map[string]any {
		status, answer := request(t, "POST", path, object)
		if status != http.StatusCreated {
			t.Fatalf("%s: %v", path, answer["message"])
		}
		return answer
	}
	named := func(kind string, more map[string]any) map[string]any {
		object := map[string]any{"kind": kind, "metadata": map[string]any{"name": "suffices-" + namespace}}
		for key, v := range more {
			object[key] = v
		}
		return object
	}
	rbacPath := "/apis/rbac.authorization.k8s.io/v1/"
	create("/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": namespace}})
	create("/api/v1/namespaces/"+namespace+"/serviceaccounts", map[string]any{"metadata": map[string]any{"name": "manager"}})
	create(rbacPath+"clusterroles", named("ClusterRole", map[string]any{"rules": rules}))
	create(rbacPath+"clusterrolebindings", named("ClusterRoleBinding", map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "suffices-" + namespace},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "manager", "namespace": namespace}},
	}))
	create("/apis/suffices.example.com/v1/namespaces/"+namespace+"/suffices", map[string]any{
		"apiVersion": "suffices.example.com/v1", "kind": "Suffices", "metadata": map[string]any{"name": "a"},
	})
	answer := create("/api/v1/namespaces/"+namespace+"/serviceaccounts/manager/token", map[string]any{})
	token, _ := answer["status"].(map[string]any)["token"].(string)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := write("ca.crt", string(plane.control.CAData))
	kubeconfig := write("kubeconfig", fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": %q, "certificate-authority": %q}}],
"users": [{"name": "c", "user": {"token": %q}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "c", "namespace": %q}}]}`, plane.control.URL, ca, token, namespace))
	playbook := write("playbook.yml", "- {hosts: localhost, connection: local, gather_facts: false, roles: [app]}\n")
	absolute := func(parts ...string) string {
		path, err := filepath.Abs(filepath.Join(parts...))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	cmd := exec.CommandContext(t.Context(), "ansible-playbook", "-i", "localhost,", "-e",
		fmt.Sprintf(`{"ansible_operator_meta": {"name": "a", "namespace": %q}, "ansible_python_interpreter": "/usr/bin/python3"}`, namespace), playbook)
	cmd.Env = append(os.Environ(), "K8S_AUTH_KUBECONFIG="+kubeconfig, "KUBECONFIG="+kubeconfig, "HOME="+dir, "ANSIBLE_PIPELINING=true", "ANSIBLE_LOCAL_TEMP="+dir, "ANSIBLE_REMOTE_TEMP="+dir,
		"ANSIBLE_ROLES_PATH="+absolute("testdata", "suffices", "roles"),
		"ANSIBLE_COLLECTIONS_PATH="+absolute("..", "..", "testdata", "ansible", "collections")+string(filepath.ListSeparator)+"/usr/lib/python3/dist-packages")
	data, err := cmd.CombinedOutput()
	return string(data), err
}
