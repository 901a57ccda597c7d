package ansiblerole

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/watches"
)

// projectsDir selects projects of others, whose derived rules are compared with the role that their authors wrote.
var projectsDir = flag.String("ansiblerole.projects", "", "directory of projects whose rules are derived and logged, next to their own")

// TestProjects logs the rules of projects of others. It fails if their files cannot be analyzed.
func TestProjects(t *testing.T) {
	if *projectsDir == "" {
		return // TestRules has the projects of this repository
	}
	found, err := filepath.Glob(filepath.Join(*projectsDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range found {
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && (d.Name() == "watches.yaml" || d.Name() == "watches-os.yaml") && !strings.Contains(name, "molecule") {
				t.Run(filepath.Base(dir), func(t *testing.T) { logProject(t, name) })
			}
			return nil
		})
	}
}

// logProject logs the rules of the project of a watches.yaml.
func logProject(t *testing.T, watchesFile string) {
	dir := filepath.Dir(watchesFile)
	files := Files{}
	var own []byte
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if Relevant(filepath.ToSlash(rel)) {
			files[filepath.ToSlash(rel)] = data
		}
		if strings.Contains(string(data), "ClusterRole") || strings.Contains(string(data), "kind: Role") {
			base := strings.ToLower(filepath.Base(name))
			if strings.Contains(rel, "rbac") && strings.HasSuffix(base, "role.yaml") || base == "role.yaml" || base == "role.yml" || base == "clusterrole.yaml" {
				own = append(append(own, "\n---\n"...), data...)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(watchesFile)
	if err != nil {
		t.Fatal(err)
	}
	list, err := watches.ParseAnsible("watches.yaml", data, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var apis []API
	for _, w := range list {
		apis = append(apis, API{Group: w.Group, Version: w.Version, Kind: w.Kind, Plural: project.RegularPlural(w.Kind), Watch: NewWatch(w)})
	}
	rules, notes := Rules(files, apis)
	derived, written := rbac.Permissions{}, rbac.Permissions{}
	for _, r := range rules {
		derived.AddRule(r)
	}
	documents, err := safeyaml.Documents[yaml.Node](own)
	if err != nil {
		t.Logf("role: %v", err)
	}
	for _, d := range documents {
		if rules := field(content(d), "rules"); rules != nil {
			var list []rbac.Rule
			if err := rules.Decode(&list); err == nil {
				for _, r := range list {
					written.AddRule(r)
				}
			}
		}
	}
	var missing, extra []string
	for target := range written {
		if !slices.ContainsFunc(keys(derived), func(other rbac.Target) bool {
			return (target.Group == "*" || target.Group == other.Group) && (target.Resource == other.Resource || target.Resource == "*")
		}) {
			missing = append(missing, target.Group+"/"+target.Resource)
		}
	}
	for target, verbs := range derived {
		for verb := range verbs {
			target.Name = ""
			if !written.Allow(target, verb) {
				extra = append(extra, target.Group+"/"+target.Resource+":"+verb)
			}
		}
	}
	slices.Sort(missing)
	slices.Sort(extra)
	t.Logf("%d kinds, %d rules, %d targets, %d notes\nwritten by the authors only: %s\nderived only: %s", len(apis), len(rules), len(derived), len(notes),
		strings.Join(slices.Compact(missing), " "), strings.Join(slices.Compact(extra), " "))
	for _, n := range notes {
		t.Log(n)
	}
}

func keys(p rbac.Permissions) []rbac.Target {
	var all []rbac.Target
	for t := range p {
		all = append(all, t)
	}
	return all
}
