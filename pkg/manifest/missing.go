package manifest

import (
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// missing collects the entries of kustomizations that name a file or directory that doesn't exist: kustomize reports them as one chain of
// errors of all kustomizations around them.
type missing struct {
	over     *overlayFS
	seen     map[string]bool
	findings diag.Findings
}

// missingIn returns the missing entries of a kustomization and of those that it lists.
func missingIn(over *overlayFS, dir string) diag.Findings {
	m := missing{over: over, seen: map[string]bool{}}
	m.visit(dir)
	return m.findings
}

// visit adds the missing entries of the kustomization in a directory, if it has one.
func (m *missing) visit(dir string) {
	if m.seen[dir] {
		return
	}
	m.seen[dir] = true
	for _, name := range KustomizationFiles() {
		file := filepath.Join(dir, name)
		if !m.over.Exists(file) {
			continue
		}
		data, err := m.over.ReadFile(file)
		documents, _ := safeyaml.Documents[yaml.Node](data) // kustomize has reported an invalid file
		if err != nil || len(documents) == 0 {
			return
		}
		root := documents[0].Content[0]
		for _, key := range []string{"resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators", "patchesStrategicMerge"} {
			if list := safeyaml.Child(root, key); list != nil {
				for _, entry := range list.Content {
					m.check(file, key, entry)
				}
			}
		}
		for _, key := range []string{"patches", "patchesJson6902", "replacements"} {
			if list := safeyaml.Child(root, key); list != nil {
				for _, entry := range list.Content {
					m.check(file, key, safeyaml.Child(entry, "path"))
				}
			}
		}
		return
	}
}

// check adds an entry that is missing, and visits one that is a directory. Entries can also be YAML instead of a path.
func (m *missing) check(file, key string, entry *yaml.Node) {
	if entry == nil || entry.Kind != yaml.ScalarNode || entry.Value == "" || strings.Contains(entry.Value, "\n") || isRemote(entry.Value) {
		return
	}
	named := filepath.Join(filepath.Dir(file), filepath.FromSlash(entry.Value))
	switch {
	case path.IsAbs(entry.Value):
	case m.over.IsDir(named):
		m.visit(named)
	case !m.over.Exists(named):
		m.findings = append(m.findings, diag.Finding{
			Position: diag.Position{File: m.over.name(file), Line: entry.Line, Column: entry.Column},
			Problem:  key + ": " + entry.Value + ": no such file or directory", Fix: "remove the entry, or create the file",
		})
	}
}
