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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/testdata/cases"
)

// validateDifference is a deliberate difference to the findings of operator-sdk's bundle validate.
type validateDifference struct {
	// cases matches the names of the cases that have the difference.
	cases string
	// missing matches messages that only operator-sdk prints, extra messages that only Operon prints; both
	// are empty if there are none.
	missing, extra string
	reason         string
}

// validateDifferences lists all differences in findings, with their reasons.
func validateDifferences() []validateDifference {
	return []validateDifference{
		{`^(33|34|39|42|80)-`, `<addr>|&\{map\[|Invalid value: \[\]apiextensions`, `^Error: Field spec\.(preserveUnknownFields|versions): |^Error: Value [\w-]*: error validating object: `,
			"messages hold values as the file has them, no memory addresses and no Go maps; each fault of an object's metadata is a finding"},
		{`^(23|24|81)-`, `Bundle validation errors: .*,`, `Bundle validation errors: [^,]*$`,
			"each fault of annotations and dependencies is a finding with its line, instead of a list with commas in random order"},
		{`.`, `validator is deprecated; for equivalent`, `validator is deprecated; for equivalent`,
			"the warning names validators that --select-optional supports"},
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

// validateRefusals maps cases that operator-sdk ends with a line of its log to a pattern of the findings that Operon
// prints instead, with file and line, also as JSON.
func validateRefusals() map[string]string {
	return map[string]string{
		"02-csv-missing":                `bundle/manifests: error: has no ClusterServiceVersion`,
		"03-csv-twice":                  `zz-second\.clusterserviceversion\.yaml:1:1: error: .* the first one is in bundle/manifests/otter-operator`,
		"06-api-version-three-parts":    `manifests/a\.yaml:1:1: error: ConfigMap a: apiVersion: "a/b/c" is no`,
		"07-yaml-directive":             `manifests/a\.yaml:1:1: error: starts with a YAML directive`,
		"08-csv-second-document-broken": `clusterserviceversion\.yaml:101:1: error: is an additional document`,
		"04-csv-yaml-error":             `otter-operator\.clusterserviceversion\.yaml:24:1: error: is not valid YAML: .*tab`,
		"05-csv-yaml-error-in-crd":      `sea\.otters\.example_otters\.yaml:6:1: error: is not valid YAML`,
		"06-csv-wrong-type":             `otter-operator\.clusterserviceversion\.yaml:84:5: error: .*spec\.installModes\[3\]\.supported: must be true or false`,
		"07-csv-bad-version":            `yaml:99:3: error: .*spec\.version: "1\.2\.x" is not a semantic version`,
		"17-annotations-missing":        `bundle/metadata/annotations\.yaml: error: there are no annotations`,
		"18-metadata-dir-missing":       `bundle/metadata/annotations\.yaml: error: there are no annotations`,
		"27-annotations-yaml-error":     `bundle/metadata/annotations\.yaml:7:1: error: is not valid YAML`,
		"28-annotations-wrong-dirs":     `bundle/deploy: error: does not exist`,
		"43-object-empty-file":          `(?s)comments\.yaml: error: .*empty\.yaml: error: .*null\.yaml:1:1: error: `,
		"44-files-not-yaml":             `(?s)Makefile:2:1: error: .*NOTES\.txt:1:1: error: .*logo\.png:1:1: error: `,
		"46-nested-directory":           `bundle/manifests/more: error: is a directory`,
		"47-hidden-file":                `(?s)\.DS_Store: error: is a hidden file.*\.cache: error: is a directory`,
		"48-empty-directory":            `(?s)no annotations.*bundle/manifests: error: does not exist`,
		"49-empty-manifests":            `bundle/manifests: error: has no manifests`,
		"50-manifests-missing":          `bundle/manifests: error: does not exist`,
		"51-path-missing":               `nowhere: error: no such file or directory; `,
		"52-path-is-file":               `bundle/metadata/annotations\.yaml: error: .*is not a readable tarball`,
		"54-helm-chart":                 `bundle/manifests: error: is a Helm chart`,
	}
}

// validateCalls maps calls that Operon refuses to a pattern of stderr.
func validateCalls() map[string]string {
	return map[string]string{
		"53-bad-calls/1":           `name the bundle's directory`,
		"53-bad-calls/3":           `--output "yaml": must be one of text, json-alpha1, json, sarif`,
		"53-bad-calls/4":           `--select-optional "name=no-such": selects none`,
		"53-bad-calls/5":           `--select-optional "name=\(": is not a valid label selector`,
		"53-bad-calls/6":           `--optional-values "k8s-version": must be key=value`,
		"53-bad-calls/7":           `--image-builder "buildah": must be docker, podman or none`,
		"89-external-validators/3": `the validator \./ext/nojson\.sh prints no result`,
		"89-external-validators/4": `running the validator \./ext/fails\.sh: exit status 3`,
		"89-external-validators/5": `running the validator \./ext/gone\.sh: .*no such file`,
	}
}

type validateOutput struct{ Type, Message string }

// validateReplay replays cases and records which entries of the lists above it uses.
type validateReplay struct {
	calls int
	used  map[string]bool
}

// TestValidateCases replays the recorded runs of operator-sdk's bundle validate. It is not parallel: the
// validator of platforms finds its container tool through the PATH of the process.
func TestValidateCases(t *testing.T) {
	nothing := t.TempDir()
	t.Setenv("PATH", nothing+string(os.PathListSeparator)+"/bin"+string(os.PathListSeparator)+"/usr/bin")
	for _, tool := range []string{"docker", "podman"} { // a tool that fails, like a missing one
		if err := os.WriteFile(filepath.Join(nothing, tool), []byte("#!/bin/sh\nexit 127\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	replay, calls := validateReplay{used: map[string]bool{}}, 0
	// operator-sdk's behavior for the cases of validate-ours was recorded, too, but they were made for Operon.
	for _, group := range []string{"validate", "validate-ours"} {
		recorded, err := cases.All(group)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range recorded {
			calls += len(c.Commands)
			t.Run(c.Name, func(t *testing.T) { replay.replayCase(t, c) })
		}
	}
	if replay.calls == calls && !t.Failed() { // -run can select some of them
		replay.checkUsed(t)
	}
}

// checkUsed fails for each entry that no case uses.
func (r *validateReplay) checkUsed(t *testing.T) {
	t.Helper()
	for _, d := range validateDifferences() {
		for list, pattern := range map[string]string{"missing": d.missing, "extra": d.extra} {
			if pattern != "" && !r.used[list+d.cases+pattern] {
				t.Errorf("validateDifferences: no message of the cases %s needs the %s pattern %q; delete it (%s)", d.cases, list, pattern, d.reason)
			}
		}
	}
	for name := range validateRefusals() {
		if !r.used[name] {
			t.Errorf("validateRefusals: no call of %q is compared; delete it", name)
		}
	}
	for call := range validateCalls() {
		if !r.used[call] {
			t.Errorf("validateCalls: call %q not found; delete it", call)
		}
	}
}

func (r *validateReplay) replayCase(t *testing.T, c *cases.Case) {
	work := filepath.Join(t.TempDir(), "work")
	if err := os.CopyFS(work, c.FS("tree")); err != nil {
		t.Fatal(err)
	}
	if len(c.Files("tree/fakebin")) > 0 {
		t.Setenv("PATH", filepath.Join(work, "fakebin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	environ := append(os.Environ(), c.Env...)
	for i, command := range c.Commands {
		number := strconv.Itoa(i + 1)
		t.Run(number, func(t *testing.T) {
			r.calls++
			r.replayCall(t, work, c.Name, c.Name+"/"+number, command, environ)
		})
	}
}

func (r *validateReplay) replayCall(t *testing.T, work, name, call string, command cases.Command, environ []string) {
	const severalBundles = "53-bad-calls/2" // which operator-sdk refuses
	args, failed := append(slices.Clone(command.Args), "--compat", "operator-sdk"), command.Failed && call != severalBundles
	code, out, errOut := runIn(t, work, environ, args...)
	if pattern, ok := validateCalls()[call]; ok {
		r.used[call] = true
		if code == 0 || !regexp.MustCompile(pattern).MatchString(errOut) {
			t.Errorf("exit code %d, stderr does not match %q:\n%s", code, pattern, errOut)
		}
		return
	}
	if failed != (code != 0) {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	if slices.Contains(args, "--list-optional") || call == severalBundles {
		return
	}
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "json-alpha1") }) {
		checkFindingLines(t, out)
		_, out, _ = runIn(t, work, environ, append(slices.Clone(args), "-o", "json-alpha1")...)
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
	if pattern, ok := validateRefusals()[name]; ok {
		r.used[name] = true
		var all []string
		for _, output := range got.Outputs {
			all = append(all, output.Message)
		}
		if !regexp.MustCompile(pattern).MatchString(strings.Join(all, "\n")) {
			t.Errorf("no finding matches %q:\n%s", pattern, out)
		}
		return
	}
	r.compareOutputs(t, name, recordedOutputs(t, command.Stdout), got.Outputs)
}

// compareOutputs compares findings, apart from deliberate differences and from repetitions.
func (r *validateReplay) compareOutputs(t *testing.T, name string, want, got []validateOutput) {
	t.Helper()
	// allowed reports whether an entry has a pattern in a list, missing or extra, that matches the message.
	allowed := func(message, list string, pattern func(validateDifference) string) bool {
		for _, d := range validateDifferences() {
			p := pattern(d)
			if p != "" && regexp.MustCompile(d.cases).MatchString(name) && regexp.MustCompile(p).MatchString(message) {
				r.used[list+d.cases+p] = true
				return true
			}
		}
		return false
	}
	var common, ours []validateOutput
	for _, output := range want {
		switch {
		case slices.Contains(got, output):
			if !slices.Contains(common, output) { // operator-sdk repeats messages
				common = append(common, output)
			}
		case !allowed(output.Message, "missing", func(d validateDifference) string { return d.missing }):
			t.Errorf("missing: %s %s", output.Type, output.Message)
		}
	}
	for _, output := range got {
		switch {
		case slices.Contains(want, output):
			ours = append(ours, output)
		case !allowed(output.Message, "extra", func(d validateDifference) string { return d.extra }):
			t.Errorf("extra: %s %s", output.Type, output.Message)
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

// checkFindingLines checks the text format: position, severity, text and rule on one line, the fix on the next.
func checkFindingLines(t *testing.T, out string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if line != "" && !strings.HasPrefix(line, "    ") && !findingLine.MatchString(line) {
			t.Errorf("not in the form of a finding: %s", line)
		}
	}
}

// runIn runs Operon in a directory.
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
