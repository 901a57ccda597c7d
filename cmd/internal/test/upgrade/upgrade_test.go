//go:build unix

package upgrade

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/migrate"
)

// upgradeEdits are edits of a project of a peer: a text of a file and its replacement. The third element is the part
// that remains after an upgrade, or "" for all of it.
func upgradeEdits() [][4]string {
	return [][4]string{
		{"Makefile", "IMG ?= controller:latest\n", "IMG ?= registry.example.com/mine:v1\n", ""},
		{"Makefile", "\n.PHONY: fmt\n", "\n.PHONY: mine\nmine: ## Do what I do.\n\techo mine\n\n.PHONY: fmt\n", "mine: ## Do what I do.\n\techo mine\n"},
		{"Dockerfile", "USER 65532:65532\n", "ENV MINE=yes\nUSER 65532:65532\n", "ENV MINE=yes\n"},
		{"config/manager/manager.yaml", "replicas: 1\n", "replicas: 3\n", ""},
		{"config/manager/manager.yaml", "memory: 128Mi\n", "memory: 777Mi\n", ""},
		{"config/default/kustomization.yaml", "namespace: walk-system\n", "namespace: mine-system\n", ""},
		{"cmd/main.go", "\t\"flag\"\n", "\t\"flag\"\n\t\"fmt\"\n", "\t\"fmt\"\n"},
		{"cmd/main.go", "\tif err := mgr.Start(", "\tsetupLog.Info(fmt.Sprint(\"Mine\"))\n\tif err := mgr.Start(", "\tsetupLog.Info(fmt.Sprint(\"Mine\"))\n"},
		{".gitignore", "*.swp\n", "*.swp\nmine/\n", "mine/\n"},
		{"config/rbac/leader_election_role.yaml", "  - events\n", "  - events\n  - mine\n", "  - mine\n"},
	}
}

// comment returns a comment line in the syntax of a file, or "" if it has no comments.
func comment(name, text string) string {
	switch ext := path.Ext(name); {
	case ext == ".json":
		return ""
	case ext == ".md":
		return "<!-- " + text + " -->\n"
	case ext == ".go":
		return "// " + text + "\n"
	}
	return "# " + text + "\n"
}

// TestUpgradeOfPeers creates projects with peers, edits each scaffolded file and all code, and upgrades them: each edit
// is kept, everything else is current, and the project builds.
func TestUpgradeOfPeers(t *testing.T) {
	t.Parallel()
	for groups, peerDir := range map[string]string{"true": "bench/peers", "false": "peers/operator-sdk-1.42"} {
		t.Run(peerDir, func(t *testing.T) {
			t.Parallel()
			program := clitest.BuildPeer(t, peerDir, "sigs.k8s.io/kubebuilder/v4")
			dir := filepath.Join(t.TempDir(), "walk")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{
				"init --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false --skip-go-version-check",
				"edit --multigroup=" + groups,
				"create api --group cache --version v1 --kind Memcached --resource --controller --make=false",
				"create api --group cache --version v1 --kind Redis --resource --controller --make=false",
				"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation --make=false",
			} {
				clitest.RunPeer(t, program, dir, strings.Fields(command)...)
			}
			marks := editAll(t, dir)
			code, list, said := clitest.Run(t, dir, "", "upgrade", "--check")
			if groups == "false" && (code != 1 || !strings.Contains(said, " files out of date, as scaffolded by ") || !strings.Contains(list, "updated  Makefile  +")) {
				t.Errorf("--check: exit code %d\n%s%s", code, list, said)
			}
			if groups == "false" {
				clashes := clitest.ReadFile(t, filepath.Join(dir, clashing))
				clitest.EditFile(t, dir, clashing, "FROM golang:", "FROM golang:1.20@sha256:")
				upgradeInConflict(t, dir)
				// As a user resolves it.
				clitest.WriteFile(t, filepath.Join(dir, clashing), clashes)
				clitest.MustRun(t, dir, "generate")
			}
			upgradeWhole(t, dir)
			// Targets that change config/manager for one deployment are replaced; bundle changes it to stay.
			if makefile := clitest.ReadFile(t, filepath.Join(dir, "Makefile")); strings.Count(makefile, "cd config/manager") != 1 {
				t.Errorf("deploy and build-installer still change config/manager:\n%s", makefile)
			}
			for mark, file := range marks {
				if !strings.Contains(clitest.ReadFile(t, filepath.Join(dir, file)), mark) {
					t.Errorf("%s lost %q", file, mark)
				}
			}
			if code, _, said := clitest.Run(t, dir, "", "upgrade", "--check"); code != 0 || said != "the project is up to date\n" {
				t.Errorf("--check afterwards: exit code %d\n%s", code, said)
			}
		})
	}
}

// editAll edits a project, with a comment at the end of each file. It returns the expected texts by file.
func editAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	marks := map[string]string{}
	for _, e := range upgradeEdits() {
		name := filepath.Join(dir, e[0])
		text := clitest.ReadFile(t, name)
		if !strings.Contains(text, e[1]) {
			t.Fatalf("%s has no %q", e[0], e[1])
		}
		clitest.WriteFile(t, name, strings.Replace(text, e[1], e[2], 1))
		mark := e[3]
		if mark == "" {
			mark = e[2]
		}
		marks[mark] = e[0]
	}
	for name, text := range clitest.ReadTree(t, dir) {
		mark := comment(name, "a note of mine in "+name)
		if path.Ext(name) == ".go" {
			text += "\n"
		}
		if mark == "" || !migrate.Scaffolded(name) && path.Ext(name) != ".go" {
			continue
		}
		clitest.WriteFile(t, filepath.Join(dir, name), text+mark)
		marks[mark] = name
	}
	return marks
}

// upgradeWhole upgrades a project and checks that it builds and is up to date.
func upgradeWhole(t *testing.T, dir string) {
	t.Helper()
	out := clitest.MustRun(t, dir, "upgrade")
	if strings.Contains(out, "<<<<<<<") {
		t.Error(out)
	}
	clitest.CheckFormat(t, dir)
	clitest.CheckKustomizations(t, dir)
	clitest.CheckCompiles(t, dir)
}

// clashing is the file in these tests with lines that both the user and the current scaffold changed.
const clashing = "Dockerfile"

// upgradeInConflict upgrades a project in which the user and the current scaffold changed the same lines.
func upgradeInConflict(t *testing.T, dir string) {
	t.Helper()
	code, _, said := clitest.Run(t, dir, "", "upgrade")
	if code != 1 || !strings.Contains(said, "you and the scaffold have changed the same lines of\n    "+clashing+"\n") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	text := clitest.ReadFile(t, filepath.Join(dir, clashing))
	for _, part := range []string{"<<<<<<< the project\n", "FROM golang:1.20@sha256:", "=======\n", ">>>>>>> operon "} {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %q:\n%s", clashing, part, text)
		}
	}
	before := clitest.ReadTree(t, dir)
	if code, out, said := clitest.Run(t, dir, "", "upgrade"); code != 1 || out != "" || !strings.Contains(said, "\n    "+clashing+"\n") {
		t.Errorf("again: exit code %d\n%s%s", code, out, said)
	}
	if changed := differing(before, clitest.ReadTree(t, dir)); len(changed) > 0 {
		t.Errorf("again changed %q", changed)
	}
}

// differing returns the files that differ between two trees.
func differing(a, b map[string]string) []string {
	var names []string
	for name, text := range a {
		if other, ok := b[name]; !ok || other != text {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestFingerprints verifies the fingerprints of a release against its output.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	program := clitest.BuildPeer(t, "bench/peers", "sigs.k8s.io/kubebuilder/v4")
	dir := filepath.Join(t.TempDir(), "prjnm")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	fingerprints, err := migrate.ReadFingerprints("")
	if err != nil {
		t.Fatal(err)
	}
	release := migrate.Release{Tool: "kubebuilder", Version: "4.16", Layout: "go/v4"}
	names := migrate.Names{Project: "prjnm", Domain: "domnm.example", Repo: "repnm.example/modnm", Resources: []migrate.Resource{
		{Group: "grpnm", Version: "v77", Kind: "Kindnm", Plural: "kindnms"}}}
	for _, step := range []struct {
		command string
		stage   migrate.Content
	}{
		{"init --domain domnm.example --repo repnm.example/modnm --project-name prjnm --fetch-deps=false --skip-go-version-check", migrate.NoAPI},
		{"create api --group grpnm --version v77 --kind Kindnm --resource --controller --make=false", migrate.WithAPI},
		{"create webhook --group grpnm --version v77 --kind Kindnm --defaulting --programmatic-validation --make=false", migrate.WithWebhooks},
	} {
		clitest.RunPeer(t, program, dir, strings.Fields(step.command)...)
		files := map[string][]byte{}
		for name, text := range clitest.ReadTree(t, dir) {
			files[name] = []byte(text)
		}
		for _, name := range fingerprints.Missing(release, names, step.stage, files) {
			t.Errorf("after %s: %s states something else", step.command, name)
		}
	}
}

// TestUpgradeOfCurrent checks that projects of the current scaffold are up to date, also if they are edited.
func TestUpgradeOfCurrent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"minimal-operator", "memcached-operator", "multigroup-operator", "shop-operator"} {
		dir, err := filepath.Abs(clitest.Testdata(name))
		if err != nil {
			t.Fatal(err)
		}
		if code, out, said := clitest.Run(t, dir, "", "upgrade", "--check"); code != 0 || out != "" {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, said)
		}
	}
}

// TestScaffolded checks that each file of a new project is updated by upgrades, belongs to the user, or is generated.
func TestScaffolded(t *testing.T) {
	t.Parallel()
	users := regexp.MustCompile(`^(PROJECT|go\.(mod|sum)|bundle\.Dockerfile|(hack|api|internal|bundle|catalog|config/(crd/(bases|patches)|samples|manifests/bases))/.*|` +
		`config/(rbac/(role|.*_(admin|editor|viewer)_role)|webhook/manifests)\.yaml)$`)
	for _, project := range clitest.GoldenProjects(t) {
		for name := range clitest.ReadTree(t, clitest.Testdata(project)) {
			if samples := name == "config/samples/kustomization.yaml"; migrate.Scaffolded(name) == (users.MatchString(name) && !samples) {
				t.Errorf("%s: %s: Scaffolded returns %t", project, name, migrate.Scaffolded(name))
			}
		}
	}
}
