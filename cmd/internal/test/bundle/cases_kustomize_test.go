package bundle

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// caseDifference is where Operon does not do what operator-sdk 1.42.3 did in a case.
type caseDifference struct {
	// reason is the bug of operator-sdk that is not repeated; empty where the outcome is the same.
	reason string
	// files tells that the files differ: those that Operon writes lie in testdata/cases/ours.
	files bool
	// exit tells that the case succeeds, or fails, other than with operator-sdk.
	exit bool
	// says is what stderr must match; empty for nothing on stderr.
	says string
}

// kustomizeDifferences are the cases of generate kustomize manifests that do not come out alike, and those
// whose messages matter. In every case a kustomization.yaml is written where none is, as operator-sdk's help promises.
func kustomizeDifferences() map[string]caseDifference {
	return map[string]caseDifference{
		"08-marker-unknown-argument":        {says: `bolt_types\.go:6:59: .*unknown argument "displayname"; did you mean "displayName"`},
		"09-marker-resources-too-short":     {says: `bolt_types\.go:18:4: .*\{Deployment\} lacks a version`},
		"10-marker-kind-arguments-on-field": {says: `bolt_types\.go:6:49: .*unknown argument "resources"`},
		"11-marker-without-type":            {says: `bolt_types\.go:6:5: .*type is missing(.|\n)*bolt_types\.go:9:5: .*type "both" is unknown`},
		"12-nested-structs": {files: true, says: `house_types\.go:17:9: .*values of the map byName`,
			reason: "paths into maps lead nowhere, those into lists of lists have two indices, and structs without a name have fields"},
		"13-embedded-structs":           {files: true, reason: "an embedded struct with a name in JSON is no inline one"},
		"14-types-in-other-api-package": {files: true, reason: "types are looked up in the package that names them"},
		"15-types-outside-api-dir":      {files: true, reason: "markers in all packages of the module count"},
		"17-recursive-type-hangs":       {files: true, reason: "a type that contains itself is entered once"},
		"18-names-and-plurals":          {files: true, reason: "plurals are those of the CRDs, and abbreviations are words of their own"},
		"20-base-with-user-edits": {files: true, says: `kept what the base has`,
			reason: "what was changed by hand in an owned entry stays, as do unknown fields"},
		"22-base-broken":         {says: `bases/stove-operator\.clusterserviceversion\.yaml:13: did not find expected`},
		"24-package-flag":        {says: `--package "iron-bolt_operator\.x": Kubernetes will refuse`},
		"28-apis-dir-missing":    {says: `there is no folder api`},
		"30-positional-argument": {says: `takes no arguments, but got "config/manifests"`},
		"31-project-missing":     {says: `there is no PROJECT file`},
		"35-go-syntax-error":     {says: `bolt_types\.go:23:22: expected ';'(.|\n)*bolt_types\.go:23:22: expected '}'`},
		"36-go-type-not-found":   {says: `iron\.bolts\.example/v1 Nut of PROJECT is left out: no Go type Nut`},
		"37-go-no-status":        {files: true, exit: true, reason: "a kind needs no status"},
		"38-go-no-group-marker":  {says: `v1 Bolt of PROJECT is left out: api/v1/bolt_types\.go: .*no marker \+groupName=iron\.bolts\.example`},
		"39-go-version-marker":   {says: `Skip of PROJECT is left out`},
		"41-interactive-printf":  {files: true, exit: true, reason: "answers that come all at once are read one by one"},
		"43-interactive-empty-answers": {files: true, says: `maintainer "no-mail" is left out(.|\n)*maintainer "Ann:ann@x\.example:extra" is left out`,
			reason: "an empty keyword is none"},
		"51-marker-spellings":        {says: `types\.go:25:5: .*type is missing`},
		"53-marker-bare-colon":       {says: `types\.go:6:75: .*a text with a colon needs quotes`},
		"56-resources-spellings":     {says: `the resource \{Deployment,v1,a,b\} has more than a kind, a version and a name`},
		"57-field-types":             {files: true, reason: "paths through pointers to lists have an index; functions and keys of maps have no fields"},
		"59-spec-behind-other-types": {files: true, exit: true, reason: "spec and status may stand in an embedded struct or in the type that defines the kind"},
		"60-plurals-of-crds":         {files: true, reason: "plurals are those of the CRDs"},
		"61-skipped-package-first":   {files: true, reason: "+kubebuilder:skip is about its own package alone"},
		"66-base-of-older-code":      {says: `brought up to date with the code: description, which was "An older text\."`},
		"67-interactive-addresses":   {files: true, reason: "e-mail addresses tell of maintainers, and blanks do not belong to them"},
		"68-import-missing":          {says: `types\.go:3:8: there is no package example\.org/pump-operator/pkg/gone`},
		"44-interactive-eof":         {says: `"Display name for the operator \(required\):" is open: there is no input to answer it`},
	}
}

// TestCasesKustomizeManifests replays what operator-sdk did in testdata/cases/kustomize-manifests.
func TestCasesKustomizeManifests(t *testing.T) {
	t.Parallel()
	dir := clitest.Testdata("cases", "kustomize-manifests")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	differences := kustomizeDifferences()
	for _, entry := range entries {
		difference := differences[entry.Name()]
		delete(differences, entry.Name())
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			replayCase(t, filepath.Join(dir, entry.Name()), clitest.Testdata("cases", "ours", "kustomize-manifests", entry.Name()), difference)
		})
	}
	for name := range differences {
		t.Errorf("there is no case %s", name)
	}
}

func replayCase(t *testing.T, dir, ours string, difference caseDifference) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	if err := os.CopyFS(work, os.DirFS(filepath.Join(dir, "tree"))); err != nil {
		t.Fatal(err)
	}
	before := folder(t, work)
	line := strings.TrimSpace(readCase(t, filepath.Join(dir, "cmd.txt")))
	env, err := cmd.System()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	env.Dir, env.Out, env.Err, env.CacheDir = work, &out, &errOut, ""
	env.InTerminal, env.OutTerminal, env.ErrTerminal = false, false, false
	env.In = strings.NewReader(readCase(t, filepath.Join(dir, "stdin.txt")))
	code := cmd.Main(context.Background(), env, append([]string{"operon"}, strings.Fields(line)...))

	if fails := strings.TrimSpace(readCase(t, filepath.Join(dir, "exit.txt"))) == "1"; fails != difference.exit != (code != 0) {
		t.Errorf("exit code %d\n%s", code, errOut.String())
	}
	if difference.says == "" && errOut.Len() > 0 {
		t.Errorf("unexpected on stderr: %s", errOut.String())
	}
	if matched, err := regexp.MatchString(difference.says, errOut.String()); err != nil || !matched {
		t.Errorf("stderr does not match %q (%v):\n%s", difference.says, err, errOut.String())
	}
	if strings.HasSuffix(line, " -q") && out.Len() > 0 {
		t.Errorf("-q prints %s", out.String())
	}

	got := folder(t, work)
	want := map[string]string{}
	for name, text := range folder(t, filepath.Join(dir, "expected")) {
		want[name] = text
	}
	if difference.files {
		changed := map[string]string{}
		for name, text := range got {
			if before[name] != text && filepath.Base(filepath.FromSlash(name)) != "kustomization.yaml" {
				changed[name] = text
			}
		}
		if *clitest.Update {
			rewrite(t, ours, changed)
		}
		want = folder(t, ours)
		if difference.reason == "" {
			t.Error("the files differ for no reason")
		}
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s:\n%s", name, clitest.DiffLines(text, got[name]))
		}
	}
	for name, text := range got {
		_, wanted := want[name]
		was, there := before[name]
		if !wanted && (there && was != text || !there && filepath.Base(filepath.FromSlash(name)) != "kustomization.yaml") {
			t.Errorf("unexpected change of %s:\n%s", name, text)
		}
	}
	if code != 0 && len(got) != len(before) {
		t.Error("a failed command wrote something")
	}
	if code != 0 {
		return
	}
	// The second time there is nothing to do.
	env.In = strings.NewReader("")
	if code := cmd.Main(context.Background(), env, append(append([]string{"operon"}, strings.Fields(line)...), "--interactive=false")); code != 0 {
		t.Errorf("again: exit code %d\n%s", code, errOut.String())
	}
	for name, text := range folder(t, work) {
		if got[name] != text && !strings.Contains(line, "--input-dir") {
			t.Errorf("again: %s changed:\n%s", name, clitest.DiffLines(got[name], text))
		}
	}
}

func readCase(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// folder reads all files below a folder, by slash-separated names.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func rewrite(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFiles(t, dir, files)
}
