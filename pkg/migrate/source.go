package migrate

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A source is an object, or a patch of one, in a manifest of the project before an upgrade.
type source struct {
	file, kind, name string
	object           *yaml.Node
	// edited holds the numbers of the lines that no scaffold wrote.
	edited map[int]bool
}

// sources returns the objects in the manifests that kustomizations of the project use.
func (v *Verifier) sources() ([]source, error) {
	if v.read != nil {
		return v.read, nil
	}
	kustomizations, err := readConfig(v.before, isKustomization)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{} // files in kustomizations
	for _, f := range kustomizations {
		if current, ok := replaceDeprecated(f.text); ok {
			f.text = current
		}
		for _, file := range named(f.name, f.text, false) {
			used[file] = true
		}
	}
	manifests, err := readConfig(v.before, func(name string) bool {
		// Scaffolds also write patches of CRDs, but these are not recorded.
		return isManifest(name) && used[name] && !strings.HasPrefix(name, project.CRDPatchesDir+"/")
	})
	if err != nil {
		return nil, err
	}
	for _, f := range manifests {
		text, _ := textdiff.AllToLF(f.text)
		root, err := merge.Parse(f.name, text)
		if err != nil {
			root = merge.ParseOpaque(text)
		}
		edited := merge.UnknownLines(root, v.base(f.name))
		documents, _ := safeyaml.Documents[yaml.Node](text)
		for _, document := range documents {
			object := document.Content[0]
			if metadata := safeyaml.Child(object, "metadata"); metadata != nil {
				v.read = append(v.read, source{
					f.name, safeyaml.ChildText(object, "kind"), safeyaml.ChildText(metadata, "name"), object, edited,
				})
			}
		}
	}
	return v.read, nil
}

// editedSource returns the manifest in which the user wrote an object, or a field or item of it at a path, or "", for
// example if a kustomization adds it. In a generated manifest that the upgrade changes, only webhooks and API versions
// count.
func (v *Verifier) editedSource(after *worktree.Tree, id string, path []step) (string, error) {
	if v.base == nil {
		return "", nil
	}
	kind, name, _ := strings.Cut(id, " ")
	all, err := v.sources()
	if err != nil {
		return "", err
	}
	of := func(s source) bool { return s.kind == kind && s.name != "" && strings.HasSuffix(name, s.name) }
	longest := 0 // length of the longest name: kustomizations add prefixes
	for _, s := range all {
		if of(s) {
			longest = max(longest, len(s.name))
		}
	}
	file := ""
	for _, s := range all {
		if !of(s) || len(s.name) < longest {
			continue
		}
		if len(path) == 0 {
			// A patch in another file also has the name.
			if !s.isEdited([]step{{name: "metadata"}, {name: "name"}}) {
				return "", nil
			}
			file = s.file
			continue
		}
		generated := !Scaffolded(s.file) && !unchanged(v.before, after, s.file)
		if (!generated || isGeneratedItem(path)) && s.isEdited(path) {
			return s.file, nil
		}
	}
	return file, nil
}

// isGeneratedItem reports whether a path leads to a webhook or API version.
func isGeneratedItem(path []step) bool {
	last := len(path) - 1
	return path[last].item && slices.Contains([]string{"webhooks", "versions"}, path[last-1].name)
}

// isEdited reports whether the user wrote a line of the field or item at a path.
func (s source) isEdited(path []step) bool {
	return slices.ContainsFunc(linesAt(s.object, path), func(line int) bool { return s.edited[line] })
}

// linesAt returns the line numbers of the field or item at a path and of the values in it.
func linesAt(n *yaml.Node, path []step) []int {
	if len(path) == 0 {
		lines := []int{n.Line}
		for _, child := range n.Content {
			lines = append(lines, linesAt(child, nil)...)
		}
		return lines
	}
	switch {
	case n.Kind == yaml.SequenceNode && path[0].item:
		for _, item := range n.Content {
			var value any
			if item.Decode(&value) == nil && itemName(value) == path[0].name {
				return linesAt(item, path[1:])
			}
		}
	case !path[0].item:
		at := safeyaml.ChildIndex(n, path[0].name)
		if at < 0 {
			return nil
		}
		lines := linesAt(n.Content[at+1], path[1:])
		if len(path) == 1 {
			lines = append(lines, n.Content[at].Line)
		}
		return lines
	}
	return nil
}
