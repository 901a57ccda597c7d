package migrate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// made is what an invented scaffold writes for a project of some name.
func made(project string) map[string][]byte {
	return map[string][]byte{
		"Makefile":                          []byte("# Builds " + project + ".\nIMG ?= controller:latest\nTOOL ?= v1.2.0\n\nall: build\n\nbuild:\n\tgo build\n\ntest:\n\tgo test\n"),
		"Dockerfile":                        []byte("FROM golang:1.25 AS builder\nCOPY . .\n"),
		"config/manager/old.yaml":           []byte("kind: Old\nname: " + project + "\n"),
		"config/manager/gone.yaml":          []byte("kind: Gone\n"),
		"config/manager/kustomization.yaml": []byte("resources:\n- moved.yaml\n"),
		"config/manager/moved.yaml":         []byte("kind: Moved\nmetadata:\n  labels:\n    a: b\n  name: moved\n"),
		"config/manager/listed.yaml":        []byte("kind: Listed\nmetadata:\n  name: listed\n"),
		"config/webhook/kustomization.yaml": []byte("resources:\n- extra.yaml\n- manifests.yaml\n"),
		"config/webhook/extra.yaml":         []byte("kind: Extra\nmetadata:\n  name: extra\n"),
		"README.md":                         []byte("# " + project + "\n\nSay what it does.\n"),
	}
}

func todays() map[string][]byte {
	return map[string][]byte{
		"Makefile":                          []byte("# Makes mine.\nIMG ?= controller:latest\nTOOL ?= v1.10.0\n\nall: build\n\nbuild: vet\n\tgo build\n\ntest: vet\n\tgo test\n"),
		"Dockerfile":                        []byte("FROM golang:1.26 AS builder\nCOPY . .\n"),
		"config/manager/gone.yaml":          []byte("kind: Gone\n"),
		"config/manager/new.yaml":           []byte("kind: New\n"),
		"config/manager/kustomization.yaml": []byte("resources:\n- other.yaml\n- listed.yaml\n"),
		"config/manager/other.yaml":         []byte("kind: Moved\nmetadata:\n  labels:\n    a: b\n  name: moved\n"),
		"config/manager/listed.yaml":        []byte("kind: Listed\nmetadata:\n  name: listed\n"),
		"README.md":                         []byte("# mine\n\nAll of it.\n"),
		"api/v1/types.go":                   []byte("package v1\n"),
	}
}

func upgradeFiles(t *testing.T, files map[string][]byte, side merge.Side) (map[string]string, *Result) {
	t.Helper()
	fingerprints, err := parseFingerprints(Record([]Tree{{
		Releases: []Release{{"kubebuilder", "9.0", "go/v4"}}, Names: Names{Project: "prjnm", Domain: "domnm.example", Repo: "repnm.example/x"}, Files: made("prjnm"),
	}}))
	if err != nil {
		t.Fatal(err)
	}
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		if err := afero.WriteFile(fsys, "/p/"+name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := worktree.NewTree(fsys, "/p")
	result, err := Files(tree, todays(), Options{
		Names: Names{Project: "mine", Domain: "example.org", Repo: "example.org/mine"}, Fingerprints: fingerprints, Verifier: NewVerifier(worktree.NewTree(fsys, "/p")), Side: side, Label: "current",
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
	files["config/webhook/manifests.yaml"] = []byte("---\n") // generated
	out, result := upgradeFiles(t, files, merge.Markers)
	want := todays()
	want["config/webhook/manifests.yaml"] = files["config/webhook/manifests.yaml"]
	delete(want, "api/v1/types.go") // the user's
	for name, text := range want {
		if out[name] != string(text) {
			t.Errorf("%s: got\n%s", name, out[name])
		}
	}
	if len(out) != len(want) || result.From.Version != "9.0" {
		t.Errorf("got files %q from %s", slices.Sorted(maps.Keys(out)), result.From)
	}
	again := map[string][]byte{}
	for name, text := range out {
		again[name] = []byte(text)
	}
	if _, result := upgradeFiles(t, again, merge.Markers); len(result.Files) != 0 || result.From != (Release{}) {
		t.Errorf("second upgrade: got %v from %s", result.Files, result.From)
	}
}

// TestKustomizationOfEditedFiles keeps a kustomization that is no longer part of the scaffold with the files that stay.
func TestKustomizationOfEditedFiles(t *testing.T) {
	t.Parallel()
	files := made("mine")
	files["config/webhook/extra.yaml"] = append(files["config/webhook/extra.yaml"], "data: mine\n"...)
	out, _ := upgradeFiles(t, files, merge.Markers)
	for _, name := range []string{"config/webhook/kustomization.yaml", "config/webhook/extra.yaml"} {
		if out[name] != string(files[name]) {
			t.Errorf("%s: got %q", name, out[name])
		}
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
	edit("config/manager/old.yaml", "mine", "ours")
	edit("README.md", "Say", "I say")
	delete(files, "config/manager/gone.yaml")
	edit("config/manager/kustomization.yaml", "- moved.yaml\n", "- moved.yaml\n- gone.yaml\n")
	edit("config/manager/moved.yaml", "Moved", "Mine")
	edit("config/manager/listed.yaml", "Listed", "Mine")
	out, result := upgradeFiles(t, files, merge.Markers)
	want := "# Makes mine.\nIMG ?= example.org/mine:v7\nTOOL ?= v2.0.0\n\nall: build\n\nbuild: vet\n\tgo build\n\nlint:\n\tlint .\n\ntest: vet\n\tgo test\n"
	if out["Makefile"] != want {
		t.Errorf("Makefile: got\n%s", out["Makefile"])
	}
	if !strings.Contains(out["README.md"], "I say what it does.") {
		t.Errorf("README.md: got\n%s", out["README.md"])
	}
	if _, ok := out["config/manager/gone.yaml"]; ok {
		t.Error("a unit that the user removed was added")
	}
	if _, ok := out["config/manager/other.yaml"]; ok {
		t.Error("an object that the user replaced was added in another file")
	}
	if out["config/manager/kustomization.yaml"] != string(files["config/manager/kustomization.yaml"]) {
		t.Errorf("config/manager/kustomization.yaml: got\n%s", out["config/manager/kustomization.yaml"])
	}
	for name, state := range map[string]State{"Makefile": Merged, "config/manager/old.yaml": Kept, "config/manager/new.yaml": Created} {
		if !slices.ContainsFunc(result.Files, func(f File) bool { return f.Name == name && f.State == state }) {
			t.Errorf("%s: got %v", name, result.Files)
		}
	}
}

// TestFilesReferred verifies that an object stays that a manifest of the user refers to.
func TestFilesReferred(t *testing.T) {
	t.Parallel()
	files := made("mine")
	files["config/manager/mine.yaml"] = []byte("kind: Mine\nref:\n  kind: Moved\n  name: moved\n")
	out, _ := upgradeFiles(t, files, merge.Markers)
	if _, ok := out["config/manager/moved.yaml"]; !ok {
		t.Error("config/manager/moved.yaml was removed")
	}
	if _, ok := out["config/manager/other.yaml"]; ok {
		t.Error("config/manager/other.yaml has the same object as config/manager/moved.yaml")
	}
}

// TestFilesCarriesObject verifies that an object has the user's edits in the new file in which the current scaffold has it.
func TestFilesCarriesObject(t *testing.T) {
	t.Parallel()
	files := made("mine")
	files["config/manager/moved.yaml"] = []byte("kind: Moved\nmetadata:\n  # Without labels.\n  name: moved\nmine: true\n")
	out, _ := upgradeFiles(t, files, merge.Markers)
	if text, ok := out["config/manager/moved.yaml"]; ok {
		t.Errorf("config/manager/moved.yaml was not removed:\n%s", text)
	}
	if got, want := out["config/manager/other.yaml"], string(files["config/manager/moved.yaml"]); got != want {
		t.Errorf("config/manager/other.yaml: got\n%s\nwant\n%s", got, want)
	}
}

// TestFilesKeepsComment verifies that a file stays whose only edit is a comment.
func TestFilesKeepsComment(t *testing.T) {
	t.Parallel()
	files := made("mine")
	files["config/manager/old.yaml"] = []byte("# Mine.\nkind: Old\nname: mine\n")
	if out, _ := upgradeFiles(t, files, merge.Markers); out["config/manager/old.yaml"] != string(files["config/manager/old.yaml"]) {
		t.Errorf("config/manager/old.yaml: got\n%s", out["config/manager/old.yaml"])
	}
}

// TestFilesKeepsSimilarLine verifies that a line of the user is not taken for one of the scaffold that has the same
// 32-bit FNV-1a hash.
func TestFilesKeepsSimilarLine(t *testing.T) {
	t.Parallel()
	for line, similar := range map[string]string{"build:": "build: step-52853 step-4717", "test:": "test: step-7177 step-50247"} {
		files := made("mine")
		files["Makefile"] = []byte(strings.Replace(string(files["Makefile"]), "\n"+line+"\n", "\n"+similar+"\n", 1))
		if out, _ := upgradeFiles(t, files, merge.Ours); !strings.Contains(out["Makefile"], "\n"+similar+"\n") {
			t.Errorf("%q is missing in\n%s", similar, out["Makefile"])
		}
	}
}

func TestFilesInConflict(t *testing.T) {
	t.Parallel()
	const ours, theirs = "FROM golang:1.20@sha256:0 AS builder\n", "FROM golang:1.26 AS builder\n"
	for side, want := range map[merge.Side]string{
		merge.Markers: "<<<<<<< the project\n" + ours + "=======\n" + theirs + ">>>>>>> current\n", merge.Ours: ours, merge.Theirs: theirs,
	} {
		files := made("mine")
		files["Dockerfile"] = []byte(ours + "COPY . .\n")
		out, result := upgradeFiles(t, files, side)
		if out["Dockerfile"] != want+"COPY . .\n" || len(result.Conflicts()) > 0 != (side == merge.Markers) {
			t.Errorf("side %d: got\n%s\n%v", side, out["Dockerfile"], result.Files)
		}
	}
}

// TestFilesKeepsKustomization verifies that the manifests stay where patches of the current scaffold do not fit the manifests of the
// user, or start the manager with a flag that the user's program lacks.
func TestFilesKeepsKustomization(t *testing.T) {
	t.Parallel()
	const pod = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: manager\nspec:\n  template:\n    spec:\n      containers:\n      - name: manager\n"
	const args, patches = "        args:\n        - --old\n", "patches:\n- path: patch.yaml\n"
	old := map[string][]byte{
		"cmd/main.go":                       []byte("package main\n\nimport \"flag\"\n\nfunc main() {\n\tflag.Bool(\"old\", false, \"\")\n\tflag.Parse()\n}\n"),
		"config/manager/kustomization.yaml": []byte("resources:\n- manager.yaml\n"),
		"config/manager/manager.yaml":       []byte(pod + "        args:\n        - --old\n        image: old\n"),
		"config/default/kustomization.yaml": []byte("resources:\n- ../manager\n" + patches),
		"config/default/patch.yaml":         []byte(pod + "        tty: true\n"),
	}
	current := maps.Clone(old)
	current["config/manager/manager.yaml"] = []byte(pod + "        args:\n        - --old\n        image: current\n")
	current["config/default/kustomization.yaml"] = []byte("resources:\n- ../manager\npatches:\n- path: patch.yaml\n  target:\n    kind: Deployment\n")
	const add, replace = "- op: add\n  path: /spec/template/spec/containers/0/args/-\n  value: --a-new\n", pod + "        args:\n        - --a-new\n"
	newMain := strings.Replace(string(old["cmd/main.go"]), "flag.Parse", "flag.Bool(\"a\"+\"-new\", false, \"\")\n\tflag.Parse", 1)
	fingerprints, err := parseFingerprints(Record([]Tree{{Releases: []Release{{"kubebuilder", "9.0", "go/v4"}}, Names: Names{Project: "prjnm"}, Files: old}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, args, patches, main, patch string
		kept                             bool
	}{
		{"fits", args, patches, newMain, add, false},
		{"list that the user removed", "", patches, newMain, add, true},
		{"patch that gets no target", args, "patches: [{path: patch.yaml}]\n", newMain, add, true},
		{"flag that the program lacks", args, patches, string(old["cmd/main.go"]), add, true},
		{"flag that the program no longer has", args, patches, strings.Replace(newMain, `"old"`, `"older"`, 1), add, true},
		{"list that a patch replaces", args, patches, newMain, replace, false},
		{"item of the user's in a list that a patch replaces", args + "        - --mine\n", patches, newMain, replace, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for name, text := range old {
				switch name {
				case "config/manager/manager.yaml":
					text = []byte(pod + c.args + "        image: old\n")
				case "config/default/kustomization.yaml":
					text = []byte("resources:\n- ../manager\n" + c.patches)
				}
				file := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			files := maps.Clone(current)
			files["cmd/main.go"], files["config/default/patch.yaml"] = []byte(c.main), []byte(c.patch)
			tree := worktree.NewTree(afero.NewOsFs(), root)
			if _, err := Files(tree, files, Options{Names: Names{Project: "mine"}, Fingerprints: fingerprints, Verifier: NewVerifier(worktree.NewTree(afero.NewOsFs(), root))}); err != nil {
				t.Fatal(err)
			}
			patch, err := tree.ReadFile("config/default/patch.yaml")
			if err != nil || string(patch) != c.patch != c.kept {
				t.Errorf("got %v and patch\n%s", err, patch)
			}
			if manager, err := tree.ReadFile("config/manager/manager.yaml"); err != nil || strings.Contains(string(manager), "image: current") == c.kept {
				t.Errorf("got %v and manager\n%s", err, manager)
			}
		})
	}
}

// TestFilesStraggler verifies that a kustomization of an older release keeps entries for files that stay, in a project that
// is up to date otherwise.
func TestFilesStraggler(t *testing.T) {
	t.Parallel()
	const kustomization, list = "config/manager/kustomization.yaml", "resources:\n- a.yaml\n- b.yaml\n- c.yaml\n- d.yaml\n"
	object := func(name string) []byte {
		return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n")
	}
	old := map[string][]byte{kustomization: []byte(list)}
	for _, name := range []string{"a", "b", "c", "d"} {
		old["config/manager/"+name+".yaml"] = object(name)
	}
	current := map[string][]byte{"Dockerfile": []byte("FROM a\n" + strings.Repeat("RUN b\n", 50)), "config/manager/e.yaml": object("e"), kustomization: []byte("resources:\n- e.yaml\n")}
	project := maps.Clone(current)
	maps.Copy(project, old)
	tree, result := upgradeProject(t, old, current, project)
	if text, err := tree.ReadFile(kustomization); err != nil || string(text) != list+"- e.yaml\n" || result.From != (Release{}) {
		t.Errorf("upgrade from %s: got %v\n%s\n%v", result.From, err, text, result.Files)
	}
}

// TestFilesKeepsGeneratorOptions verifies that the options of generators stay with a generator that the user edited.
func TestFilesKeepsGeneratorOptions(t *testing.T) {
	t.Parallel()
	const kustomization, list = "config/manager/kustomization.yaml", "resources:\n- a.yaml\n"
	const generators = "generatorOptions:\n  disableNameSuffixHash: true\nconfigMapGenerator:\n- name: c\n  files:\n  - a.yaml\n"
	object := []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n")
	old := map[string][]byte{kustomization: []byte(list + generators), "config/manager/a.yaml": object}
	current := map[string][]byte{kustomization: []byte(list), "config/manager/a.yaml": object}
	for edited, want := range map[string]string{generators: list, generators + "  - kustomization.yaml\n": list + generators + "  - kustomization.yaml\n"} {
		project := map[string][]byte{kustomization: []byte(list + edited), "config/manager/a.yaml": object}
		tree, _ := upgradeProject(t, old, current, project)
		if text, err := tree.ReadFile(kustomization); err != nil || string(text) != want {
			t.Errorf("got %v\n%s\nwant\n%s", err, text, want)
		}
	}
}

// upgradeProject upgrades a project of an invented release in a directory.
func upgradeProject(t *testing.T, old, current, project map[string][]byte) (*worktree.Tree, *Result) {
	t.Helper()
	fingerprints, err := parseFingerprints(Record([]Tree{{Releases: []Release{{"kubebuilder", "9.0", "go/v4"}}, Names: Names{Project: "prjnm"}, Files: old}}))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, text := range project {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := worktree.NewTree(afero.NewOsFs(), root)
	result, err := Files(tree, current, Options{Names: Names{Project: "mine"}, Fingerprints: fingerprints, Verifier: NewVerifier(worktree.NewTree(afero.NewOsFs(), root))})
	if err != nil {
		t.Fatal(err)
	}
	return tree, result
}

// TestCanAdd verifies that a kustomization gets no resource like those that the user removed or switched off.
func TestCanAdd(t *testing.T) {
	t.Parallel()
	const name = "config/rbac/kustomization.yaml"
	old := map[string][]byte{
		"Makefile":                          []byte("all:\n\told\n"),
		name:                                []byte("resources:\n- role.yaml\n- kindnm_editor_role.yaml\n"),
		"config/certmanager/a.yaml":         []byte("kind: A\n"),
		"config/samples/kustomization.yaml": []byte("resources: []\n"),
	}
	names := Names{Project: "prjnm", Resources: []Resource{{Group: "grpnm", Version: "v77", Kind: "Kindnm", Plural: "kindnms"}}}
	fingerprints, err := parseFingerprints(Record([]Tree{{Releases: []Release{{"kubebuilder", "9.0", "go/v4"}}, Names: names, Files: old}}))
	if err != nil {
		t.Fatal(err)
	}
	current := map[string][]byte{
		"Makefile":                            []byte("all:\n\tcurrent\n"),
		name:                                  []byte("resources:\n- role.yaml\n- kindnm_admin_role.yaml\n- kindnm_editor_role.yaml\n- ../certmanager\n"),
		"config/rbac/kindnm_admin_role.yaml":  []byte("kind: Role\n"),
		"config/manifests/kustomization.yaml": []byte("resources:\n- ../default\n- ../samples\n"),
		"config/certmanager/b.yaml":           []byte("kind: B\n"),
	}
	for ours, want := range map[string]string{
		"resources:\n- role.yaml\n- kindnm_editor_role.yaml\n":   "resources:\n- role.yaml\n- kindnm_admin_role.yaml\n- kindnm_editor_role.yaml\n",
		"resources:\n- role.yaml\n# - kindnm_editor_role.yaml\n": "resources:\n- role.yaml\n# - kindnm_editor_role.yaml\n",
		"resources:\n- role.yaml\n":                              "resources:\n- role.yaml\n",
	} {
		fsys := afero.NewMemMapFs()
		for file, text := range map[string]string{name: ours, "Makefile": string(old["Makefile"])} {
			if err := afero.WriteFile(fsys, "/p/"+file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tree := worktree.NewTree(fsys, "/p")
		if _, err := Files(tree, current, Options{Names: names, Fingerprints: fingerprints, Verifier: NewVerifier(worktree.NewTree(fsys, "/p"))}); err != nil {
			t.Fatal(err)
		}
		if text, err := tree.ReadFile(name); err != nil || string(text) != want || tree.Exists("config/certmanager/b.yaml") {
			t.Errorf("got %v\n%s\nwant\n%s", err, text, want)
		}
		if text, err := tree.ReadFile("config/manifests/kustomization.yaml"); err != nil || string(text) != "resources:\n- ../default\n" {
			t.Errorf("got %v and manifests\n%s", err, text)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	fingerprints, err := ReadFingerprints("")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"1.42": "operator-sdk 1.42", "1.42.3": "operator-sdk 1.42", "v4.15.0": "kubebuilder 4.15", "kubebuilder-4.7": "kubebuilder 4.7", "operator-sdk-1.34": "operator-sdk 1.34", "1.23": "operator-sdk 1.23", "4": "kubebuilder 4.16",
		"operon-0.0": "operon 0.0.2",
	} {
		if only := fingerprints.Named(name); only == nil || only.Releases()[0].Tool+" "+only.Releases()[0].Version != want {
			t.Errorf("%s is not %s", name, want)
		}
	}
	for name, want := range map[string]string{
		"":                  "operator-sdk-1.40 operator-sdk-1.41 operator-sdk-1.42 kubebuilder-4.14 kubebuilder-4.15 kubebuilder-4.16 operon-0.0 operon-0.0.1 operon-0.0.2",
		"helm-1.2":          "operator-sdk-1.40 operator-sdk-1.41 operator-sdk-1.42 kubebuilder-4.14 kubebuilder-4.15 kubebuilder-4.16 operon-0.0 operon-0.0.1 operon-0.0.2",
		"operator-sdk":      "operator-sdk-1.40 operator-sdk-1.41 operator-sdk-1.42",
		"operator-sdk-1.99": "operator-sdk-1.40 operator-sdk-1.41 operator-sdk-1.42",
		"1.42.x":            "operator-sdk-1.40 operator-sdk-1.41 operator-sdk-1.42 kubebuilder-4.14 kubebuilder-4.15 kubebuilder-4.16 operon-0.0 operon-0.0.1 operon-0.0.2",
		"0.19":              "operator-sdk-1.0 operator-sdk-1.1 operator-sdk-1.2",
		"3.99":              "kubebuilder-3.15 kubebuilder-4.0 kubebuilder-4.1",
		"v99":               "kubebuilder-4.14 kubebuilder-4.15 kubebuilder-4.16",
	} {
		if fingerprints.Named(name) != nil {
			t.Errorf("%q is the name of a release", name)
		}
		if got := strings.Join(fingerprints.Near(name), " "); got != want {
			t.Errorf("near %q: got %s, want %s", name, got, want)
		}
	}
}

// TestRecordContained verifies that a unit exists in a file of a release, and in the file of the release that contains it, though
// the file is edited in samples of the latter.
func TestRecordContained(t *testing.T) {
	t.Parallel()
	const name = "config/manager/kustomization.yaml"
	contained, containing := Release{"kubebuilder", "9.0", "go/v4"}, Release{"operator-sdk", "9.0", "go/v4"}
	fingerprints, err := parseFingerprints(Record([]Tree{
		{Releases: []Release{contained}, Containing: []Release{containing}, Files: map[string][]byte{name: []byte("resources:\n- manager.yaml\n")}},
		{Releases: []Release{containing}, Edited: []string{name}, Files: map[string][]byte{name: []byte("resources:\n- manager.yaml\n- sample.yaml\n")}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range fingerprints.releases {
		b := &base{facts: fingerprints.files[name], bit: i, normalizer: newNormalizer(Names{}), known: map[string]bool{}}
		for entry, want := range map[string]bool{"manager.yaml": true, "sample.yaml": false} {
			if b.Has(merge.Fact{Path: []string{"document", "resources", entry}, Part: merge.Exists}) != want {
				t.Errorf("%s: %s exists: %t", r, entry, !want)
			}
		}
	}
}
