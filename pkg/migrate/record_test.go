package migrate

import (
	"bytes"
	"encoding/csv"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/project"
)

var (
	recordedHelm    = flag.String("upgrade.record.helm", "", "write fingerprints_helm.txt for the trees in this `directory`")
	recordedAnsible = flag.String("upgrade.record.ansible", "", "write fingerprints_ansible.txt for the trees in this `directory`")
)

// TestRecordRuntimes writes fingerprints_helm.txt and fingerprints_ansible.txt. The directories hold sample projects of operator-sdk,
// in directories with the tags of their releases, such as v1.42.2.
func TestRecordRuntimes(t *testing.T) {
	for _, r := range []struct{ layout, directory, file string }{
		{HelmLayout, *recordedHelm, "fingerprints_helm.txt"}, {AnsibleLayout, *recordedAnsible, "fingerprints_ansible.txt"},
	} {
		if r.directory == "" {
			continue
		}
		tags, err := os.ReadDir(r.directory)
		if err != nil {
			t.Fatal(err)
		}
		var trees []Tree
		for _, tag := range tags {
			trees = append(trees, runtimeTree(t, filepath.Join(r.directory, tag.Name()), r.layout))
		}
		if err := os.WriteFile(r.file, []byte(Record(trees)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runtimeTree reads the sample project of a release.
func runtimeTree(t *testing.T, directory, layout string) Tree {
	t.Helper()
	version := strings.Split(strings.TrimPrefix(filepath.Base(directory), "v"), ".")
	if len(version) != 3 {
		t.Fatalf("%s: must be the tag of a release", directory)
	}
	files := readFiles(t, directory)
	if text, images, found := bytes.Cut(files[project.ManagerDir+"/kustomization.yaml"], []byte("apiVersion: kustomize.config")); found && bytes.Contains(images, []byte("\nimages:\n")) {
		files[project.ManagerDir+"/kustomization.yaml"] = text // kustomize appended it later
	}
	tree := Tree{Releases: releases(version[0]+"."+version[1], layout), Content: WithAPI, Files: files}
	data, err := project.Convert(files[project.FileName], "", func(string, string) (project.AlphaFacts, error) { return project.AlphaFacts{Namespaced: true}, nil })
	if err != nil {
		t.Fatalf("%s: %v", directory, err)
	}
	config, err := project.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", directory, err)
	}
	tree.Names = Names{Project: config.ProjectName(), Domain: config.Domain()}
	for _, r := range config.Resources() {
		tree.Names.Resources = append(tree.Names.Resources, Resource{r.Group, r.Version, r.Kind, r.Plural})
	}
	return tree
}

var recorded = flag.String("upgrade.record", "", "write fingerprints.txt for the trees in this `directory`")

// TestRecord writes fingerprints.txt. The directory holds trees as releases scaffolded them, below trees, and
// index.tsv, a table with the columns tree, tool, version, layout, componentConfig, name, domain, repo, kinds and
// edited. Trees of tutorials are left out, except operator-sdk's, in which few of the scaffold's files are
// edited. TestFingerprints verifies the file against trees that peers write.
func TestRecord(t *testing.T) {
	if *recorded == "" {
		t.Skip("-upgrade.record DIRECTORY writes fingerprints.txt")
	}
	file, err := os.Open(filepath.Join(*recorded, "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	var trees []Tree
	for _, row := range rows[1:] {
		get := func(name string) string { return row[column[name]] }
		version := strings.Split(get("version"), ".")
		if get("tool") == "kubebuilder" && get("edited") == "yes" || version[0] == "2" && version[1] < "3" {
			continue
		}
		if strings.Contains(get("tree"), "+monitoring+") {
			continue
		}
		layout := regexp.MustCompile(`go\.kubebuilder\.io/v(\d)`).FindStringSubmatch(get("layout"))
		if layout == nil {
			t.Fatalf("%s: unknown layout %q", get("tree"), get("layout"))
		}
		plugin := "go/v" + layout[1]
		if get("componentConfig") == "true" {
			plugin += ComponentConfig
		}
		tree := Tree{
			Names: Names{Project: get("name"), Domain: get("domain"), Repo: get("repo")},
			Files: readFiles(t, filepath.Join(*recorded, "trees", get("tree"))),
		}
		if main := tree.Files["main.go"]; main != nil {
			// The program is merged after it has moved to the directories of the current layout.
			moved := strings.NewReplacer(tree.Names.Repo+"/controllers", tree.Names.Repo+"/internal/controller", tree.Names.Repo+"/apis/", tree.Names.Repo+"/api/")
			tree.Files["cmd/main.go"] = []byte(moved.Replace(string(main)))
		}
		if get("tool") == "operator-sdk" {
			tree.Releases = releases(version[0]+"."+version[1], plugin)
		} else {
			tree.Releases = []Release{{get("tool"), version[0] + "." + version[1], plugin}}
			tree.Containing = containing(version[0]+"."+version[1], plugin)
		}
		if get("edited") == "yes" {
			tree.Edited = []string{
				"config/default/kustomization.yaml", "config/manager/kustomization.yaml", "config/manager/manager.yaml",
			}
		}
		for kind := range strings.FieldsSeq(get("kinds")) {
			gvk, features, _ := strings.Cut(kind, "[")
			tree.Content = max(tree.Content, WithAPI)
			if strings.Contains(features, "defaulting") || strings.Contains(features, "validation") || strings.Contains(features, "conversion") {
				tree.Content = WithWebhooks
			}
			parts := strings.Split(gvk, "/")
			if len(parts) != 3 {
				t.Fatalf("%s: unknown kind %q", get("tree"), kind)
			}
			tree.Names.Resources = append(tree.Names.Resources, Resource{parts[0], parts[1], parts[2], project.DefaultPlural(parts[2])})
		}
		trees = append(trees, tree)
	}
	if err := os.WriteFile("fingerprints.txt", []byte(Record(trees)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// kubebuilders lists the minor releases of kubebuilder whose plugins are part of minor releases of operator-sdk, by
// what go.mod requires at their tags. Where that is a commit between two releases, both are listed.
func kubebuilders() map[string][]string {
	return map[string][]string{
		"1.0": {"2.3"}, "1.1": {"2.3"}, "1.2": {"2.3"}, "1.3": {"2.3", "3.0"}, "1.4": {"2.3", "3.0"}, "1.5": {"3.0"}, "1.6": {"3.0"}, "1.7": {"3.0"}, "1.8": {"3.0"},
		"1.9": {"3.0", "3.1"}, "1.10": {"3.1"}, "1.11": {"3.1", "3.2"}, "1.12": {"3.1", "3.2"}, "1.13": {"3.1", "3.2"}, "1.14": {"3.1", "3.2"}, "1.15": {"3.1", "3.2"},
		"1.16": {"3.2"}, "1.17": {"3.3"}, "1.18": {"3.3"}, "1.19": {"3.3"}, "1.20": {"3.3"}, "1.21": {"3.4"}, "1.22": {"3.4", "3.5"}, "1.23": {"3.6"}, "1.24": {"3.6"},
		"1.25": {"3.7"}, "1.26": {"3.7"}, "1.27": {"3.7"}, "1.28": {"3.9"}, "1.29": {"3.9"}, "1.30": {"3.9"}, "1.31": {"3.9"}, "1.32": {"3.9"}, "1.33": {"3.12"},
		"1.34": {"3.13", "3.14"}, "1.35": {"3.13", "3.14"}, "1.36": {"3.14"}, "1.37": {"3.14"}, "1.38": {"4.1"}, "1.39": {"4.2"}, "1.40": {"4.5"}, "1.41": {"4.6"}, "1.42": {"4.6"},
	}
}

// containing lists the releases of operator-sdk that contain a kubebuilder.
func containing(version, layout string) []Release {
	var all []Release
	for sdk, versions := range kubebuilders() {
		if slices.Contains(versions, version) {
			all = append(all, Release{"operator-sdk", sdk, layout})
		}
	}
	return all
}

// releases lists the releases of operator-sdk that a tree stands for.
func releases(version, layout string) []Release {
	all := []Release{{"operator-sdk", version, layout}}
	if version == "1.1" {
		all = append(all, Release{"operator-sdk", "1.0", layout}) // whose projects are not published
	}
	return all
}

// readFiles reads a tree.
func readFiles(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
