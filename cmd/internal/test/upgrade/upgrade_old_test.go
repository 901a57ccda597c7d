//go:build unix

package upgrade

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/migrate"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// An olderTree is a project of testdata/old: a tutorial project of an old operator-sdk, with the tutorial's edits of
// types and controller.
type olderTree struct {
	// sdk is the version, repo the module that the tutorial chooses.
	sdk, repo string
}

func oldProjects() []olderTree {
	return []olderTree{
		{"1.1", "github.com/example-inc/memcached-operator"},
		{"1.23", "github.com/example/memcached-operator"},
	}
}

// unpack writes the project to a new directory, which it returns.
func (p olderTree) unpack(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "memcached-operator")
	p.add(t, dir, "operator-sdk-"+p.sdk+".txtar")
	return dir
}

// add writes the files of an archive of testdata/old to a directory.
func (p olderTree) add(t *testing.T, dir, archive string) {
	t.Helper()
	files, err := txtar.ParseFile(clitest.Testdata("old", archive))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, name, strings.ReplaceAll(string(f.Data), "REPO", p.repo))
	}
}

// names returns the names in its scaffold.
func (p olderTree) names() migrate.Names {
	return migrate.Names{Project: "memcached-operator", Domain: "example.com", Repo: p.repo, Resources: []migrate.Resource{
		{Group: "cache", Version: "v1alpha1", Kind: "Memcached", Plural: "memcacheds"}}}
}

// layout returns the layout of the project.
func (p olderTree) layout() string {
	if p.sdk == "1.1" {
		return "go/v2"
	}
	return "go/v3"
}

// TestOldScaffold checks that the unedited files of an old project become the current scaffold's files for the same
// resources, byte for byte.
func TestOldScaffold(t *testing.T) {
	t.Parallel()
	for _, p := range oldProjects() {
		t.Run(p.sdk, func(t *testing.T) {
			t.Parallel()
			anew := filepath.Join(t.TempDir(), "memcached-operator")
			if err := os.Mkdir(anew, 0o755); err != nil {
				t.Fatal(err)
			}
			resource := []string{"--group", "cache", "--version", "v1alpha1", "--kind", "Memcached"}
			clitest.MustRun(t, anew, "init", "--domain", "example.com", "--repo", p.repo)
			clitest.MustRun(t, anew, slices.Concat([]string{"create", "api", "--resource", "--controller"}, resource)...)
			old := p.unpack(t)
			p.checkBecomesCurrent(t, old, anew)
			if p.sdk == "1.1" { // which has all that webhooks need from the start, to be commented in
				clitest.MustRun(t, anew, slices.Concat([]string{"create", "webhook", "--defaulting", "--programmatic-validation"}, resource)...)
				const name = "config/default/kustomization.yaml"
				sections := regexp.MustCompile(`(?m)^#(- \.\./webhook|- \.\./certmanager|- manager_webhook|- webhookcainjection|- name: |  objref:|    |  fieldref:)`)
				clitest.WriteFile(t, filepath.Join(old, name), sections.ReplaceAllString(clitest.ReadFile(t, filepath.Join(old, name)), "$1"))
				p.checkBecomesCurrent(t, old, anew, name)
			}
		})
	}
}

// checkBecomesCurrent merges an old scaffold, in which only the given files are edited, with the current one, and
// checks that only that remains.
func (p olderTree) checkBecomesCurrent(t *testing.T, old, anew string, edited ...string) {
	t.Helper()
	current := map[string][]byte{}
	for name, text := range clitest.ReadTree(t, anew) {
		current[name] = []byte(text)
	}
	fsys := afero.NewMemMapFs()
	for name, text := range clitest.ReadTree(t, old) {
		if name == "main.go" {
			text = strings.ReplaceAll(text, p.repo+"/controllers", p.repo+"/internal/controller")
		}
		if err := afero.WriteFile(fsys, "/p/"+moved(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known, err := migrate.ReadFingerprints("")
	if err != nil {
		t.Fatal(err)
	}
	tree := worktree.NewTree(fsys, "/p")
	result, err := migrate.Files(tree, current, migrate.Options{
		Names: p.names(), Fingerprints: known, Tool: "operator-sdk", Layout: p.layout(), Verifier: migrate.NewVerifier(worktree.NewTree(fsys, "/p")), Content: migrate.WithAPI, Plain: current, Label: "current",
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(result.From.String(), "operator-sdk "+p.sdk) {
		t.Errorf("taken for a project of %s", result.From)
	}
	for _, f := range result.Files {
		if !slices.Contains([]migrate.State{migrate.Created, migrate.Removed, migrate.Replaced}, f.State) && !slices.Contains(edited, f.Name) {
			t.Errorf("%s%s", f.Name, f.Describe())
		}
	}
	left, err := tree.Walk(".", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if migrate.Scaffolded(name) && current[name] == nil {
			t.Errorf("%s is left over", name)
		}
	}
	for name, want := range current {
		if !migrate.Scaffolded(name) {
			continue
		}
		got, err := tree.ReadFile(name)
		if err != nil {
			if added(name) {
				t.Errorf("%s is missing", name)
			}
			continue
		}
		if got, want := withoutHeader(name, got), withoutHeader(name, want); !bytes.Equal(got, want) {
			t.Errorf("%s", diff.Diff("current "+name, want, "upgraded "+name, got))
		}
	}
}

// withoutHeader returns a text without the license header and without the logger of reconcilers of go/v2, which belong
// to the user.
func withoutHeader(name string, text []byte) []byte {
	if name != "cmd/main.go" {
		return text
	}
	text = text[bytes.Index(text, []byte("package main")):]
	return regexp.MustCompile(`(?m)^\t\tLog: .*\n`).ReplaceAll(text, nil)
}

// oldEdits are edits of the old projects: the operator-sdk of the project, or "" for all; a file, a text of it, and the
// replacement. They are followed by the file and the text after an upgrade if these differ.
func oldEdits() [][6]string {
	return [][6]string{
		{"", "Makefile", "IMG ?= controller:latest\n", "IMG ?= registry.example.org/mine:v1\n"},
		{"", "Makefile", "VERSION ?= 0.0.1\n", "VERSION ?= 0.3.0\n"},
		{"", "Makefile", "\tgo vet ./...\n", "\tgo vet ./...\n\nmine: ## Do what I do.\n\techo mine\n", "", "mine: ## Do what I do.\n\techo mine\n"},
		{"1.23", "Makefile", "IMAGE_TAG_BASE ?= example.com/memcached-operator\n", "IMAGE_TAG_BASE ?= quay.io/mine/memcached-operator\n"},
		{"1.1", "Makefile", "BUNDLE_IMG ?= controller-bundle:$(VERSION)\n", "BUNDLE_IMG ?= quay.io/mine/bundle:$(VERSION)\n"},
		{"", "Dockerfile", "COPY controllers/ controllers/\n", "COPY controllers/ controllers/\nCOPY pkg/ pkg/\n", "", "COPY pkg/ pkg/\n"},
		{"", "Dockerfile", "ENTRYPOINT [", "ENV MINE=yes\nENTRYPOINT [", "", "ENV MINE=yes\n"},
		{"", ".gitignore", "*.swp\n", "*.swp\nmine/\n", "", "mine/\n"},
		{"1.23", ".dockerignore", "testbin/\n", "testbin/\nmine/\n", "", "mine/\n"},
		{"", "config/manager/manager.yaml", "replicas: 1\n", "replicas: 3\n"},
		{"1.1", "config/manager/manager.yaml", "memory: 30Mi\n", "memory: 777Mi\n"},
		{"1.23", "config/manager/manager.yaml", "memory: 128Mi\n", "memory: 777Mi\n"},
		{"", "config/manager/manager.yaml", "        name: manager\n", "        name: manager\n        env:\n        - name: MINE\n          value: \"yes\"\n",
			"", "        - name: MINE\n          value: \"yes\"\n"},
		{"1.23", "config/manager/manager.yaml", "        - --leader-elect\n", "        - --leader-elect\n        - --zap-log-level=debug\n", "", "        - --zap-log-level=debug\n"},
		{"", "config/default/kustomization.yaml", "namespace: memcached-operator-system\n", "namespace: mine-system\n"},
		{"", "config/default/kustomization.yaml", "#- ../prometheus\n", "- ../prometheus\n"},
		{"", "config/default/kustomization.yaml", "- manager_auth_proxy_patch.yaml\n", "- manager_auth_proxy_patch.yaml\n- mine_patch.yaml\n", "", "- path: mine_patch.yaml\n"},
		{"", "config/default/manager_auth_proxy_patch.yaml", "/kube-rbac-proxy:", "/mine/kube-rbac-proxy:"},
		{"", "config/rbac/kustomization.yaml", "- role_binding.yaml\n", "- role_binding.yaml\n- mine_role.yaml\n", "", "- mine_role.yaml\n"},
		{"", "config/rbac/leader_election_role.yaml", "  - events\n", "  - events\n  - mine\n", "", "  - mine\n"},
		{"", "config/scorecard/patches/basic.config.yaml", "    entrypoint:\n", "    labels2: mine\n    entrypoint:\n", "", "    labels2: mine\n"},
		{"1.23", "config/manager/controller_manager_config.yaml", "  healthProbeBindAddress: :8081\n", "  healthProbeBindAddress: :9191\n"},
		{"", "main.go", "\t\"flag\"\n", "\t\"flag\"\n\t\"fmt\"\n", "cmd/main.go", "\t\"fmt\"\n"},
		{"", "main.go", "memcached-operator/controllers\"\n", "memcached-operator/controllers\"\n\tappsv1 \"k8s.io/api/apps/v1\"\n", "cmd/main.go", "\tappsv1 \"k8s.io/api/apps/v1\"\n"},
		{"", "main.go", "\tutilruntime.Must(cachev1alpha1.", "\tutilruntime.Must(appsv1.AddToScheme(scheme))\n\tutilruntime.Must(cachev1alpha1.", "cmd/main.go", "\tutilruntime.Must(appsv1.AddToScheme(scheme))\n"},
		{"", "main.go", "\tflag.Parse()\n", "\tmine := flag.Int(\"mine\", 1, \"My flag.\")\n\tflag.Parse()\n", "cmd/main.go", "\tmine := flag.Int(\"mine\", 1, \"My flag.\")\n"},
		{"", "main.go", "\tsetupLog.Info(\"starting manager\")\n", "\tsetupLog.Info(fmt.Sprint(\"Mine\", *mine))\n\tsetupLog.Info(\"starting manager\")\n", "cmd/main.go", "\tsetupLog.Info(fmt.Sprint(\"Mine\", *mine))\n"},
	}
}

// editOld edits a project, adds files, and appends a comment to each file. It returns the files and texts that must
// exist after an upgrade.
func (p olderTree) editOld(t *testing.T, dir string) [][2]string {
	t.Helper()
	var marks [][2]string
	for _, e := range oldEdits() {
		if e[0] != "" && e[0] != p.sdk {
			continue
		}
		clitest.EditFile(t, dir, e[1], e[2], e[3])
		marks = append(marks, [2]string{cmp.Or(e[4], e[1]), cmp.Or(e[5], e[3])})
	}
	for name, text := range clitest.ReadTree(t, dir) {
		mark := comment(name, "a note of mine")
		switch {
		case mark == "" || strings.HasSuffix(name, ".md") || name == "PROJECT" || name == "go.sum" || strings.HasPrefix(name, "config/crd/bases/"),
			name == "config/rbac/role.yaml" || strings.Contains(name, "zz_generated") || name == "hack/boilerplate.go.txt",
			strings.HasPrefix(name, "config/webhook/"):
			continue // generated, replaced as a whole, or of a kustomization that names what is not generated
		case name == "go.mod":
			mark = "// a note of mine\n"
		case strings.HasSuffix(name, ".go"):
			mark = "\n" + mark
		}
		clitest.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), text+mark)
		switch name = moved(name); name {
		case "config/rbac/auth_proxy_service.yaml": // the objects of which are in other files now
			name = "config/default/metrics_service.yaml"
		case "config/rbac/auth_proxy_client_clusterrole.yaml":
			name = "config/rbac/metrics_reader_role.yaml"
		}
		marks = append(marks, [2]string{name, strings.TrimPrefix(mark, "\n")})
	}
	p.add(t, dir, "mine.txtar")
	if p.sdk == "1.1" { // whose program has a flag --enable-leader-election
		marks = append(marks, [2]string{"config/default/manager_auth_proxy_patch.yaml", "- \"--leader-elect\"\n"})
	}
	return append(marks,
		[2]string{"internal/controller/sizes.go", "\treturn min(m.Spec.Size, MaxSize)\n"},
		[2]string{"internal/controller/sizes_test.go", "\tif got := Wanted(m); got != MaxSize {\n"},
		[2]string{"pkg/limits/limits.go", "func String() string { return fmt.Sprint(\"sizes up to \", "},
		[2]string{"config/rbac/mine_role.yaml", "  name: mine\n"},
		[2]string{"config/default/mine_patch.yaml", "      priorityClassName: mine\n"},
	)
}

// moved returns the current path of a file of an old layout.
func moved(name string) string {
	if rest, ok := strings.CutPrefix(name, "controllers/"); ok {
		return "internal/controller/" + rest
	}
	if rest, ok := strings.CutPrefix(name, "apis/"); ok {
		return "api/" + rest
	}
	if name == "main.go" {
		return "cmd/main.go"
	}
	return name
}

// runTests runs the tests of a project on a real API server.
func (p olderTree) runTests(t *testing.T, dir string) {
	t.Helper()
	clitest.CheckProjectTests(t, dir, []string{"-v", "./..."}, "--- PASS: TestWanted", "--- PASS: TestAPIs")
}

// TestUpgradeOfOldProjects upgrades the tutorial projects with edits in every file: each edit is kept, and the project
// builds.
func TestUpgradeOfOldProjects(t *testing.T) {
	t.Parallel()
	for _, p := range oldProjects() {
		t.Run(p.sdk, func(t *testing.T) {
			t.Parallel()
			if p.sdk != "1.23" {
				clitest.SkipIfShort(t, "one project suffices")
			}
			dir := p.unpack(t)
			marks := p.editOld(t, dir)
			upgradeWhole(t, dir)
			for _, mark := range marks {
				if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(mark[0]))); err != nil {
					t.Error(err)
				} else if !strings.Contains(string(text), mark[1]) {
					t.Errorf("%s lost %q", mark[0], mark[1])
				}
			}
			before := clitest.ReadTree(t, dir)
			clitest.MustRun(t, dir, "upgrade")
			if changed := differing(before, clitest.ReadTree(t, dir)); len(changed) > 0 {
				t.Errorf("again changed %q", changed)
			}
			if code, out, said := clitest.Run(t, dir, "", "upgrade", "--check"); code != 0 {
				t.Errorf("--check afterwards: exit code %d\n%s%s", code, out, said)
			}
			p.runTests(t, dir)
		})
	}
}
