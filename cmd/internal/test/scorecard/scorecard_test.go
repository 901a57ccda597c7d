package scorecard

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/scorecard"
)

// twoTests is a configuration with a built-in test and another.
const twoTests = `apiVersion: scorecard.operatorframework.io/v1alpha3
kind: Configuration
stages:
- tests:
  - image: registry.test/builtin:v1
    entrypoint: [scorecard-test, olm-crds-have-resources]
    labels: {test: resources, suite: olm, cluster-phase: before}
- parallel: true
  tests:
  - image: registry.test/own:v1
    entrypoint: [own, --all]
    labels: {test: own}
`

// withConfig makes a good bundle that has a configuration.
func withConfig(t *testing.T, config string, more ...scorecardEdit) (dir string) {
	t.Helper()
	return filepath.Dir(writeEdited(t, append([]scorecardEdit{{"tests/scorecard/config.yaml", "", config}}, more...)))
}

func TestScorecardFormats(t *testing.T) {
	t.Parallel()
	dir := withConfig(t, twoTests)
	const line = "--------------------------------------------------------------------------------\n"
	const listed = line + `Image:      registry.test/builtin:v1
Entrypoint: [scorecard-test olm-crds-have-resources]
Labels:
	"cluster-phase":"before"
	"suite":"olm"
	"test":"resources"
`
	const own = line + "Image:      registry.test/own:v1\nEntrypoint: [own --all]\nLabels:\n\t\"test\":\"own\"\n"
	for _, row := range []struct {
		name, args string
		code       int
		out        string
	}{
		{"list", "--list", 0, listed + "\n" + own + "\n"},
		{"list of a selector", "-L -l test=own", 0, own + "\n"},
		{"nothing selected", "--local -l test=no", 0, "0 tests selected\n"},
		{"nothing selected as json", "--local -l test=no -o json", 0,
			"{\n  \"kind\": \"TestList\",\n  \"apiVersion\": \"scorecard.operatorframework.io/v1alpha3\",\n  \"items\": null\n}\n"},
		{"text", "--local -l suite=olm", 1, listed + `Results:
	Name: olm-crds-have-resources
	State: fail

	Errors:
		Owned CRDs do not have resources specified
	Log:
		Loaded ClusterServiceVersion: otter-operator.v1.2.0


`},
		{"json", "--local -l suite=olm -o json", 1, `{
  "kind": "TestList",
  "apiVersion": "scorecard.operatorframework.io/v1alpha3",
  "items": [
    {
      "kind": "Test",
      "apiVersion": "scorecard.operatorframework.io/v1alpha3",
      "spec": {
        "image": "registry.test/builtin:v1",
        "entrypoint": [
          "scorecard-test",
          "olm-crds-have-resources"
        ],
        "labels": {
          "cluster-phase": "before",
          "suite": "olm",
          "test": "resources"
        },
        "storage": {
          "spec": {
            "mountPath": {}
          }
        }
      },
      "status": {
        "results": [
          {
            "name": "olm-crds-have-resources",
            "log": "Loaded ClusterServiceVersion: otter-operator.v1.2.0\n",
            "state": "fail",
            "errors": [
              "Owned CRDs do not have resources specified"
            ],
            "creationTimestamp": null
          }
        ]
      }
    }
  ]
}
`},
		{"xunit", "--local -l suite=olm -o xunit", 1, `<testsuites name="scorecard">
  <testsuite name="resources" tests="1" skipped="0" failures="1" errors="0">
    <properties>
      <property name="spec.image" value="registry.test/builtin:v1"></property>
      <property name="spec.entrypoint" value="scorecard-test olm-crds-have-resources"></property>
      <property name="labels.test" value="resources"></property>
      <property name="labels.cluster-phase" value="before"></property>
    </properties>
    <testcase name="olm-crds-have-resources" time="0001-01-01T00:00:00Z">
      <system-out>Loaded ClusterServiceVersion: otter-operator.v1.2.0&#xA;</system-out>
      <failure type="failure">Owned CRDs do not have resources specified</failure>
    </testcase>
  </testsuite>
</testsuites>
`},
	} {
		code, out, errOut := runScorecard(t, dir, append([]string{"bundle"}, strings.Fields(row.args)...)...)
		if code != row.code || out != row.out {
			t.Errorf("%s: %d\n%s\n%s\nwant %d\n%s", row.name, code, out, errOut, row.code, row.out)
		}
	}
}

// TestScorecardXUnit checks that a report is XML whatever tests print.
func TestScorecardXUnit(t *testing.T) {
	t.Parallel()
	list := v1alpha3.TestList{Items: []v1alpha3.Test{{Status: v1alpha3.TestStatus{Results: []v1alpha3.TestResult{
		{State: v1alpha3.FailState, Errors: []string{"a < b && \x01 \xff", `"c"`}},
		{State: v1alpha3.ErrorState}, {State: "odd"}, {State: v1alpha3.PassState},
	}}}}}
	var out bytes.Buffer
	if err := scorecard.Write(&out, scorecard.XUnit, list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<testsuite name="testsuite-001" tests="4" skipped="0" failures="1" errors="2">`,
		"<failure type=\"failure\">a &lt; b &amp;&amp; \uFFFD \uFFFD\n\"c\"</failure>",
		`<error type="error"></error>`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestScorecardRefusals(t *testing.T) {
	t.Parallel()
	good := withConfig(t, twoTests)
	for _, row := range []struct {
		name, dir, args string
		code            int
		output          []string
	}{
		{"no bundle", good, "", 2, []string{"operon scorecard takes one bundle, a directory or an image, but got 0 arguments", "run 'operon scorecard --help'"}},
		{"two bundles", good, "a b", 2, []string{"but got 2 arguments"}},
		{"wrong flags, all at once", good, "bundle -l a=b=c -o html --pod-security none -w 0s -n A_b -s A_b -u A: -b !", 2, []string{
			`--selector "a=b=c": is not a valid label selector`, `--output "html": must be one of text, json, xunit`, `--pod-security "none": must be restricted or legacy`,
			`--wait-time "0s": must be greater than zero`, `--namespace "A_b": must consist`, `--service-account "A_b": is not a valid service account name`,
			`--untar-image "A:": must have a tag after the colon`, `--storage-image "!": character 1 must not be '!'`}},
		{"unknown flag", good, "bundle --locale", 2, []string{"did you mean --local?"}},
		{"missing bundle", good, "bundel --local", 2, []string{"bundel: no such file or directory"}},
		{"tests that are not built in", good, "bundle --local", 2, []string{`--local: the test "own" of bundle/tests/scorecard/config.yaml needs its image registry.test/own:v1, and a cluster; leave it out with --selector`}},
		{"no cluster", good, "bundle", 1, []string{"there is no kubeconfig: pass --kubeconfig, or set KUBECONFIG", "--local runs the built-in tests without a cluster"}},
		{"dry run", good, "bundle --dry-run", 2, []string{"--dry-run: the results of tests are not known before they run; --list shows the tests"}},
		{"no configuration", filepath.Dir(writeEdited(t, nil)), "bundle --local", 1, []string{"reading the scorecard's configuration bundle/tests/scorecard/config.yaml: ", "--config names another"}},
		{"named configuration is missing", good, "bundle -c no.yaml", 2, []string{"reading the scorecard's configuration no.yaml: "}},
		{"no metadata", withConfig(t, twoTests, scorecardEdit{otterNote, "", ""}), "bundle --local", 1, []string{"bundle: annotations of a bundle not found"}},
		{"broken configuration", withConfig(t, "stages: ["), "bundle --local", 1, []string{"bundle/tests/scorecard/config.yaml is not a scorecard configuration: line 1: "}},
		{"configuration of another kind", withConfig(t, "kind: Deployment"), "bundle --local", 1, []string{"its kind is Deployment, not Configuration"}},
		{"configuration of another version", withConfig(t, "apiVersion: scorecard.operatorframework.io/v9"), "bundle --local", 1, []string{"has the apiVersion scorecard.operatorframework.io/v9; only "}},
		{"misspelled key", withConfig(t, "stages: [{tests: [], paralel: true}]"), "bundle --local", 0, []string{`warning: bundle/tests/scorecard/config.yaml: unknown field "paralel"; it has no effect`}},
		{"tests that cannot be pods", withConfig(t, "stages: [{tests: [{image: 'A:', labels: {test: x}}, {image: a, storage: {spec: {mountPath: {path: rel}}}}]}]"), "bundle", 1, []string{
			`the test "x" has the image "A:"`, `the test "a" has the mount path "rel"; it must begin with a slash`}},
		{"configuration outside of the bundle", withConfig(t, twoTests, scorecardEdit{otterNote, "  operators.operatorframework.io.bundle.metadata.v1: metadata/\n",
			"  operators.operatorframework.io.test.mediatype.v1: scorecard+v1\n  operators.operatorframework.io.test.config.v1: ../x\n"}), "bundle --local", 1,
			[]string{`"../x" must be a directory of the bundle`}},
		{"a test that there is not", withConfig(t, "stages: [{tests: [{image: a, entrypoint: [scorecard-test, none]}, {image: a, entrypoint: [/usr/bin/scorecard-test]}]}]"), "bundle --local", 1,
			[]string{"tests have failed: 2 of 2: scorecard-test none, /usr/bin/scorecard-test"}},
	} {
		code, _, errOut := runScorecard(t, row.dir, strings.Fields(row.args)...)
		if code != row.code {
			t.Errorf("%s: exit code %d, want %d\n%s", row.name, code, row.code, errOut)
		}
		for _, want := range row.output {
			if !strings.Contains(errOut, want) {
				t.Errorf("%s: no %q in\n%s", row.name, want, errOut)
			}
		}
	}
}

// TestScorecardUnreadable checks that a file that is not YAML is named, although the result is as if it were not there.
func TestScorecardUnreadable(t *testing.T) {
	t.Parallel()
	dir := withConfig(t, twoTests, scorecardEdit{otterCSV, "metadata:\n", "metadata: [\n"})
	code, out, _ := runScorecard(t, dir, "bundle", "--local", "-l", "suite=olm")
	for _, want := range []string{"State: fail", "unable to find a csv in bundle directory bundle", "bundle/manifests/otter-operator.clusterserviceversion.yaml: "} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%d, no %q in\n%s", code, want, out)
		}
	}
}

// TestScorecardConfigOfBundle checks that annotations and --config set where the configuration is.
func TestScorecardConfigOfBundle(t *testing.T) {
	t.Parallel()
	dir := withConfig(t, "stages: []", scorecardEdit{"own/config.yaml", "", twoTests},
		scorecardEdit{otterNote, "annotations:\n", "annotations:\n  operators.operatorframework.io.test.mediatype.v1: scorecard+v1\n  operators.operatorframework.io.test.config.v1: own/\n"})
	if _, out, _ := runScorecard(t, dir, "bundle", "--list"); strings.Count(out, "Image:") != 2 {
		t.Error(out)
	}
	if _, out, _ := runScorecard(t, dir, "bundle", "--list", "-c", "bundle/tests/scorecard/config.yaml"); out != "0 tests selected\n" {
		t.Error(out)
	}
	if _, out, _ := runScorecard(t, filepath.Dir(dir), "-C", filepath.Base(dir), "bundle", "--list", "-l", "test in (own)"); strings.Count(out, "Image:") != 1 {
		t.Error(out)
	}
}

// TestScorecardProgram checks that the program answers as the program of a test image.
func TestScorecardProgram(t *testing.T) {
	t.Parallel()
	mounted := afero.NewMemMapFs()
	good := os.DirFS(writeEdited(t, nil))
	for _, name := range []string{otterCSV, otterCRD, otterNote} {
		data, err := afero.ReadFile(afero.FromIOFS{FS: good}, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := afero.WriteFile(mounted, "/bundle/"+name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"/usr/local/bin/scorecard-test", "olm-bundle-validation"}, {"operon", "scorecard-test", "olm-bundle-validation"}} {
		var out, errOut bytes.Buffer
		code := cmd.Main(t.Context(), &cmd.Env{In: strings.NewReader(""), Out: &out, Err: &errOut, Dir: "/", FS: mounted}, args)
		var status v1alpha3.TestStatus
		if err := json.Unmarshal(out.Bytes(), &status); err != nil || code != 0 || len(status.Results) != 1 || status.Results[0].State != v1alpha3.PassState {
			t.Errorf("%q: %d, %v\n%s%s", args, code, err, out.String(), errOut.String())
		}
	}
}

// TestScorecardOfScaffold checks that the bundle of a scaffolded operator passes all built-in tests.
func TestScorecardOfScaffold(t *testing.T) {
	t.Parallel()
	code, out, errOut := runScorecard(t, clitest.Testdata("memcached-operator"), "bundle", "--local", "-o", "json")
	var list v1alpha3.TestList
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list.Items) != len(scorecard.BuiltIns()) {
		t.Fatalf("%d, %v\n%s%s", code, err, out, errOut)
	}
	for _, test := range list.Items {
		if r := test.Status.Results[0]; r.State != v1alpha3.PassState || len(r.Suggestions) > 0 && r.Name != "olm-status-descriptors" {
			t.Errorf("%s: %s %q %q", r.Name, r.State, r.Errors, r.Suggestions)
		}
	}
}
