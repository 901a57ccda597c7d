package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/upgrade"
)

// olderTree is a project of testdata/old: that of a tutorial, as the operator-sdk of its days scaffolds it, with the
// tutorial's edits of types and controller.
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

// unpack writes the project to a new folder, which it returns.
func (p olderTree) unpack(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(goldenDir, "old", "operator-sdk-"+p.sdk+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "memcached-operator")
	for _, f := range archive.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names are what its scaffold holds.
func (p olderTree) names() upgrade.Names {
	return upgrade.Names{Project: "memcached-operator", Domain: "example.com", Repo: p.repo, Resources: []upgrade.Resource{
		{Group: "cache", Version: "v1alpha1", Kind: "Memcached", Plural: "memcacheds"}}}
}

// TestOldScaffold holds that what no one has edited in an old project's scaffold becomes what today's is for the
// same resources, file by file, to the byte.
func TestOldScaffold(t *testing.T) {
	t.Parallel()
	for _, p := range oldProjects() {
		t.Run(p.sdk, func(t *testing.T) {
			t.Parallel()
			anew := filepath.Join(t.TempDir(), "memcached-operator")
			if err := os.Mkdir(anew, 0o755); err != nil {
				t.Fatal(err)
			}
			operon(t, anew, "init", "--domain", "example.com", "--repo", p.repo)
			operon(t, anew, "create", "api", "--group", "cache", "--version", "v1alpha1", "--kind", "Memcached", "--resource", "--controller")
			today := map[string][]byte{}
			for name, text := range readTree(t, anew) {
				today[name] = []byte(text)
			}
			fsys := afero.NewMemMapFs()
			for name, text := range readTree(t, p.unpack(t)) {
				if name == "main.go" {
					name = "cmd/main.go"
				}
				if err := afero.WriteFile(fsys, "/p/"+name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			checkBecomesToday(t, scaffold.NewTree(fsys, "/p"), today, p.names(), "operator-sdk "+p.sdk)
		})
	}
}

// checkBecomesToday merges an old scaffold that no one has edited with today's, which must be all that is there then.
func checkBecomesToday(t *testing.T, tree *scaffold.Tree, today map[string][]byte, names upgrade.Names, from string) {
	t.Helper()
	known, err := upgrade.ReadKnown()
	if err != nil {
		t.Fatal(err)
	}
	result, err := upgrade.Files(tree, today, upgrade.Options{Names: names, Known: known, Label: "today"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(result.From.String(), from) {
		t.Errorf("taken for a project of %s, want %s", result.From, from)
	}
	for _, f := range result.Files {
		if !slices.Contains([]upgrade.State{upgrade.Created, upgrade.Removed, upgrade.Replaced}, f.State) {
			t.Errorf("%s%s", f.Name, f.Describe())
		}
	}
	left, err := tree.Walk(".", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if upgrade.Scaffolded(name) && today[name] == nil {
			t.Errorf("%s is left over", name)
		}
	}
	for name, want := range today {
		if !upgrade.Scaffolded(name) {
			continue
		}
		got, err := tree.ReadFile(name)
		if err != nil {
			t.Errorf("%s is missing", name)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s", diff.Diff("today's "+name, want, "upgraded "+name, got))
		}
	}
}
