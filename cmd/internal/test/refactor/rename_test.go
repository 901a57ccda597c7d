package refactor

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// names are the names that a renaming may change.
type names struct{ project, repo, domain, group, hub, spoke, kind string }

func (n names) in(commands []string) []string {
	replaced := strings.NewReplacer("PROJECT", n.project, "REPO", n.repo, "DOMAIN", n.domain, "GROUP", n.group, "HUB", n.hub, "SPOKE", n.spoke, "KIND", n.kind)
	var out []string
	for _, c := range commands {
		out = append(out, replaced.Replace(c))
	}
	return out
}

// TestRenameAsScaffolded checks that an unedited project is the same after a renaming as one scaffolded with the new names.
func TestRenameAsScaffolded(t *testing.T) {
	clitest.SkipIfShort(t, "type-checks many projects")
	t.Parallel()
	old := names{"memcached-operator", "example.com/memcached", "example.com", "cache", "v1beta1", "v1alpha1", "Memcached"}
	image := []string{
		"init --project-name PROJECT --repo REPO --domain DOMAIN --license none",
		"create api --group GROUP --version HUB --kind KIND --image memcached:1.6",
		"create webhook --group GROUP --version HUB --kind KIND --defaulting --programmatic-validation",
	}
	versions := func(layout string) []string {
		return []string{
			"init --project-name PROJECT --repo REPO --domain DOMAIN " + layout,
			createBoth + "--group GROUP --version SPOKE --kind KIND --controller=false",
			createBoth + "--group GROUP --version HUB --kind KIND",
			"create api --resource=false --controller --group GROUP --version HUB --kind KIND --controller-name cold-storage",
			createBoth + "--group GROUP --version HUB --kind Shelf",
			"create webhook --group GROUP --version HUB --kind KIND --conversion --spoke SPOKE --defaulting",
			"create webhook --group GROUP --version HUB --kind Shelf --programmatic-validation --validation-path /check-shelf",
			"create api --resource=false --controller --group core --version v1 --kind Pod",
			"create webhook --group core --version v1 --kind Pod --defaulting",
		}
	}
	for _, project := range []struct {
		name     string
		commands []string
		renames  map[string]func(*names)
	}{
		{"image", image, map[string]func(*names){
			"repo github.com/acme/cachet/v2": func(n *names) { n.repo = "github.com/acme/cachet/v2" },
			"project memcached":              func(n *names) { n.project = "memcached" },
			"api --kind Memcached --to-kind Cachet --to-group store --to-version v1 --to-domain acme.io": func(n *names) {
				n.kind, n.group, n.hub, n.domain = "Cachet", "store", "v1", "acme.io"
			},
		}},
		{"namespaced", versions("--namespaced"), map[string]func(*names){
			"api --from-kind Memcached --to-kind DNS":    func(n *names) { n.kind = "DNS" },
			"api --from-version v1beta1 --to-version v2": func(n *names) { n.hub = "v2" },
		}},
		{"multigroup", versions("--multigroup"), map[string]func(*names){
			"api --group cache --kind Memcached --to-kind Box":     func(n *names) { n.kind = "Box" },
			"api --from-group cache --to-group app-store":          func(n *names) { n.group = "app-store" },
			"api --domain example.com --to-domain example.org":     func(n *names) { n.domain = "example.org" },
			"api --group cache --version v1alpha1 --to-version v1": func(n *names) { n.spoke = "v1" },
		}},
	} {
		t.Run(project.name, func(t *testing.T) {
			t.Parallel()
			made := clitest.NewProject(t, old.in(project.commands)...)
			for command, change := range project.renames {
				t.Run(command, func(t *testing.T) {
					t.Parallel()
					now := old
					change(&now)
					got := clitest.CopyTree(t, made)
					clitest.MustRun(t, got, append([]string{"rename"}, strings.Fields(command)...)...)
					clitest.CompareTrees(t, clitest.NewProject(t, now.in(project.commands)...), got)
				})
			}
		})
	}
}

// TestRenameGolden renames the edited golden projects: they compile with their tests, and generated files are up to date.
func TestRenameGolden(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it loads the types of many packages several times")
	for name, commands := range map[string][]string{
		"memcached-operator": {
			"rename api --kind Memcached --to-kind Cachet --to-group store --to-version v1 --to-domain acme.io",
			"rename repo acme.io/cachet-operator",
			"rename project cachet-operator",
		},
		"multigroup-operator": {
			"rename api --group fleet --to-group navy",
			"rename api --group navy --version v1 --to-version v1alpha9",
			"rename api --group navy --kind Vessel --to-kind Ship",
			"rename api --group registry --kind Flag --to-kind Ensign",
			"rename api --to-domain acme.io",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyTree(t, clitest.CopyGolden(t, name))
			for _, command := range commands {
				clitest.MustRun(t, dir, strings.Fields(command)...)
			}
			checkRenamed(t, dir)
			clitest.MustRun(t, dir, "bundle", "--version", "0.0.2", "--image", "example.com/renamed:v0.0.2")
			for file, text := range clitest.ReadTree(t, dir) {
				if strings.Contains(text, "memcacheds") || strings.Contains(text, "vessels.fleet") || strings.Contains(text, "cache.example.com") {
					t.Errorf("%s still contains an old name", file)
				}
			}
		})
	}
}

// checkRenamed checks that code and tests compile, and that generated files are up to date.
func checkRenamed(t *testing.T, dir string) {
	t.Helper()
	clitest.CheckFormat(t, dir)
	clitest.CheckTypes(t, dir, ".")
	if out := clitest.MustRun(t, dir, "generate"); out != "" {
		t.Errorf("generate changes the project:\n%s", out)
	}
}

// TestRenameEdited renames references to an API in code and manifests of the user.
func TestRenameEdited(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it type-checks a project several times")
	dir := clitest.NewProject(t,
		"init --project-name cache-operator --domain example.com --repo example.com/cache --license none",
		createBoth+"--group cache --version v1alpha1 --kind Memcached",
		createBoth+"--group cache --version v1alpha1 --kind Redis",
	)
	was := map[string]string{
		"api/v1alpha1/more.go":            "package v1alpha1\n\n// NewMemcached makes a Memcached with the MemcachedSpec that it needs.\nfunc NewMemcached() *Memcached { return &Memcached{Spec: MemcachedSpec{}} }\n\n// Size is of a Memcached.\nfunc (m *Memcached) Size() int { Memcached := 1; return Memcached }\n",
		"api/v1alpha1/outer_test.go":      "package v1alpha1_test\n\nimport (\n\t\"testing\"\n\n\t. \"example.com/cache/api/v1alpha1\"\n)\n\nfunc TestNew(t *testing.T) { var m Memcached; _ = m.Size(); _ = NewMemcached() }\n",
		"internal/tool/tool.go":           "package tool\n\nimport (\n\t\"example.com/cache/api/v1alpha1\"\n\tmine \"example.com/cache/api/v1alpha1\"\n)\n\ntype both struct{ mine.Memcached }\n\nfunc use(b both) any {\n\tv1 := \"Memcached\"\n\t_ = v1alpha1.MemcachedList{Items: []mine.Memcached{b.Memcached}}\n\treturn v1 + \" of cache.example.com/v1alpha1\"\n}\n\nvar _ = use\n",
		"internal/tool/tool_other.go":     "//go:build plan9\n\npackage tool\n\nimport (\n\tcachev1alpha1 \"example.com/cache/api/v1alpha1\"\n\t\"example.com/cache/internal/controller\"\n)\n\nvar (\n\t_ = cachev1alpha1.Memcached{}\n\t_ = controller.MemcachedReconciler{}\n\t_ = controller.RedisReconciler{}\n)\n",
		"internal/tool/roles.go":          "package tool\n\n// +kubebuilder:rbac:groups=apps;cache.example.com,resources=memcacheds;memcacheds/scale;redis,verbs=get\n",
		"config/extra/role.yaml":          "# Mine.\nkind: ClusterRole\nmetadata: {name: mine}\nrules:\n- apiGroups: [\"cache.example.com\", apps]\n  resources:\n  - 'memcacheds' # all of them\n  - memcacheds/status\n  - redis\n  verbs: [get]\n---\napiVersion: \"cache.example.com/v1alpha1\"\nkind:   Memcached\nmetadata:\n  name: Memcached\n---\napiVersion: other.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: other}\n",
		"config/extra/kustomization.yaml": "resources:\n- role.yaml\n- ../samples/cache_v1alpha1_memcached.yaml\n- ../crd/bases/cache.example.com_memcacheds.yaml\npatches:\n- target:\n    group: cache.example.com\n    version: v1alpha1\n    kind: Memcached\n  patch: |\n    - op: remove\n      path: /spec/foo\n",
		"hack/build.sh":                   "go build -ldflags \"-X example.com/cache/api/v1alpha1.Built=1\" ./api/v1alpha1/... ./cmd\n",
	}
	clitest.WriteFiles(t, dir, was)
	clitest.CheckTypes(t, dir, ".")
	code, _, said := clitest.Run(t, dir, "", strings.Fields("rename api --kind Memcached --to-kind Cachet --dry-run")...)
	if code != 0 || !strings.Contains(said, `internal/tool/tool.go:11: v1 := "Memcached"`) || strings.Contains(said, "more.go:4") {
		t.Errorf("exit code %d, told:\n%s", code, said)
	}
	clitest.MustRun(t, dir, strings.Fields("rename api --kind Memcached --to-kind Cachet")...)
	// The package's new name means something else there already.
	before := clitest.ReadTree(t, dir)
	said = clitest.MustReject(t, dir, strings.Fields("rename api --to-group store --to-version v1")...)
	if !strings.Contains(said, "internal/tool/tool.go:12:9: v1.CachetList is not a type") {
		t.Errorf("told:\n%s", said)
	}
	if !maps.Equal(before, clitest.ReadTree(t, dir)) {
		t.Error("a renaming that was refused changed something")
	}
	clitest.WriteFiles(t, dir, map[string]string{"internal/tool/tool.go": strings.ReplaceAll(before["internal/tool/tool.go"], "v1 :", "name :")})
	clitest.WriteFiles(t, dir, map[string]string{"internal/tool/tool.go": strings.ReplaceAll(clitest.ReadFile(t, filepath.Join(dir, "internal/tool/tool.go")), "return v1 +", "return name +")})
	clitest.MustRun(t, dir, strings.Fields("rename api --to-group store --to-version v1")...)
	checkRenamed(t, dir)
	after := clitest.ReadTree(t, dir)
	for name, want := range map[string]string{
		"api/v1/more.go":                  "package v1\n\n// NewMemcached makes a Memcached with the CachetSpec that it needs.\nfunc NewMemcached() *Cachet { return &Cachet{Spec: CachetSpec{}} }\n\n// Size is of a Memcached.\nfunc (m *Cachet) Size() int { Memcached := 1; return Memcached }\n",
		"api/v1/outer_test.go":            "package v1_test\n\nimport (\n\t\"testing\"\n\n\t. \"example.com/cache/api/v1\"\n)\n\nfunc TestNew(t *testing.T) { var m Cachet; _ = m.Size(); _ = NewMemcached() }\n",
		"internal/tool/roles.go":          "package tool\n\n// +kubebuilder:rbac:groups=apps;store.example.com,resources=cachets;cachets/scale;redis,verbs=get\n",
		"internal/tool/tool_other.go":     strings.NewReplacer("cachev1alpha1", "storev1", "v1alpha1", "v1", "Memcached", "Cachet").Replace(was["internal/tool/tool_other.go"]),
		"config/extra/role.yaml":          "# Mine.\nkind: ClusterRole\nmetadata: {name: mine}\nrules:\n- apiGroups: [\"store.example.com\", apps]\n  resources:\n  - 'cachets' # all of them\n  - cachets/status\n  - redis\n  verbs: [get]\n---\napiVersion: \"store.example.com/v1\"\nkind:   Cachet\nmetadata:\n  name: Memcached\n---\napiVersion: other.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: other}\n",
		"config/extra/kustomization.yaml": "resources:\n- role.yaml\n- ../samples/store_v1_cachet.yaml\n- ../crd/bases/store.example.com_cachets.yaml\npatches:\n- target:\n    group: store.example.com\n    version: v1\n    kind: Cachet\n  patch: |\n    - op: remove\n      path: /spec/foo\n",
		"hack/build.sh":                   "go build -ldflags \"-X example.com/cache/api/v1.Built=1\" ./api/v1/... ./cmd\n",
	} {
		if after[name] != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, after[name], want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "api/v1alpha1")); err == nil {
		t.Error("api/v1alpha1 was left behind")
	}
}
