package migrate

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// ownObjects reports whether no other resource of a kustomization has an object of a file. The file then counts as one of its
// resources.
func (u *upgrader) ownObjects(kustomization, name string) bool {
	listed := u.listed[kustomization]
	if listed == nil {
		listed = map[string]string{}
		for _, n := range entries(kustomization, u.ours[kustomization], "resources") {
			if file := entryPath(path.Dir(kustomization), n); file != "" {
				u.list(listed, file)
			}
		}
		u.listed[kustomization] = listed
	}
	text, err := u.tree.ReadFile(name)
	if err != nil {
		return false
	}
	for _, id := range objectIDs(text) {
		if other, ok := listed[id]; ok && other != name {
			return false
		}
	}
	u.list(listed, name)
	return true
}

// sameKinds reports whether a file of the project has objects of the same kinds as in the current scaffold.
func (u *upgrader) sameKinds(name string) bool {
	text, err := u.tree.ReadFile(name)
	return err == nil && (u.theirs[name] == nil || slices.EqualFunc(objectIDs(text), objectIDs(u.theirs[name]), func(a, b string) bool {
		return strings.Fields(a)[0] == strings.Fields(b)[0]
	}))
}

// list records the objects of a file.
func (u *upgrader) list(listed map[string]string, name string) {
	if text, err := u.tree.ReadFile(name); err == nil {
		for _, id := range objectIDs(text) {
			listed[id] = name
		}
	}
}

// isObsolete reports whether a file of the project is not in the current scaffold, and is neither edited nor needed by
// what the user wrote, or whether its settings were moved to other files. In a current project there are none.
func (u *upgrader) isObsolete(name string) bool {
	if u.result.From == (Release{}) {
		return false
	}
	if settings, ok := u.carried[name]; ok {
		return len(settings) == 0
	}
	return u.theirs[name] == nil && u.ours[name] != nil && u.unedited(name) &&
		!slices.ContainsFunc(objectIDs(u.ours[name]), func(id string) bool { return u.references()[id] })
}

// references returns the objects to which manifests of the user refer.
func (u *upgrader) references() map[string]bool {
	if u.referred != nil {
		return u.referred
	}
	u.referred = map[string]bool{}
	names, err := u.tree.Walk(project.ConfigDir, nil)
	if err != nil {
		return u.referred
	}
	for _, name := range names {
		text, err := u.tree.ReadFile(name)
		if err != nil || !isManifest(name) || u.unedited(name) {
			continue
		}
		nodes, _ := safeyaml.Documents[yaml.Node](text)
		for _, node := range nodes {
			u.addReferences(node)
		}
	}
	return u.referred
}

// addReferences records the references in a node: mappings with kind and name.
func (u *upgrader) addReferences(node *yaml.Node) {
	if kind, name := safeyaml.ChildText(node, "kind"), safeyaml.ChildText(node, "name"); kind != "" && name != "" {
		u.referred[kind+" "+name] = true
	}
	for _, child := range node.Content {
		u.addReferences(child)
	}
}

// wroteBefore reports whether the release of the project wrote a file. A missing one was removed by the user.
func (u *upgrader) wroteBefore(name string) bool {
	return Scaffolded(name) && u.releaseBase(name).Has(merge.Fact{Part: merge.Exists})
}

// releaseBase returns a file of the release of the project.
func (u *upgrader) releaseBase(name string) *base {
	return u.newBase(name, slices.Index(u.o.Fingerprints.releases, u.result.From))
}

func (u *upgrader) newBase(name string, release int) *base {
	return &base{
		facts: u.o.Fingerprints.files[name], bit: release, content: u.o.Content, normalizer: u.normalizer, known: map[string]bool{},
	}
}

// unedited reports whether all of a file, including comments, is as its release wrote it.
func (u *upgrader) unedited(name string) bool {
	b := u.baseOf(name)
	if b == nil {
		return false
	}
	for _, fact := range facts(name, u.ours[name]) {
		if slices.Contains([]merge.Part{merge.LeadLines, merge.HeadLines, merge.TailLines}, fact.Part) && !b.Has(fact) {
			return false
		}
	}
	return true
}

// exists reports whether the project has a file or directory.
func (u *upgrader) exists(name string) bool {
	if u.tree.Exists(name) {
		return true
	}
	names, err := u.tree.Walk(name, nil)
	return err == nil && len(names) > 0
}

// superfluous returns the reason not to add a new manifest, or "": a resource of the project has its object, or it
// would change another container than the manager.
func (u *upgrader) superfluous(name string) (string, error) {
	if other := u.displacing(name); other != "" {
		return other + " puts another container first", nil
	}
	if !isManifest(name) {
		return "", nil
	}
	ids := objectIDs(u.theirs[name])
	if len(ids) == 0 {
		return "", nil
	}
	others, err := readConfig(u.tree, func(other string) bool { return path.Ext(other) == ".yaml" && other != name })
	if err != nil {
		return "", err
	}
	var all []string
	for _, other := range others {
		has := objectIDs(other.text)
		all = append(all, has...)
		if u.theirs[other.name] != nil || u.isObsolete(other.name) || !u.isResource(other.name) {
			continue
		}
		if slices.ContainsFunc(has, func(id string) bool { return slices.Contains(ids, id) }) {
			return other.name + " has its object", nil
		}
	}
	if !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(all, id) }) && u.wroteObject(name) {
		return "has an object that was removed", nil
	}
	return "", nil
}

// wroteObject reports whether the release of the project wrote an object of a manifest in any file.
func (u *upgrader) wroteObject(name string) bool {
	for _, fact := range facts(name, u.theirs[name]) {
		if fact.Part != merge.HeadLines || len(fact.Path) != 3 || !slices.Equal(fact.Path[1:], []string{"metadata", "name"}) {
			continue
		}
		for file := range u.o.Fingerprints.files {
			if b := u.releaseBase(file); b.Has(fact) && b.Has(merge.Fact{Path: fact.Path, Part: merge.Exists}) {
				return true
			}
		}
	}
	return false
}

// displacing returns a manifest of the project with another container before the manager, which a patch of the current
// scaffold would change as the first one, or "".
func (u *upgrader) displacing(name string) string {
	if !isPositional(u.theirs[name]) {
		return ""
	}
	files := []string{project.ManagerFile}
	for _, n := range entries(project.DefaultKustomization, u.ours[project.DefaultKustomization], "patches") {
		files = append(files, entryPath(path.Dir(project.DefaultKustomization), n))
	}
	for _, file := range files {
		text, err := u.tree.ReadFile(file)
		if err != nil || u.isObsolete(file) {
			continue
		}
		objects, _ := safeyaml.Documents[struct {
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Name string } }
				}
			}
		}](text)
		for _, object := range objects {
			if containers := object.Spec.Template.Spec.Containers; len(containers) > 0 && containers[0].Name != "manager" {
				return file
			}
		}
	}
	return ""
}

// isPositional reports whether a patch changes a container by its position.
func isPositional(patch []byte) bool { return bytes.Contains(patch, []byte("/containers/0/")) }

// isResource reports whether the kustomization of a file's directory lists the file.
func (u *upgrader) isResource(name string) bool {
	kustomization := path.Join(path.Dir(name), project.KustomizationFile)
	text := u.ours[kustomization]
	if text == nil {
		var err error
		if text, err = u.tree.ReadFile(kustomization); err != nil {
			return false
		}
	}
	on, _ := findEntry(kustomization, text, "resources", path.Base(name))
	return on
}

// isManifest reports whether a file contains objects or patches.
func isManifest(name string) bool {
	return strings.HasPrefix(name, project.ConfigDir+"/") && path.Ext(name) == ".yaml" && !isKustomization(name)
}

// objectIDs returns kind and name of the objects in a manifest. Namespaces are ignored, because users change them.
func objectIDs(text []byte) []string {
	var ids []string
	objects, _ := safeyaml.Documents[struct {
		Kind     string
		Metadata struct{ Name string }
	}](text)
	for _, object := range objects {
		if object.Kind != "" && object.Metadata.Name != "" {
			ids = append(ids, object.Kind+" "+object.Metadata.Name)
		}
	}
	return ids
}
