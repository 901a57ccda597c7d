package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// words returns names that YAML 1.1 or 1.2 does not parse as strings if they are not quoted.
func words() []string {
	return []string{"2026", "true", "null", "1e3", "on", "y", "0x1f", "0o17", "2001-01-01"}
}

// TestNamesAreYAMLStrings scaffolds projects whose names, kinds, plurals, domains and images look like numbers,
// booleans, dates and null, and checks that all YAML has strings where Kubernetes requires strings.
func TestNamesAreYAMLStrings(t *testing.T) {
	t.Parallel()
	for i, word := range words() {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			if i != 2 {
				clitest.SkipIfShort(t, "one word suffices")
			}
			dir := t.TempDir()
			domain, kind, plural := "1.6", "Null", "null"
			if i%2 == 1 {
				domain, kind, plural = "2026", "On", "y"
			}
			image := []string{word, "1.6", "1_000"}[i%3]
			second := "null"
			if i%3 == 0 {
				second = "on"
			}
			clitest.MustRun(t, dir, "init", "--domain", domain, "--repo", "example.com/x", "--project-name", word, fmt.Sprintf("--namespaced=%t", i%4 == 0))
			if i%3 == 0 {
				clitest.MustRun(t, dir, "edit", "--multigroup")
			}
			clitest.MustRun(t, dir, "create", "api", "--group", "null", "--version", "v1", "--kind", kind, "--plural", plural, "--image", image, "--make=false")
			clitest.MustRun(t, dir, "create", "api", "--group", second, "--version", "v1", "--kind", "True", "--plural", "true", "--resource", "--controller", "--make=false")
			clitest.MustRun(t, dir, "create", "webhook", "--group", second, "--version", "v1", "--kind", "True", "--plural", "true", "--defaulting", "--programmatic-validation")
			checkTree(t, dir, word, image)
			if i > 1 {
				return // a rename compiles the project
			}
			clitest.MustRun(t, dir, "rename", "project", "plain")
			clitest.MustRun(t, dir, "rename", "project", word)
			checkTree(t, dir, word, image)
		})
	}
}

// checkTree checks all YAML files of a project, and the output of its kustomizations.
func checkTree(t *testing.T, dir, project, image string) {
	t.Helper()
	clitest.WalkTree(t, dir, func(name string, d fs.DirEntry) {
		if d.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) && d.Name() != "PROJECT" {
			return
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(rel) == "dependabot.yml" {
			return // its version must be a number
		}
		checkStrings(t, rel, []byte(clitest.ReadFile(t, name)), project)
	})
	for _, target := range []string{"config/default", "config/samples", "config/network-policy", "config/prometheus"} {
		built, err := manifest.Build(dir, target)
		if err != nil {
			t.Fatal(err)
		}
		checkStrings(t, "build of "+target, built, project)
		if target == "config/default" && !bytes.Contains(built, []byte("value: \""+image+"\"\n")) {
			t.Errorf("config/default does not have the image %s:\n%s", image, built)
		}
	}
}

// checkStrings checks the documents of a YAML stream as YAML 1.1, as Kubernetes and kustomize read it, and as YAML 1.2.
func checkStrings(t *testing.T, name string, data []byte, project string) {
	t.Helper()
	for _, doc := range strings.Split("\n"+string(data), "\n---\n") {
		var old, current any
		if err := k8syaml.Unmarshal([]byte(doc), &old); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, doc)
		}
		if err := yaml.NewDecoder(strings.NewReader(doc)).Decode(&current); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v\n%s", name, err, doc)
		}
		for _, value := range []any{old, current} {
			checkValues(t, name, nil, value, project)
		}
	}
}

// checkValues checks the values below a path of keys.
func checkValues(t *testing.T, name string, path []string, value any, project string) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			checkValues(t, name, append(slices.Clip(path), key), inner, project)
		}
		return
	case []any:
		for _, inner := range v {
			checkValues(t, name, path, inner, project)
		}
		return
	}
	if len(path) == 0 {
		return
	}
	key := path[len(path)-1]
	mustBeString := slices.Contains([]string{"name", "namespace", "namePrefix", "kind", "apiVersion", "image", "value", "group", "version", "plural", "singular",
		"apiGroups", "resources", "verbs", "domain", "projectName", "newName", "newTag", "displayName", "keywords", "description", "layout", "repo"}, key) ||
		len(path) > 1 && slices.Contains([]string{"labels", "annotations", "matchLabels"}, path[len(path)-2])
	text, isString := value.(string)
	if mustBeString && !isString {
		t.Errorf("%s: %s is %#v, not a string", name, strings.Join(path, "."), value)
	}
	if key == "app.kubernetes.io/name" && text != project {
		t.Errorf("%s: %s is %q, want %q", name, strings.Join(path, "."), text, project)
	}
}

// TestBundleNamesAreYAMLStrings makes a bundle, and a catalog of it, of a package, channel, image and version
// that look like numbers.
func TestBundleNamesAreYAMLStrings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clitest.MustRun(t, dir, "init", "--domain", "1.6", "--repo", "example.com/x", "--project-name", "2026")
	clitest.MustRun(t, dir, "create", "api", "--group", "null", "--version", "v1", "--kind", "Null", "--plural", "null", "--image", "1.6")
	clitest.MustRun(t, dir, "bundle", "--version", "1.0.0", "--image", "2026:1.6", "--channels", "1.6,on", "--default-channel", "1.6")
	checkTree(t, dir, "2026", "1.6")
	annotations := clitest.ReadFile(t, filepath.Join(dir, "bundle", "metadata", "annotations.yaml"))
	if !strings.Contains(annotations, `package.v1: "2026"`) || !strings.Contains(annotations, `channel.default.v1: "1.6"`) {
		t.Errorf("annotations.yaml:\n%s", annotations)
	}
	if kustomization := clitest.ReadFile(t, filepath.Join(dir, "config", "manager", "kustomization.yaml")); !strings.Contains(kustomization, `newTag: "1.6"`) {
		t.Errorf("config/manager/kustomization.yaml:\n%s", kustomization)
	}
	clitest.MustRun(t, dir, "generate", "catalog", "--image", "1.6")
	found, err := os.ReadDir(filepath.Join(dir, "catalog"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no catalog: %v", err)
	}
	checkTree(t, dir, "2026", "1.6")
}
