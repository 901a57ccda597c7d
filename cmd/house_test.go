package cmd_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

const module = "github.com/operon-sdk/operon"

const (
	// clitestRoom is what the tests of the command line share; only tests import it.
	clitestRoom = "cmd/internal/clitest"
	// testRooms is the prefix of packages that consist of tests.
	testRooms = "cmd/internal/test/"
)

// house says which rooms a room may use. A room that is not here is a room nobody agreed on.
func house() map[string][]string {
	return map[string][]string{
		"":                    {"cmd", "pkg/startup"},
		"cmd":                 {"pkg/project", "pkg/scaffold", "pkg/codegen", "pkg/codegen/calls", "pkg/gotool", "pkg/refactor", "pkg/tempdir", "pkg/manifest", "pkg/kube", "pkg/controlplane", "pkg/local", "pkg/bundle", "pkg/bundle/base", "pkg/bundle/catalog", "pkg/bundle/validate", "pkg/image", "pkg/image/reference", "pkg/olm", "pkg/scorecard", "pkg/migrate", "pkg/merge", "pkg/migrate/gocode", "pkg/makefile", "pkg/transport", "pkg/safeyaml", "pkg/sarif", "pkg/listing"},
		clitestRoom:           {"cmd", "pkg/controlplane", "pkg/kube", "pkg/manifest"},
		"pkg/project":         {"pkg/image/reference", "pkg/safeyaml", "pkg/textdiff", "pkg/listing"},
		"pkg/scaffold":        {"pkg/textdiff", "templates", "pkg/safeyaml"},
		"pkg/codegen":         {"pkg/tempdir", "pkg/textdiff", "pkg/listing"},
		"pkg/codegen/calls":   {"pkg/codegen", "pkg/makefile", "pkg/project", "pkg/safeyaml"},
		"pkg/listing":         {},
		"pkg/makefile":        {},
		"pkg/gotool":          {"pkg/scaffold", "pkg/tempdir"},
		"pkg/refactor":        {"pkg/project", "pkg/scaffold", "pkg/codegen", "pkg/gotool", "pkg/tempdir", "pkg/textdiff", "templates", "pkg/safeyaml"},
		"pkg/manifest":        {"pkg/safeyaml", "pkg/listing"},
		"pkg/bundle":          {"pkg/bundle/base", "pkg/manifest", "templates", "pkg/safeyaml", "pkg/listing"},
		"pkg/bundle/base":     {"pkg/codegen", "pkg/manifest", "pkg/safeyaml", "pkg/listing"},
		"pkg/bundle/catalog":  {"pkg/image/reference", "pkg/manifest", "templates", "pkg/safeyaml"},
		"pkg/bundle/validate": {"pkg/bundle", "pkg/manifest", "pkg/safeyaml", "pkg/sarif", "pkg/listing"},
		"pkg/image":           {"pkg/image/reference", "pkg/transport"},
		"pkg/image/reference": {},
		"pkg/kube":            {"pkg/safeyaml"},
		"pkg/controlplane":    {"pkg/kube", "pkg/tempdir", "templates"},
		"pkg/local":           {"pkg/controlplane", "pkg/kube", "pkg/manifest"},
		"pkg/migrate/gocode":  {"pkg/project", "pkg/scaffold", "pkg/textdiff"},
		"pkg/olm":             {"pkg/kube", "templates", "pkg/safeyaml"},
		"pkg/safeyaml":        {"pkg/textdiff"},
		"pkg/sarif":           {},
		"pkg/startup":         {},
		"pkg/transport":       {},
		"pkg/scorecard":       {"pkg/bundle", "pkg/bundle/validate", "pkg/kube", "pkg/safeyaml"},
		"pkg/tempdir":         {},
		"pkg/textdiff":        {},
		"pkg/merge":           {"pkg/textdiff", "pkg/safeyaml"},
		"pkg/migrate":         {"pkg/manifest", "pkg/merge", "pkg/scaffold", "pkg/textdiff", "pkg/safeyaml"},
		"templates":           {},
	}
}

// libraries lists the rooms that may know a library: cobra and survey end at cmd, clusters at pkg/kube.
func libraries() map[string][]string {
	return map[string][]string{
		"github.com/spf13/cobra":                          {"cmd", "pkg/manifest"}, // kustomize's commands are cobra commands
		"github.com/AlecAivazis/survey":                   {"cmd"},
		"sigs.k8s.io/controller-tools":                    {"pkg/codegen"},
		"sigs.k8s.io/kubebuilder":                         {"pkg/project", "pkg/scaffold"},
		"sigs.k8s.io/kustomize":                           {"pkg/manifest"},
		"k8s.io/client-go":                                {"pkg/kube"},
		"github.com/google/go-containerregistry":          {"pkg/image", clitestRoom},
		"github.com/docker":                               {"pkg/image"},
		"github.com/spdx/tools-golang":                    {"pkg/image"},
		"github.com/BurntSushi/toml":                      {"pkg/image"},
		"github.com/operator-framework/operator-registry": {"pkg/bundle/catalog", "pkg/bundle/validate", "pkg/scorecard"},
		"sigs.k8s.io/controller-runtime/pkg":              {},
	}
}

// TestHouse holds the direction of dependencies: cmd → pkg → templates, and each library in its room.
func TestHouse(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,GoFiles,Imports", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	rooms := house()
	seen := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			GoFiles    []string
			Imports    []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		room := strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, module), "/")
		if strings.HasPrefix(room, testRooms) {
			if len(pkg.GoFiles) > 0 {
				t.Errorf("package %s must consist of tests", room)
			}
			continue
		}
		allowed, ok := rooms[room]
		if !ok {
			t.Errorf("package %s is not a room of the house", room)
			continue
		}
		seen++
		for _, imp := range pkg.Imports {
			if other, ok := strings.CutPrefix(imp, module+"/"); ok && !slices.Contains(allowed, other) {
				t.Errorf("%s must not import %s", room, other)
			}
			for library, users := range libraries() {
				if (imp == library || strings.HasPrefix(imp, library+"/")) && !slices.Contains(users, room) {
					t.Errorf("%s must not import %s", room, imp)
				}
			}
		}
	}
	if seen != len(rooms) {
		t.Errorf("found %d rooms, the house has %d", seen, len(rooms))
	}
}

// yamlReader matches calls that parse YAML.
var yamlReader = regexp.MustCompile(`yaml\.(Unmarshal\w*|NewDecoder|YAMLToJSON\w*|NewYAML\w+)\(`)

// TestYAMLIsBounded holds that all YAML is read by pkg/safeyaml, which bounds it.
func TestYAMLIsBounded(t *testing.T) {
	t.Parallel()
	allowed := map[string]int{
		"pkg/scorecard": 3, // NewYAMLToJSONDecoder, after safeyaml.Check
	}
	for _, top := range []string{"cmd", "pkg"} {
		clitest.WalkTree(t, clitest.Root(top), func(p string, d fs.DirEntry) {
			dir, _ := filepath.Rel(clitest.Root(), filepath.Dir(p))
			dir = filepath.ToSlash(dir)
			if d.IsDir() || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || dir == "pkg/safeyaml" {
				return
			}
			for _, call := range yamlReader.FindAllString(strings.ReplaceAll(clitest.ReadFile(t, p), "safeyaml.", ""), -1) {
				if allowed[dir]--; allowed[dir] < 0 {
					t.Errorf("%s calls %s…); let pkg/safeyaml read it", p, call)
				}
			}
		})
	}
}

// TestTemplatesAreTemplates holds that everything below templates is a template but embed.go.
func TestTemplatesAreTemplates(t *testing.T) {
	t.Parallel()
	clitest.WalkTree(t, clitest.Root("templates"), func(p string, d fs.DirEntry) {
		if !d.IsDir() && filepath.Base(p) != "embed.go" && !strings.HasSuffix(p, ".tmpl") {
			t.Errorf("%s does not end in .tmpl", p)
		}
	})
}
