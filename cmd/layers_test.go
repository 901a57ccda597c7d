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
	// clitestPackage holds what the tests of the command line share; only tests import it.
	clitestPackage = "cmd/internal/clitest"
	// testPackages is the prefix of packages that consist of tests.
	testPackages = "cmd/internal/test/"
)

// lazyRegexp is a package that each package may import.
const lazyRegexp = "pkg/lazyregexp"

// layers maps each package to the packages of the module that it may import. Packages must be listed to exist.
func layers() map[string][]string {
	return map[string][]string{
		"": {"cmd", "pkg/startup"},
		"cmd": {
			"cmd/internal/complete", "cmd/internal/describe", "cmd/internal/env", "cmd/internal/follow", "cmd/internal/help", "cmd/internal/images", "cmd/internal/old", "cmd/internal/output", "cmd/internal/prompt", "cmd/internal/words",
			"docs", "pkg/action", "pkg/action/bundles", "pkg/action/chart", "pkg/action/gokinds", "pkg/action/helmkinds", "pkg/action/layouts", "pkg/action/rename", "pkg/action/upgrade", "pkg/ansibletool", "pkg/behavior", "pkg/behavior/report", "pkg/buildinfo", "pkg/bundle", "pkg/bundle/base", "pkg/bundle/catalog",
			"pkg/bundle/validate", "pkg/codegen", "pkg/codegen/calls", "pkg/controlplane", "pkg/deploy", "pkg/diag", "pkg/docsite", "pkg/goenv", "pkg/gotest", "pkg/gotool", "pkg/helmchart", "pkg/image",
			"pkg/kube", "pkg/layout", "pkg/local", "pkg/manifest", "pkg/olm", "pkg/olm/operator", "pkg/operatorimage", "pkg/permit", "pkg/preview", "pkg/project",
			"pkg/scaffold", "pkg/scenario", "pkg/scorecard", "pkg/stage", "pkg/tempdir",
			"pkg/userstate", "pkg/vcs", "pkg/worktree",
		},
		"cmd/internal/complete":         {"cmd/internal/env", "cmd/internal/help", "pkg/bundle/validate", "pkg/layout", "pkg/project", "pkg/scenario", "pkg/scorecard"},
		"cmd/internal/describe":         {"cmd/internal/env", "cmd/internal/output", "cmd/internal/prompt", "cmd/internal/words", "pkg/action/bundles", "pkg/bundle/base", "pkg/diag"},
		"cmd/internal/env":              {"cmd/internal/prompt", "pkg/action", "pkg/action/bundles", "pkg/buildinfo", "pkg/codegen", "pkg/controlplane", "pkg/diag", "pkg/goenv", "pkg/helmchart", "pkg/kube", "pkg/layout", "pkg/operatorimage", "pkg/project", "pkg/userstate"},
		"cmd/internal/follow":           {"cmd/internal/env", "pkg/action/bundles", "pkg/codegen/calls", "pkg/diag", "pkg/manifest", "pkg/project", "pkg/worktree"},
		"cmd/internal/help":             {"cmd/internal/words"},
		"cmd/internal/images":           {"cmd/internal/env", "cmd/internal/output", "pkg/action", "pkg/diag", "pkg/image", "pkg/project"},
		"cmd/internal/old":              {"cmd/internal/env", "cmd/internal/words", "pkg/action", "pkg/action/bundles", "pkg/diag", "pkg/project"},
		"cmd/internal/output":           {"cmd/internal/env", "pkg/action", "pkg/action/upgrade", "pkg/bundle/validate", "pkg/diag", "pkg/kube", "pkg/migrate", "pkg/olm", "pkg/refactor", "pkg/report", "pkg/transport", "pkg/worktree"},
		"cmd/internal/prompt":           {"cmd/internal/words", "pkg/diag"},
		"cmd/internal/words":            {},
		"cmd/operon-runtime":            {"pkg/ansibleoperator", "pkg/ansibleoperator/runner", "pkg/buildinfo", "pkg/customresource", "pkg/diag", "pkg/helmchart", "pkg/helmchart/source", "pkg/helmoperator", "pkg/watches"},
		clitestPackage:                  {"cmd", "pkg/controlplane", "pkg/kube", "pkg/manifest", "pkg/typecheck", "pkg/userstate", "pkg/worktree", "testdata/parallel"},
		"pkg/action":                    {"pkg/bundle/base", "pkg/codegen", "pkg/codegen/calls", "pkg/diag", "pkg/gosource", "pkg/gotool", "pkg/grafana", "pkg/helmchart", "pkg/layout", "pkg/manifest", "pkg/merge", "pkg/migrate", "pkg/project", "pkg/refactor", "pkg/rolebinding", "pkg/scaffold", "pkg/textdiff", "pkg/typecheck", "pkg/worktree"},
		"pkg/action/ansiblekinds":       {"pkg/action", "pkg/action/rename", "pkg/action/runtimekinds", "pkg/ansiblerole", "pkg/bundle/base", "pkg/codegen", "pkg/crd", "pkg/diag", "pkg/manifest", "pkg/project", "pkg/rbac", "pkg/refactor", "pkg/safeyaml", "pkg/scaffold", "pkg/watches", "pkg/worktree"},
		"pkg/action/bundles":            {"pkg/action", "pkg/bundle", "pkg/bundle/base", "pkg/bundle/catalog", "pkg/bundle/validate", "pkg/codegen", "pkg/diag", "pkg/image", "pkg/image/reference", "pkg/manifest", "pkg/project", "pkg/safeyaml", "pkg/scaffold", "pkg/worktree"},
		"pkg/action/chart":              {"pkg/action", "pkg/diag", "pkg/helmchart", "pkg/manifest", "pkg/merge", "pkg/operatorchart", "pkg/project", "pkg/scaffold", "pkg/textdiff", "pkg/worktree"},
		"pkg/action/gokinds":            {"pkg/action", "pkg/action/helmkinds", "pkg/action/rename", "pkg/action/wiring", "pkg/bundle/base", "pkg/codegen", "pkg/codegen/calls", "pkg/diag", "pkg/gosource", "pkg/gotool", "pkg/manifest", "pkg/migrate", "pkg/project", "pkg/refactor", "pkg/scaffold", "pkg/vcs", "pkg/worktree"},
		"pkg/action/helmkinds":          {"pkg/action", "pkg/action/rename", "pkg/action/runtimekinds", "pkg/bundle/base", "pkg/codegen", "pkg/diag", "pkg/helmchart", "pkg/manifest", "pkg/merge", "pkg/project", "pkg/rbac", "pkg/refactor", "pkg/scaffold", "pkg/textdiff", "pkg/watches", "pkg/worktree"},
		"pkg/action/layouts":            {"pkg/action", "pkg/action/ansiblekinds", "pkg/action/gokinds", "pkg/action/helmkinds", "pkg/layout"},
		"pkg/action/rename":             {"pkg/action", "pkg/diag", "pkg/layout", "pkg/project", "pkg/refactor", "pkg/scaffold", "pkg/worktree"},
		"pkg/action/runtimekinds":       {"pkg/action", "pkg/codegen", "pkg/diag", "pkg/manifest", "pkg/project", "pkg/refactor", "pkg/scaffold", "pkg/watches", "pkg/worktree"},
		"pkg/action/upgrade":            {"pkg/action", "pkg/codegen", "pkg/diag", "pkg/gotool", "pkg/layout", "pkg/migrate", "pkg/migrate/gocode", "pkg/project", "pkg/refactor", "pkg/scaffold", "pkg/vcs", "pkg/worktree"},
		"pkg/action/wiring":             {"pkg/action", "pkg/codegen", "pkg/codegen/calls", "pkg/diag", "pkg/manifest", "pkg/project", "pkg/rolebinding", "pkg/safeyaml", "pkg/scaffold", "pkg/textdiff", "pkg/worktree"},
		"pkg/ansibleoperator":           {"pkg/ansibleoperator/proxy", "pkg/ansibleoperator/runner", "pkg/ansibleoperator/variables", "pkg/customresource", "pkg/dependents", "pkg/dependson", "pkg/diag", "pkg/outputs", "pkg/redact", "pkg/valuesfrom", "pkg/watches"},
		"pkg/ansibletool":               {"pkg/diag", "pkg/safeyaml", "pkg/tempdir"},
		"pkg/ansiblerole":               {"pkg/ansibleoperator/variables", "pkg/ansiblerole/jinja", "pkg/diag", "pkg/project", "pkg/rbac", "pkg/safeyaml", "pkg/watches"},
		"pkg/ansiblerole/jinja":         {},
		"pkg/ansibleoperator/proxy":     {"pkg/customresource", "pkg/dependents", "pkg/safeyaml"},
		"pkg/ansibleoperator/runner":    {"pkg/ansibletool"},
		"pkg/ansibleoperator/variables": {},
		"pkg/behavior":                  {"pkg/diag", "pkg/gateway", "pkg/gosource", "pkg/kube", "pkg/scenario", "pkg/stage", "pkg/worktree"},
		"pkg/behavior/report":           {"pkg/behavior", "pkg/diag", "pkg/gateway", "pkg/kube", "pkg/stage", "pkg/tempdir", "templates"},
		"pkg/buildinfo":                 {},
		"pkg/bundle":                    {"pkg/bundle/base", "pkg/diag", "pkg/manifest", "pkg/safeyaml", "templates"},
		"pkg/bundle/base":               {"pkg/codegen", "pkg/diag", "pkg/manifest", "pkg/safeyaml"},
		"pkg/bundle/catalog":            {"pkg/diag", "pkg/image/reference", "pkg/manifest", "pkg/safeyaml", "templates"},
		"pkg/bundle/validate":           {"pkg/bundle", "pkg/crd", "pkg/diag", "pkg/manifest", "pkg/report", "pkg/safeyaml"},
		"pkg/codegen":                   {"pkg/crd", "pkg/diag", "pkg/filecache", "pkg/goenv", "pkg/gosource", "pkg/textdiff"},
		"pkg/codegen/calls":             {"pkg/codegen", "pkg/diag", "pkg/makefile", "pkg/safeyaml"},
		"pkg/controlplane":              {"pkg/buildinfo", "pkg/diag", "pkg/kube", "pkg/tempdir", "pkg/transport", "templates"},
		"pkg/crd":                       {},
		"pkg/customresource":            {"pkg/buildinfo", "pkg/diag", "pkg/safeyaml"},
		"pkg/dependents":                {},
		"pkg/dependson":                 {"pkg/customresource", "pkg/dependents"},
		"pkg/deploy":                    {"pkg/diag", "pkg/kube", "pkg/olm", "pkg/stage", "pkg/worktree"},
		"docs":                          {},
		"pkg/diag":                      {},
		"pkg/docsite":                   {"templates"},
		"pkg/filecache":                 {},
		"pkg/gateway":                   {},
		"pkg/goenv":                     {"pkg/diag", "pkg/tempdir"},
		"pkg/gosource":                  {"pkg/diag", "pkg/textdiff", "pkg/worktree"},
		"pkg/gotest":                    {},
		"pkg/gotool":                    {"pkg/diag", "pkg/tempdir", "pkg/worktree"},
		"pkg/grafana":                   {"pkg/diag", "pkg/safeyaml", "templates"},
		"pkg/helmchart":                 {"pkg/crd", "pkg/diag", "pkg/rbac", "pkg/safeyaml"},
		"pkg/helmchart/source":          {"pkg/diag", "pkg/helmchart", "pkg/helmchart/variant", "pkg/safeyaml", "pkg/tempdir", "pkg/transport", "pkg/vcs"},
		"pkg/helmchart/variant":         {},
		"pkg/helmoperator":              {"pkg/customresource", "pkg/dependents", "pkg/dependson", "pkg/diag", "pkg/helmoperator/release", "pkg/outputs", "pkg/redact", "pkg/safeyaml", "pkg/valuesfrom", "pkg/watches"},
		"pkg/helmoperator/release":      {"pkg/dependents", "pkg/helmchart/variant", "pkg/redact", "pkg/safeyaml"},
		"pkg/image":                     {"pkg/diag", "pkg/image/reference", "pkg/tempdir", "pkg/transport", "pkg/vcs"},
		"pkg/image/reference":           {},
		"pkg/kube":                      {"pkg/diag", "pkg/safeyaml"},
		lazyRegexp:                      {},
		"pkg/layout":                    {},
		"pkg/local":                     {"pkg/ansibletool", "pkg/controlplane", "pkg/diag", "pkg/gateway", "pkg/gotool", "pkg/kube", "pkg/layout", "pkg/manifest", "pkg/project", "pkg/stage", "pkg/tempdir", "pkg/userstate", "pkg/watches"},
		"pkg/makefile":                  {"pkg/diag"},
		"pkg/manifest":                  {"pkg/diag", "pkg/safeyaml"},
		"pkg/merge":                     {"pkg/gosource", "pkg/safeyaml", "pkg/textdiff"},
		"pkg/migrate": {
			"pkg/gosource", "pkg/manifest", "pkg/merge", "pkg/project", "pkg/safeyaml", "pkg/textdiff",
			"pkg/worktree",
		},
		"pkg/migrate/gocode": {"pkg/diag", "pkg/gosource", "pkg/project", "pkg/textdiff", "pkg/worktree"},
		"pkg/olm":            {"pkg/diag", "pkg/kube", "pkg/safeyaml", "templates"},
		"pkg/olm/operator":   {"pkg/bundle/catalog", "pkg/diag", "pkg/kube", "pkg/olm", "pkg/safeyaml", "templates"},
		"pkg/outputs":        {"pkg/redact", "pkg/safeyaml"},
		"pkg/operatorchart":  {"pkg/diag", "pkg/helmchart", "pkg/manifest", "pkg/merge", "pkg/safeyaml", "templates"},
		"pkg/operatorimage":  {"pkg/ansibletool", "pkg/codegen", "pkg/diag", "pkg/gotool", "pkg/helmchart", "pkg/image", "pkg/layout", "pkg/local", "pkg/project", "pkg/watches"},
		"pkg/permit":         {"pkg/behavior", "pkg/codegen", "pkg/diag", "pkg/gateway", "pkg/gosource", "pkg/project", "pkg/rbac", "pkg/stage", "pkg/textdiff", "pkg/worktree"},
		"pkg/preview":        {"pkg/deploy", "pkg/gateway", "pkg/kube", "pkg/stage", "pkg/worktree"},
		"pkg/project":        {"pkg/diag", "pkg/image/reference", "pkg/layout", "pkg/safeyaml"},
		"pkg/rbac":           {"pkg/diag", "pkg/project", "pkg/safeyaml", "pkg/textdiff"},
		"pkg/redact":         {},
		"pkg/refactor": {
			"pkg/diag", "pkg/gosource", "pkg/project", "pkg/safeyaml", "pkg/scaffold",
			"pkg/textdiff", "pkg/typecheck", "pkg/worktree", "templates",
		},
		"pkg/report":      {"pkg/diag"},
		"pkg/rolebinding": {"pkg/safeyaml", "pkg/textdiff", "templates"},
		"pkg/safeyaml":    {"pkg/textdiff"},
		"pkg/scaffold": {
			"pkg/ansibleoperator/variables", "pkg/diag", "pkg/gosource", "pkg/layout", "pkg/project", "pkg/safeyaml", "pkg/textdiff", "pkg/watches", "pkg/worktree", "templates",
		},
		"pkg/scenario": {"pkg/diag", "pkg/kube", "pkg/safeyaml"},
		"pkg/scorecard": {
			"pkg/bundle", "pkg/bundle/validate", "pkg/diag", "pkg/image/reference", "pkg/kube", "pkg/safeyaml", "pkg/vcs",
		},
		"pkg/stage":      {"pkg/diag", "pkg/gateway", "pkg/kube"},
		"pkg/startup":    {},
		"pkg/tempdir":    {},
		"pkg/textdiff":   {"pkg/diag"},
		"pkg/transport":  {},
		"pkg/typecheck":  {"pkg/diag", "pkg/filecache", "pkg/goenv", "pkg/gosource", "pkg/gotool", "pkg/tempdir", "pkg/worktree"},
		"pkg/userstate":  {},
		"pkg/valuesfrom": {"pkg/dependents", "pkg/safeyaml"},
		"pkg/vcs":        {},
		"pkg/watches":    {"pkg/diag", "pkg/redact", "pkg/safeyaml"},
		"pkg/worktree":   {"pkg/diag", "pkg/safeyaml", "pkg/textdiff", "pkg/userstate", "pkg/vcs"},
		"templates":      {},
	}
}

// libraries maps a library to the packages that may import it: cobra belongs to cmd, survey to its prompts, client-go to pkg/kube.
func libraries() map[string][]string {
	return map[string][]string{
		"github.com/spf13/cobra":                          {"cmd", "cmd/internal/complete", "cmd/internal/help", "cmd/internal/images", "cmd/operon-runtime", "pkg/manifest"}, // kustomize's commands are cobra commands
		"github.com/AlecAivazis/survey":                   {"cmd/internal/prompt"},
		"sigs.k8s.io/controller-tools":                    {"pkg/codegen"},
		"sigs.k8s.io/kubebuilder":                         {"pkg/project", "pkg/scaffold"},
		"sigs.k8s.io/kustomize":                           {"pkg/manifest"},
		"k8s.io/client-go":                                {"cmd/operon-runtime", "pkg/ansibleoperator", "pkg/ansibleoperator/proxy", "pkg/customresource", "pkg/dependents", "pkg/dependson", "pkg/helmchart/source", "pkg/helmoperator", "pkg/helmoperator/release", "pkg/kube"},
		"github.com/google/go-containerregistry":          {"pkg/image", clitestPackage},
		"github.com/docker":                               {"pkg/image"},
		"github.com/spdx/tools-golang":                    {"pkg/image"},
		"github.com/BurntSushi/toml":                      {"pkg/image"},
		"github.com/yuin/goldmark":                        {"pkg/docsite"},
		"github.com/operator-framework/operator-registry": {"pkg/bundle/catalog", "pkg/bundle/validate", "pkg/scorecard"},
		"helm.sh/helm/v4":                                 {"pkg/helmchart/source", "pkg/helmoperator", "pkg/helmoperator/release"},
		"sigs.k8s.io/controller-runtime/pkg":              {"cmd/operon-runtime", "pkg/ansibleoperator", "pkg/customresource", "pkg/dependson", "pkg/helmoperator", "pkg/helmoperator/release", "pkg/valuesfrom"},
	}
}

// TestLayers checks the direction of imports (cmd → pkg → templates) and that each library is imported only by the
// packages that own it.
func TestLayers(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,GoFiles,Imports", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := layers()
	found := map[string]bool{}
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
		name := strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, module), "/")
		if strings.HasPrefix(name, testPackages) {
			if len(pkg.GoFiles) > 0 {
				t.Errorf("package %s must consist of tests", name)
			}
			continue
		}
		if _, ok := allowed[name]; !ok {
			t.Errorf("package %s is not in the table of layers", name)
			continue
		}
		found[name] = true
		for _, other := range allowed[name] {
			if !slices.Contains(pkg.Imports, module+"/"+other) {
				t.Errorf("%s does not import %s; remove it from the table of layers", name, other)
			}
		}
		for _, imp := range pkg.Imports {
			if other, ok := strings.CutPrefix(imp, module+"/"); ok && other != lazyRegexp && !slices.Contains(allowed[name], other) {
				t.Errorf("%s must not import %s", name, other)
			}
			for library, owners := range libraries() {
				if (imp == library || strings.HasPrefix(imp, library+"/")) && !slices.Contains(owners, name) {
					t.Errorf("%s must not import %s", name, imp)
				}
			}
		}
	}
	for name := range allowed {
		if !found[name] {
			t.Errorf("package %s of the table of layers does not exist", name)
		}
	}
}

// yamlReader matches calls that parse YAML.
var yamlReader = regexp.MustCompile(`yaml\.(Unmarshal\w*|NewDecoder|YAMLToJSON\w*|NewYAML\w+)\(`)

// TestYAMLIsBounded checks that all YAML is read by pkg/safeyaml, which limits its size and depth.
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

// TestTemplatesAreTemplates checks that every file below templates except embed.go is a template.
func TestTemplatesAreTemplates(t *testing.T) {
	t.Parallel()
	clitest.WalkTree(t, clitest.Root("templates"), func(p string, d fs.DirEntry) {
		if !d.IsDir() && filepath.Base(p) != "embed.go" && !strings.HasSuffix(p, ".tmpl") {
			t.Errorf("%s does not end in .tmpl", p)
		}
	})
}
