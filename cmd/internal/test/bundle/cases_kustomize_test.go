package bundle

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/testdata/cases"
)

// caseDifference is a case in which Operon deliberately does not do what operator-sdk 1.42.3 did.
type caseDifference struct {
	// reason is the bug of operator-sdk that is not repeated; empty if the outcome is the same.
	reason string
	// files is true if the files differ: those that Operon writes are in ours/ of the case.
	files bool
	// exit is true if the case fails with operator-sdk only or with Operon only.
	exit bool
	// want is a pattern that stderr must match; empty if stderr must be empty.
	want string
}

// kustomizeDifferences lists the cases of generate kustomize manifests with another outcome, and those whose
// messages matter. Operon always writes a missing kustomization.yaml, as operator-sdk's help promises.
func kustomizeDifferences() map[string]caseDifference {
	return map[string]caseDifference{
		"08-marker-unknown-argument":        {want: `bolt_types\.go:6:59: .*unknown argument "displayname"; did you mean "displayName"`},
		"09-marker-resources-too-short":     {want: `bolt_types\.go:18:4: .*\{Deployment\} has no version`},
		"10-marker-kind-arguments-on-field": {want: `bolt_types\.go:6:49: .*unknown argument "resources"`},
		"11-marker-without-type":            {want: `bolt_types\.go:6:5: .*type is missing(.|\n)*bolt_types\.go:9:5: .*type "both" is unknown`},
		"12-nested-structs": {files: true, want: `house_types\.go:17:9: .*values of map byName`,
			reason: "paths into maps lead nowhere, those into lists of lists have two indices, and structs without a name have fields"},
		"13-embedded-structs":           {files: true, reason: "an embedded struct with a name in JSON is no inline one"},
		"14-types-in-other-api-package": {files: true, reason: "types are looked up in the package that names them"},
		"15-types-outside-api-dir":      {files: true, reason: "markers in all packages of the module count"},
		"17-recursive-type-hangs":       {files: true, exit: true, reason: "a type that contains itself is entered once"},
		"18-names-and-plurals":          {files: true, reason: "plurals come from the CRDs, and abbreviations are words of their own"},
		"20-base-with-user-edits": {files: true, want: `kept values of the base that differ from the code`,
			reason: "what was changed by hand in an owned entry stays, as do unknown fields"},
		"22-base-broken":         {want: `bases/stove-operator\.clusterserviceversion\.yaml:13: did not find expected`},
		"24-package-flag":        {want: `--package "iron-bolt_operator\.x": Kubernetes will refuse`},
		"28-apis-dir-missing":    {want: `directory api not found`},
		"30-positional-argument": {want: `takes no arguments, but got "config/manifests"`},
		"31-project-missing":     {want: `no PROJECT file`},
		"35-go-syntax-error":     {want: `bolt_types\.go:23:22: expected ';'(.|\n)*bolt_types\.go:23:22: expected '}'`},
		"36-go-type-not-found":   {want: `iron\.bolts\.example/v1 Nut of PROJECT is left out: no Go type Nut`},
		"37-go-no-status":        {files: true, exit: true, reason: "a kind needs no status"},
		"38-go-no-group-marker":  {want: `v1 Bolt of PROJECT is left out: api/v1/bolt_types\.go: .*no marker \+groupName=iron\.bolts\.example`},
		"39-go-version-marker":   {want: `Skip of PROJECT is left out`},
		"41-interactive-printf":  {files: true, exit: true, reason: "answers that come all at once are read one by one"},
		"43-interactive-empty-answers": {files: true, want: `maintainer "no-mail" is left out(.|\n)*maintainer "Ann:ann@x\.example:extra" is left out`,
			reason: "an empty keyword is none"},
		"51-marker-spellings":        {want: `types\.go:25:5: .*type is missing`},
		"53-marker-bare-colon":       {want: `types\.go:6:75: .*a value with a colon must be quoted`},
		"56-resources-spellings":     {want: `resource \{Deployment,v1,a,b\} has more values than \{Kind,version,name\}`},
		"57-field-types":             {files: true, reason: "paths through pointers to lists have an index; functions and keys of maps have no fields"},
		"59-spec-behind-other-types": {files: true, exit: true, reason: "spec and status may be fields of an embedded struct or of the type that defines the kind"},
		"60-plurals-of-crds":         {files: true, reason: "plurals come from the CRDs"},
		"61-skipped-package-first":   {files: true, reason: "+kubebuilder:skip is about its own package alone"},
		"66-base-of-older-code":      {want: `updated from the code: description, which was "An older text\."`},
		"67-interactive-addresses":   {files: true, reason: "maintainers are identified by e-mail addresses, from which blanks are trimmed"},
		"68-import-missing":          {want: `types\.go:3:8: package example\.org/pump-operator/pkg/gone not found in the project`},
		"44-interactive-eof":         {want: `no input for prompt "Display name for the operator"`},
	}
}

// TestCasesKustomizeManifests replays the recorded runs of operator-sdk's generate kustomize manifests.
func TestCasesKustomizeManifests(t *testing.T) {
	t.Parallel()
	recorded, err := cases.All("kustomize-manifests")
	if err != nil {
		t.Fatal(err)
	}
	differences := kustomizeDifferences()
	for _, c := range recorded {
		difference, differs := differences[c.Name]
		delete(differences, c.Name)
		if differs && difference == (caseDifference{}) {
			t.Errorf("kustomizeDifferences: entry %q is empty", c.Name)
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			replayCase(t, c, difference)
		})
	}
	for name := range differences {
		t.Errorf("kustomizeDifferences: case %q not found; delete it", name)
	}
}

// promptLine matches a prompt.
var promptLine = regexp.MustCompile(`(?m)^.* \(example: .*\):\n`)

func replayCase(t *testing.T, c *cases.Case, difference caseDifference) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	if err := os.CopyFS(work, c.FS("tree")); err != nil {
		t.Fatal(err)
	}
	env, err := cmd.System()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	env.Dir, env.Out, env.Err, env.CacheDir = work, &out, &errOut, ""
	env.InTerminal, env.OutTerminal, env.ErrTerminal = false, false, false
	stdin, _, _ := c.Stdin()
	env.In = strings.NewReader(stdin)
	command := c.Commands[0]
	args := append([]string{"operon"}, command.Args...)
	code := cmd.Main(t.Context(), env, args)

	if command.Failed != difference.exit != (code != 0) {
		t.Errorf("exit code %d\n%s", code, errOut.String())
	}
	if diagnostics := promptLine.ReplaceAllString(errOut.String(), ""); difference.want == "" && diagnostics != "" {
		t.Errorf("unexpected on stderr: %s", diagnostics)
	}
	if matched, err := regexp.MatchString(difference.want, errOut.String()); err != nil || !matched {
		t.Errorf("stderr does not match %q (%v):\n%s", difference.want, err, errOut.String())
	}
	if slices.Contains(args, "-q") && out.Len() > 0 {
		t.Errorf("-q prints %s", out.String())
	}

	after := clitest.ReadTree(t, work)
	got := maps.Clone(after)
	recorded := c.Recorded()
	maps.DeleteFunc(got, func(name, _ string) bool {
		_, ok := recorded[name]
		return !ok && path.Base(name) == "kustomization.yaml"
	})
	same := func(recorded, got string) bool { return recorded == got }
	if difference.files && *clitest.Update {
		if err := c.Update(got, same); err != nil {
			t.Fatal(err)
		}
	}
	if difference.files != c.Differs() {
		t.Errorf("kustomizeDifferences has files: %t, but the case has ours/ or omitted: %t", difference.files, c.Differs())
	}
	if (difference.files || difference.exit) != (difference.reason != "") {
		t.Errorf("kustomizeDifferences has the reason %q, but files: %t, exit: %t", difference.reason, difference.files, difference.exit)
	}
	for _, name := range c.Redundant(same) {
		t.Errorf("%s is not a difference; delete it from the case", name)
	}
	want := c.Want()
	for _, name := range clitest.SortedKeys(want) {
		if text, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		} else if text != want[name] {
			t.Errorf("%s:\n%s", name, clitest.DiffLines(want[name], text))
		}
	}
	for _, name := range clitest.SortedKeys(got) {
		if _, ok := want[name]; !ok {
			t.Errorf("unexpected file %s:\n%s", name, got[name])
		}
	}
	if code != 0 && len(after) != len(c.Files("tree")) {
		t.Error("a failed command wrote something")
	}
	if code != 0 {
		return
	}
	// The second run changes nothing.
	env.In = strings.NewReader("")
	if code := cmd.Main(t.Context(), env, append(args, "--interactive=false")); code != 0 {
		t.Errorf("second run: exit code %d\n%s", code, errOut.String())
	}
	if slices.Contains(args, "--input-dir") {
		return
	}
	for name, text := range clitest.ReadTree(t, work) {
		if after[name] != text {
			t.Errorf("second run: %s changed:\n%s", name, clitest.DiffLines(after[name], text))
		}
	}
}
