package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// validateDifference is one deliberate difference to operator-sdk's bundle validate.
type validateDifference struct {
	// cases matches the names of the cases that it is about.
	cases string
	// lost matches messages of operator-sdk that Operon does not repeat, more what it says instead; both
	// are empty where there is none.
	lost, more string
	reason     string
}

// validateDifferences lists all differences in findings, with their reasons.
func validateDifferences() []validateDifference {
	return []validateDifference{
		{`^\d`, `<addr>|&\{?map\[|&map\[|Invalid value: \[\]apiextensions`, `^Error: Field spec\.(preserveUnknownFields|versions): |^Error: Value [\w-]*: error validating object: `,
			"messages hold values as the file has them, no memory addresses and no Go maps; each fault of an object's metadata is a finding"},
		{`^(23|24|81)-`, `Bundle validation errors: .*,`, `Bundle validation errors: [^,]*$`,
			"each fault of annotations and dependencies is a finding with its line, instead of a list with commas in random order"},
		{`.`, `validator is deprecated; for equivalent`, `validator is deprecated; for equivalent`,
			"the warning names validators that --select-optional knows"},
		{`^(77|80)-`, `^Warning: .*olm\.maxOpenShiftVersion`, ``,
			"the community validator repeats its errors as warnings"},
		{`^79-`, `\(\["ClusterServiceVersion\.Spec\.InstallStrategy\.`, ``,
			"the library has learned that rules name no version, so that policy/v1 is no removed API"},
		{`^13-categories-file`, `could not extract custom categories`, `could not extract custom categories`,
			"the message names the file as the variable does, no absolute path and no Go map"},
		{`^(53|86)-`, `^Warning: .*unable to inspect the image`, `^Warning: .*unable to inspect the image`,
			"the error of the missing container tool is the system's"},
	}
}

// validateRefusals are the cases that operator-sdk answers with a line of its log, and what Operon says
// on stdout, which has file and line, also as JSON.
func validateRefusals() map[string]string {
	return map[string]string{
		"02-csv-missing":                `bundle/manifests: error: holds no ClusterServiceVersion`,
		"03-csv-twice":                  `zz-second\.clusterserviceversion\.yaml:1:1: error: .* the first one is in bundle/manifests/otter-operator`,
		"06-api-version-three-parts":    `manifests/a\.yaml:1:1: error: ConfigMap a: apiVersion: "a/b/c" is no`,
		"07-yaml-directive":             `manifests/a\.yaml:1:1: error: begins with a directive`,
		"08-csv-second-document-broken": `clusterserviceversion\.yaml:101:1: error: is a further document`,
		"04-csv-yaml-error":             `otter-operator\.clusterserviceversion\.yaml:24:1: error: is not valid YAML: .*tab`,
		"05-csv-yaml-error-in-crd":      `sea\.otters\.example_otters\.yaml:6:1: error: is not valid YAML`,
		"06-csv-wrong-type":             `otter-operator\.clusterserviceversion\.yaml:84:5: error: .*spec\.installModes\[3\]\.supported: must be true or false`,
		"07-csv-bad-version":            `yaml:99:3: error: .*spec\.version: "1\.2\.x" is no semantic version`,
		"17-annotations-missing":        `bundle/metadata/annotations\.yaml: error: there are no annotations`,
		"18-metadata-dir-missing":       `bundle/metadata/annotations\.yaml: error: there are no annotations`,
		"27-annotations-yaml-error":     `bundle/metadata/annotations\.yaml:7:1: error: is not valid YAML`,
		"28-annotations-wrong-dirs":     `bundle/deploy: error: does not exist`,
		"43-object-empty-file":          `(?s)comments\.yaml: error: .*empty\.yaml: error: .*null\.yaml:1:1: error: `,
		"44-files-not-yaml":             `(?s)Makefile:2:1: error: .*NOTES\.txt:1:1: error: .*logo\.png:1:1: error: `,
		"46-nested-directory":           `bundle/manifests/more: error: is a directory`,
		"47-hidden-file":                `(?s)\.DS_Store: error: is a hidden file.*\.cache: error: is a directory`,
		"48-empty-directory":            `(?s)no annotations.*bundle/manifests: error: does not exist`,
		"49-empty-manifests":            `bundle/manifests: error: holds no manifests`,
		"50-manifests-missing":          `bundle/manifests: error: does not exist`,
		"51-path-missing":               `nowhere: error: there is no such folder`,
		"52-path-is-file":               `bundle/metadata/annotations\.yaml: error: .*is no tarball that can be read`,
		"54-helm-chart":                 `bundle/manifests: error: is a Helm chart`,
	}
}

// validateCalls are wrong calls, whose exit code is 2 here, and what stderr says of them.
func validateCalls() map[string]string {
	return map[string]string{
		"53-bad-calls/1":           `name the bundle's directory`,
		"53-bad-calls/3":           `--output "yaml": must be one of text, json-alpha1, json, sarif`,
		"53-bad-calls/4":           `--select-optional "name=no-such": selects none`,
		"53-bad-calls/5":           `--select-optional "name=\(": is no label selector`,
		"53-bad-calls/6":           `--optional-values "k8s-version": must be key=value`,
		"53-bad-calls/7":           `--image-builder "buildah": must be docker, podman or none`,
		"89-external-validators/3": `the validator \./ext/nojson\.sh prints no result`,
		"89-external-validators/4": `running the validator \./ext/fails\.sh: exit status 3`,
		"89-external-validators/5": `running the validator \./ext/gone\.sh: .*no such file`,
	}
}

type validateOutput struct{ Type, Message string }

// TestValidateCases replays the recorded runs of operator-sdk's bundle validate. It is not parallel: the
// validator of platforms finds its container tool through the PATH of the process.
func TestValidateCases(t *testing.T) {
	nothing := t.TempDir()
	t.Setenv("PATH", nothing+string(os.PathListSeparator)+"/bin"+string(os.PathListSeparator)+"/usr/bin")
	for _, tool := range []string{"docker", "podman"} { // a tool that fails as a missing one would
		if err := os.WriteFile(filepath.Join(nothing, tool), []byte("#!/bin/sh\nexit 127\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// validate-ours are inputs of ours, with what operator-sdk did with them.
	for _, group := range []string{"validate", "validate-ours"} {
		cases := clitest.Testdata("cases", group)
		entries, err := os.ReadDir(cases)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			t.Run(entry.Name(), func(t *testing.T) {
				replayValidateCase(t, filepath.Join(cases, entry.Name()))
			})
		}
	}
}

func replayValidateCase(t *testing.T, dir string) {
	name := filepath.Base(dir)
	work := filepath.Join(t.TempDir(), "work")
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	env := os.Environ()
	if file := filepath.Join(dir, "env.txt"); exists(file) {
		env = append(env, strings.Split(strings.TrimSpace(clitest.ReadFile(t, file)), "\n")...)
	}
	if file := filepath.Join(dir, "mkdirs.txt"); exists(file) {
		for _, folder := range strings.Fields(clitest.ReadFile(t, file)) {
			if err := os.MkdirAll(filepath.Join(work, folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if exists(filepath.Join(dir, "fakebin")) {
		t.Setenv("PATH", filepath.Join(work, "fakebin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	for i, line := range strings.Split(strings.TrimSpace(clitest.ReadFile(t, filepath.Join(dir, "cmd.txt"))), "\n") {
		number := string(rune('1' + i))
		if i >= 9 {
			number = "1" + string(rune('0'+i-9))
		}
		t.Run(number, func(t *testing.T) {
			replayValidateCall(t, work, name+"/"+number, line, env, filepath.Join(dir, "expected-"+number))
		})
	}
}

func replayValidateCall(t *testing.T, work, call, line string, environ []string, expected string) {
	name, _, _ := strings.Cut(call, "/")
	args := shellFields(line)
	code, out, errOut := runIn(t, work, environ, args...)
	failed := strings.TrimSpace(clitest.ReadFile(t, expected+".exit")) != "0"
	if says, ok := validateCalls()[call]; ok {
		if code == 0 || !regexp.MustCompile(says).MatchString(errOut) {
			t.Errorf("exit code %d, stderr does not say %q:\n%s", code, says, errOut)
		}
		return
	}
	if call == "53-bad-calls/2" { // many bundles at once are new
		failed = false
	}
	if failed != (code != 0) {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	if strings.Contains(line, "--list-optional") || call == "53-bad-calls/2" {
		return
	}
	if !strings.Contains(line, "json-alpha1") {
		checkFindingLines(t, out)
		args = append(args, "-o", "json-alpha1")
		_, out, _ = runIn(t, work, environ, args...)
	}
	var got struct {
		Passed  bool
		Outputs []validateOutput
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got.Passed == failed || !strings.Contains(out, `"outputs": [`) {
		t.Errorf("verdict of json-alpha1:\n%s", out)
	}
	if says, ok := validateRefusals()[name]; ok {
		var all []string
		for _, output := range got.Outputs {
			all = append(all, output.Message)
		}
		if !regexp.MustCompile(says).MatchString(strings.Join(all, "\n")) {
			t.Errorf("no finding says %q:\n%s", says, out)
		}
		return
	}
	compareOutputs(t, name, recordedOutputs(t, clitest.ReadFile(t, expected+".stdout")), got.Outputs)
}

// compareOutputs compares findings, apart from the deliberate differences and from repetitions.
func compareOutputs(t *testing.T, name string, want, got []validateOutput) {
	t.Helper()
	allowed := func(message string, of func(validateDifference) string) bool {
		return slices.ContainsFunc(validateDifferences(), func(d validateDifference) bool {
			return of(d) != "" && regexp.MustCompile(d.cases).MatchString(name) && regexp.MustCompile(of(d)).MatchString(message)
		})
	}
	var common, ours []validateOutput
	for _, output := range want {
		switch {
		case slices.Contains(got, output):
			if !slices.Contains(common, output) { // operator-sdk repeats itself
				common = append(common, output)
			}
		case !allowed(output.Message, func(d validateDifference) string { return d.lost }):
			t.Errorf("missing: %s %s", output.Type, output.Message)
		}
	}
	for _, output := range got {
		switch {
		case slices.Contains(want, output):
			ours = append(ours, output)
		case !allowed(output.Message, func(d validateDifference) string { return d.more }):
			t.Errorf("more: %s %s", output.Type, output.Message)
		}
	}
	if !slices.Equal(common, ours) {
		t.Errorf("order differs:\nwant %v\ngot  %v", common, ours)
	}
}

var logLine = regexp.MustCompile(`level=(\w+) msg=("(?:[^"\\]|\\.)*"|\S+)`)

// recordedOutputs reads the findings of a recording, in either format.
func recordedOutputs(t *testing.T, stdout string) []validateOutput {
	t.Helper()
	if strings.HasPrefix(stdout, "{") {
		var result struct{ Outputs []validateOutput }
		if err := json.Unmarshal([]byte(stdout), &result); err != nil {
			t.Fatal(err)
		}
		return result.Outputs
	}
	var outputs []validateOutput
	for _, m := range logLine.FindAllStringSubmatch(stdout, -1) {
		message := m[2]
		if strings.HasPrefix(message, `"`) {
			if err := json.Unmarshal([]byte(message), &message); err != nil {
				t.Fatal(err)
			}
		}
		outputs = append(outputs, validateOutput{m[1], message})
	}
	return outputs
}

var findingLine = regexp.MustCompile(`^[\w./-]+(:\d+:\d+)?: (error|warning|note): .* \[[a-z0-9-]+\]$`)

// checkFindingLines holds the form of text: place, level, text and rule on one line, the fix on the next.
func checkFindingLines(t *testing.T, out string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if line != "" && !strings.HasPrefix(line, "    ") && !findingLine.MatchString(line) {
			t.Errorf("not in the form of a finding: %s", line)
		}
	}
}

// shellFields takes a recorded command line apart.
func shellFields(line string) []string {
	var fields []string
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		fields = append(fields, m[1]+m[2])
	}
	return fields
}

// runIn calls Operon in a folder.
func runIn(t *testing.T, dir string, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	env := &cmd.Env{
		Out: &out, Err: &errOut, Dir: dir, FS: afero.NewOsFs(), Environ: environ,
		Now: func() time.Time { return time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC) },
		Run: runProgram,
	}
	code = cmd.Main(t.Context(), env, append([]string{"operon"}, args...))
	return code, out.String(), errOut.String()
}

func runProgram(ctx context.Context, command cmd.Command) error {
	c := exec.CommandContext(ctx, command.Name, command.Args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = command.Dir, command.Environ, command.Out, command.Err
	return c.Run()
}
