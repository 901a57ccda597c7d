package bundle

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestGoldenBundlesAreValid checks that bundles of golden projects are valid with every optional suite, and with warnings
// treated as errors.
func TestGoldenBundlesAreValid(t *testing.T) {
	t.Parallel()
	for _, name := range clitest.GoldenProjects(t) {
		for _, selector := range []string{"", "suite=operatorframework", "name=good-practices", "name=community", "name=alpha-deprecated-apis"} {
			code, out, errOut := runIn(t, clitest.Testdata(name), nil, "bundle", "validate", "bundle", "--strict", "--select-optional", selector)
			if code != 0 {
				t.Errorf("%s, %q: exit code %d\n%s%s", name, selector, code, out, errOut)
			}
		}
	}
}

// TestGoldenBundlesWithoutGo checks the bundles of golden Helm and Ansible projects: they are valid and up to date, name the layout,
// take the namespaces of the OperatorGroup, and pass scorecard.
func TestGoldenBundlesWithoutGo(t *testing.T) {
	t.Parallel()
	layouts := map[string]string{}
	for _, name := range clitest.GoldenHelmProjects(t) {
		layouts[name] = "helm"
	}
	for _, name := range clitest.GoldenAnsibleProjects(t) {
		layouts[name] = "ansible"
	}
	for name, technology := range layouts {
		dir := clitest.CopyGolden(t, name)
		for _, args := range [][]string{
			{"generate", "--check"}, {"bundle", "validate", "bundle", "--strict"}, {"scorecard", "bundle", "--local"},
		} {
			clitest.MustRun(t, dir, args...)
		}
		files := clitest.ReadTree(t, dir)
		layout := "project_layout: " + technology + ".sdk.operatorframework.io/v1\n"
		for file, want := range map[string]string{
			"bundle/metadata/annotations.yaml":                               "operators.operatorframework.io.metrics." + layout,
			"bundle.Dockerfile":                                              "LABEL operators.operatorframework.io.metrics.project_layout=" + technology + ".sdk.operatorframework.io/v1\n",
			"bundle/manifests/" + name + ".clusterserviceversion.yaml":       "operators.operatorframework.io/" + layout,
			"config/manifests/bases/" + name + ".clusterserviceversion.yaml": "- supported: true\n    type: SingleNamespace\n",
		} {
			if !strings.Contains(files[file], want) {
				t.Errorf("%s: %s does not contain %q", name, file, want)
			}
		}
		csv := files["bundle/manifests/"+name+".clusterserviceversion.yaml"]
		if !strings.Contains(csv, "name: WATCH_NAMESPACE\n") || !strings.Contains(csv, "fieldPath: metadata.annotations['olm.targetNamespaces']\n") {
			t.Errorf("%s: the operator does not watch the namespaces of the OperatorGroup", name)
		}
	}
}
