package upgrade

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// made is what an invented scaffold writes for a project of some name.
func made(project string) map[string][]byte {
	return map[string][]byte{
		"Makefile":         []byte("# Builds " + project + ".\nIMG ?= controller:latest\nTOOL ?= v1.2.0\n\nall: build\n\nbuild:\n\tgo build\n\ntest:\n\tgo test\n"),
		"config/old.yaml":  []byte("kind: Old\nname: " + project + "\n"),
		"config/gone.yaml": []byte("kind: Gone\n"),
		"README.md":        []byte("# " + project + "\n\nSay what it does.\n"),
	}
}

func todays() map[string][]byte {
	return map[string][]byte{
		"Makefile":         []byte("# Makes mine.\nIMG ?= controller:latest\nTOOL ?= v1.10.0\n\nall: build\n\nbuild: vet\n\tgo build\n\ntest: vet\n\tgo test\n"),
		"config/gone.yaml": []byte("kind: Gone\n"),
		"config/new.yaml":  []byte("kind: New\n"),
		"README.md":        []byte("# mine\n\nAll of it.\n"),
		"api/v1/types.go":  []byte("package v1\n"),
	}
}

func upgradeFiles(t *testing.T, files map[string][]byte, side Side) (map[string]string, *Result) {
	t.Helper()
	known, err := parseKnown(Record(Names{Project: "prjnm", Domain: "domnm.example", Repo: "repnm.example/x"},
		map[Scaffold][]map[string][]byte{{"kubebuilder", "9.0.0", "go/v4"}: {made("prjnm")}}))
	if err != nil {
		t.Fatal(err)
	}
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		if err := afero.WriteFile(fsys, "/p/"+name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := scaffold.NewTree(fsys, "/p")
	result, err := Files(tree, todays(), Options{
		Names: Names{Project: "mine", Domain: "example.org", Repo: "example.org/mine"}, Known: known, Side: side, Label: "today",
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	names, err := tree.Walk(".", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := tree.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out, result
}

func TestFiles(t *testing.T) {
	t.Parallel()
	files := made("mine")
	out, result := upgradeFiles(t, files, Neither)
	want := todays()
	delete(want, "api/v1/types.go") // a person's
	for name, text := range want {
		if out[name] != string(text) {
			t.Errorf("%s:\n%s", name, out[name])
		}
	}
	if len(out) != len(want) || result.From.Version != "9.0.0" {
		t.Errorf("%q from %s", slices.Sorted(maps.Keys(out)), result.From)
	}
	again := map[string][]byte{}
	for name, text := range out {
		again[name] = []byte(text)
	}
	if _, result := upgradeFiles(t, again, Neither); len(result.Files) != 0 || result.From != (Scaffold{}) {
		t.Errorf("again: %v from %s", result.Files, result.From)
	}
}

func TestFilesEdited(t *testing.T) {
	t.Parallel()
	files := made("mine")
	edit := func(name, old, text string) {
		files[name] = []byte(strings.Replace(string(files[name]), old, text, 1))
	}
	edit("Makefile", "IMG ?= controller:latest", "IMG ?= example.org/mine:v7")
	edit("Makefile", "v1.2.0", "v2.0.0")
	edit("Makefile", "\ntest:\n", "\nlint:\n\tlint .\n\ntest:\n")
	edit("config/old.yaml", "mine", "ours")
	edit("README.md", "Say", "I say")
	delete(files, "config/gone.yaml")
	out, result := upgradeFiles(t, files, Neither)
	want := "# Makes mine.\nIMG ?= example.org/mine:v7\nTOOL ?= v2.0.0\n\nall: build\n\nbuild: vet\n\tgo build\n\nlint:\n\tlint .\n\ntest: vet\n\tgo test\n"
	if out["Makefile"] != want {
		t.Errorf("Makefile:\n%s", out["Makefile"])
	}
	if !strings.Contains(out["README.md"], "I say what it does.") {
		t.Errorf("README.md:\n%s", out["README.md"])
	}
	if _, ok := out["config/gone.yaml"]; ok {
		t.Error("what a person removed came back")
	}
	for name, state := range map[string]State{"Makefile": Merged, "config/old.yaml": Kept, "config/new.yaml": Created} {
		if !slices.ContainsFunc(result.Files, func(f File) bool { return f.Name == name && f.State == state }) {
			t.Errorf("%s: %v", name, result.Files)
		}
	}
}

// TestFilesKeepsSimilarLine verifies that a line of the user is not taken for one of the scaffold that has the same
// 32-bit FNV-1a hash.
func TestFilesKeepsSimilarLine(t *testing.T) {
	t.Parallel()
	for line, similar := range map[string]string{"build:": "build: step-52853 step-4717", "test:": "test: step-7177 step-50247"} {
		files := made("mine")
		files["Makefile"] = []byte(strings.Replace(string(files["Makefile"]), "\n"+line+"\n", "\n"+similar+"\n", 1))
		if out, _ := upgradeFiles(t, files, Ours); !strings.Contains(out["Makefile"], "\n"+similar+"\n") {
			t.Errorf("%q is lost:\n%s", similar, out["Makefile"])
		}
	}
}

func TestFilesInConflict(t *testing.T) {
	t.Parallel()
	for side, want := range map[Side]string{
		Neither: "<<<<<<< the project\nbuild: mine\n=======\nbuild: vet\n>>>>>>> today\n", Ours: "\nbuild: mine\n", Theirs: "\nbuild: vet\n",
	} {
		files := made("mine")
		files["Makefile"] = []byte(strings.Replace(string(files["Makefile"]), "build:\n", "build: mine\r\n", 1))
		files["Makefile"] = []byte(strings.ReplaceAll(string(files["Makefile"]), "\r", ""))
		out, result := upgradeFiles(t, files, side)
		if !strings.Contains(out["Makefile"], want) || len(result.Conflicts()) > 0 != (side == Neither) {
			t.Errorf("side %d:\n%s\n%v", side, out["Makefile"], result.Files)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	known, err := ReadKnown()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"1.42": "operator-sdk 1.42.3", "v4.15.0": "kubebuilder 4.15.0", "kubebuilder-4.7": "kubebuilder 4.15.0", "operator-sdk-1.34": "operator-sdk 1.42.3", "1.23": "operator-sdk 1.23.0 (go/v3)", "4.99": "kubebuilder 4.15.0",
	} {
		if only := known.Named(name); only == nil || only.Scaffolds()[0].String() != want {
			t.Errorf("%s is not %s", name, want)
		}
	}
	for _, name := range []string{"", "latest", "1.x", "helm-1.2"} {
		if known.Named(name) != nil {
			t.Errorf("%q stands for something", name)
		}
	}
}
