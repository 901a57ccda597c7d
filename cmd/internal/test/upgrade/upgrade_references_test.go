package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// deleted in place of an old text deletes the file.
const deleted = "\x00"

// referenceEdits are pairs of old and new texts, after which names in a project differ from the scaffold's, by file; "" means all files in
// config. An empty old text adds the file.
var referenceEdits = map[string]map[string][]string{
	"as scaffolded":        {},
	"account":              {"": {"serviceAccountName: controller-manager", "serviceAccountName: site-manager", "- kind: ServiceAccount\n  name: controller-manager\n", "- kind: ServiceAccount\n  name: site-manager\n"}, "config/rbac/service_account.yaml": {"name: controller-manager", "name: site-manager"}},
	"other account":        {"config/manager/manager.yaml": {"serviceAccountName: controller-manager", "serviceAccountName: site-manager"}, "config/rbac/kustomization.yaml": {"- service_account.yaml", "- account.yaml"}, "config/rbac/service_account.yaml": {deleted, ""}, "config/rbac/account.yaml": {"", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: site-manager\n  namespace: system\n"}, "": {"- kind: ServiceAccount\n  name: controller-manager\n", "- kind: ServiceAccount\n  name: site-manager\n"}},
	"default":              {"config/manager/manager.yaml": {"      serviceAccountName: controller-manager\n", ""}, "config/rbac/kustomization.yaml": {"- service_account.yaml\n", ""}, "config/rbac/service_account.yaml": {deleted, ""}, "": {"- kind: ServiceAccount\n  name: controller-manager\n", "- kind: ServiceAccount\n  name: default\n"}},
	"roles":                {"": {"name: manager-role\n", "name: site-role\n", "name: leader-election-role\n", "name: site-election\n", "name: proxy-role\n", "name: site-proxy\n"}},
	"no prefix":            {"config/default/kustomization.yaml": {"namePrefix: web-operator-\n", "", "namespace: web-operator-system\n", "namespace: sites\n"}},
	"labels":               {"": {"control-plane: controller-manager", "app: sites"}},
	"deployment":           {"config/manager/manager.yaml": {"kind: Deployment\nmetadata:\n  name: controller-manager\n", "kind: Deployment\nmetadata:\n  name: site-manager\n"}, "config/default/manager_auth_proxy_patch.yaml": {"  name: controller-manager\n", "  name: site-manager\n"}, "config/testing/manager_image.yaml": {"  name: controller-manager\n", "  name: site-manager\n"}, "config/testing/debug_logs_patch.yaml": {"  name: controller-manager\n", "  name: site-manager\n"}, "config/testing/pull_policy/Never.yaml": {"  name: controller-manager\n", "  name: site-manager\n"}},
	"without proxy":        {"config/rbac/kustomization.yaml": {"- auth_proxy_service.yaml\n", "", "- auth_proxy_role.yaml\n", "", "- auth_proxy_role_binding.yaml\n", "", "- auth_proxy_client_clusterrole.yaml\n", ""}},
	"labels without proxy": {"": {"control-plane: controller-manager", "app: sites"}, "config/rbac/auth_proxy_service.yaml": {deleted, ""}, "config/rbac/kustomization.yaml": {"- auth_proxy_service.yaml\n", "", "- auth_proxy_role.yaml\n", "", "- auth_proxy_role_binding.yaml\n", "", "- auth_proxy_client_clusterrole.yaml\n", ""}},
}

// TestUpgradeReferences upgrades projects whose names differ from the scaffold's: everything that the new files refer to exists.
func TestUpgradeReferences(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"helm_upgrade", "ansible_upgrade"} {
		for name, edits := range referenceEdits {
			t.Run(script+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := unpackScript(t, script)
				editReferences(t, dir, edits)
				before := referenceProblems(t, dir)
				if len(before) > 0 {
					t.Fatalf("the edits are wrong: %q", before)
				}
				out := clitest.MustRun(t, dir, "upgrade")
				if !strings.Contains(out, "created  config/rbac/metrics_auth_role_binding.yaml") {
					t.Errorf("the binding isn't added:\n%s", out)
				}
				if problems := referenceProblems(t, dir); len(problems) > 0 {
					t.Errorf("%s", strings.Join(problems, "\n"))
				}
			})
		}
	}
}

// unpackScript writes the project web-operator of a script.
func unpackScript(t *testing.T, script string) string {
	t.Helper()
	archive, err := txtar.ParseFile(clitest.Testdata("script", script+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "web-operator/"); ok {
			files[name] = string(f.Data)
		}
	}
	dir := filepath.Join(t.TempDir(), "web-operator")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFiles(t, dir, files)
	return dir
}

func editReferences(t *testing.T, dir string, edits map[string][]string) {
	t.Helper()
	for name, text := range clitest.ReadTree(t, dir) {
		if !strings.HasPrefix(name, "config/") || strings.HasPrefix(name, "config/manifests/bases") {
			continue
		}
		for _, key := range []string{name, ""} {
			pairs := edits[key]
			for i := 0; i+1 < len(pairs); i += 2 {
				if pairs[i] != deleted {
					text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
					continue
				}
				if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
				text = ""
			}
		}
		if text != "" {
			clitest.WriteFiles(t, dir, map[string]string{name: text})
		}
	}
	for name, pairs := range edits {
		if len(pairs) == 2 && pairs[0] == "" {
			clitest.WriteFiles(t, dir, map[string]string{name: pairs[1]})
		}
	}
}

// referenceProblems returns the references of bindings, Services and network policies in the installation that refer to nothing.
func referenceProblems(t *testing.T, dir string) []string {
	t.Helper()
	data, err := manifest.Build(dir, "config/default")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kube.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	var pods map[string]string
	account := ""
	for _, o := range objects {
		has[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = true
		if o.GetKind() == "Deployment" {
			pods, _, _ = unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
			account, _, _ = unstructured.NestedString(o.Object, "spec", "template", "spec", "serviceAccountName")
		}
	}
	if account == "" {
		account = "default"
	}
	var problems []string
	for _, o := range objects {
		name := kube.Name(o)
		if kind, _, _ := unstructured.NestedString(o.Object, "roleRef", "kind"); kind != "" {
			role, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
			namespace := o.GetNamespace()
			if kind == "ClusterRole" {
				namespace = ""
			}
			if !has[kind+" "+namespace+"/"+role] {
				problems = append(problems, name+" refers to no role: "+role)
			}
			subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
			for _, s := range subjects {
				subject := s.(map[string]any)
				if subject["name"] != account || account != "default" && !has["ServiceAccount "+subject["namespace"].(string)+"/"+account] {
					problems = append(problems, name+" is not for the account "+account)
				}
			}
		}
		path := map[string][]string{"Service": {"spec", "selector"}, "NetworkPolicy": {"spec", "podSelector", "matchLabels"}}[o.GetKind()]
		selector, _, _ := unstructured.NestedStringMap(o.Object, path...)
		for key, value := range selector {
			if path != nil && pods[key] != value {
				problems = append(problems, name+" selects no pods")
			}
		}
	}
	return problems
}
