package migrate

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// entryPath returns the file or directory that an entry of a kustomization names, relative to the project, or "".
func entryPath(dir string, n *merge.Node) string {
	key := strings.SplitN(n.Key, "#", 2)[0]
	if n.Off || key == "" || strings.ContainsAny(key, " :") || !strings.Contains(key, ".") && !strings.Contains(key, "/") {
		return ""
	}
	return path.Join(dir, key)
}

// canAdd reports whether an entry that is new in a kustomization has all that it refers to.
func (u *upgrader) canAdd(kustomization string, p []string, n *merge.Node) bool {
	if n.Off {
		return true
	}
	dir := path.Dir(kustomization)
	if slices.Contains(p, "replacements") {
		text := string(n.Text())
		return (!strings.Contains(text, "kind: Certificate") || u.isOn(kustomization, "../certmanager")) &&
			(!strings.Contains(text, "webhook-service") || u.isOn(kustomization, "../webhook"))
	}
	name := entryPath(dir, n)
	if name == "" {
		return true
	}
	if u.withoutRoles(kustomization, n.Key) {
		return false
	}
	if u.exists(name) {
		return !u.tree.Exists(name) || u.sameKinds(name) && u.ownObjects(kustomization, name)
	}
	if u.theirs[name] != nil {
		note, err := u.superfluous(name)
		return err == nil && note == "" && !u.wroteBefore(name) && !u.removedDir(path.Dir(name))
	}
	for other := range u.theirs {
		if strings.HasPrefix(other, name+"/") {
			return !u.removedDir(name)
		}
	}
	return false
}

// withoutRoles reports whether an entry is a role for people that work with an API, and the user switched off or removed
// those that the release has.
func (u *upgrader) withoutRoles(kustomization, entry string) bool {
	kind, ok := strings.CutSuffix(entry, "_admin_role.yaml")
	if !ok {
		return false
	}
	on, listed := findEntry(kustomization, u.ours[kustomization], "resources", kind+"_editor_role.yaml")
	return !on && (listed || u.releaseLists(kustomization, kind+"_editor_role.yaml"))
}

// releaseLists reports whether the release that scaffolded the project has a resource in a kustomization.
func (u *upgrader) releaseLists(kustomization, resource string) bool {
	return u.releaseBase(kustomization).Has(merge.Fact{Path: []string{"document", "resources", resource}, Part: merge.Exists})
}

// isOn reports whether a kustomization of the project has a resource, or gets it.
func (u *upgrader) isOn(kustomization, resource string) bool {
	ours, ok := findEntry(kustomization, u.ours[kustomization], "resources", resource)
	if ok {
		return ours
	}
	theirs, _ := findEntry(kustomization, u.theirs[kustomization], "resources", resource)
	return theirs && !u.releaseLists(kustomization, resource)
}

// findEntry looks for an entry of a list in a kustomization, and reports whether it is on, and whether it is there.
func findEntry(name string, text []byte, list, entry string) (on, ok bool) {
	for _, n := range entries(name, text, list) {
		if n.Key == entry {
			return !n.Off, true
		}
	}
	return false, false
}

// hasEntry reports whether a kustomization has an entry at a path of keys, and not in a comment.
func hasEntry(name string, text []byte, p []string) bool {
	n, err := merge.Parse(name, text)
	if err != nil {
		return false
	}
	for _, key := range p {
		i := slices.IndexFunc(n.Nodes, func(child *merge.Node) bool { return child.Key == key && !child.Off })
		if i < 0 {
			return false
		}
		n = n.Nodes[i]
	}
	return true
}

// entries returns the entries of a list in a kustomization.
func entries(name string, text []byte, list string) []*merge.Node {
	root, err := merge.Parse(name, text)
	if err != nil {
		return nil
	}
	for _, document := range root.Nodes {
		for _, field := range document.Nodes {
			if field.Key == list {
				return field.Nodes
			}
		}
	}
	return nil
}

// ownObjects reports whether no other resource of a kustomization has an object of a file. The file counts as one of
// its resources then.
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

// sameKinds reports whether a file of the project has objects of the kinds that it has in the current scaffold.
func (u *upgrader) sameKinds(name string) bool {
	text, err := u.tree.ReadFile(name)
	return err == nil && (u.theirs[name] == nil || slices.EqualFunc(objectIDs(text), objectIDs(u.theirs[name]), func(a, b string) bool {
		return strings.Fields(a)[0] == strings.Fields(b)[0]
	}))
}

// list notes the objects of a file.
func (u *upgrader) list(listed map[string]string, name string) {
	if text, err := u.tree.ReadFile(name); err == nil {
		for _, id := range objectIDs(text) {
			listed[id] = name
		}
	}
}

// withdrawn reports whether a file of the project is one that the current scaffold no longer has, and neither edited nor
// needed by what the user wrote, or one whose settings other files hold now. None is in a project that is up to date.
func (u *upgrader) withdrawn(name string) bool {
	if u.result.From == (Release{}) {
		return false
	}
	if left, ok := u.carried[name]; ok {
		return len(left) == 0
	}
	return u.theirs[name] == nil && u.ours[name] != nil && u.unedited(name) &&
		!slices.ContainsFunc(objectIDs(u.ours[name]), func(id string) bool { return u.references()[id] })
}

// references returns the objects that manifests refer to which the user wrote or edited.
func (u *upgrader) references() map[string]bool {
	if u.referred != nil {
		return u.referred
	}
	u.referred = map[string]bool{}
	names, err := u.tree.Walk("config", nil)
	if err != nil {
		return u.referred
	}
	for _, name := range names {
		text, err := u.tree.ReadFile(name)
		if err != nil || !isManifest(name) || u.unedited(name) {
			continue
		}
		var node yaml.Node
		for decoder := safeyaml.NewDecoder(text); decoder.Decode(&node) == nil; {
			u.refer(&node)
		}
	}
	return u.referred
}

// refer notes the references in a node: mappings with kind and name.
func (u *upgrader) refer(node *yaml.Node) {
	if kind, name := merge.ScalarOf(node, "kind"), merge.ScalarOf(node, "name"); kind != "" && name != "" {
		u.referred[kind+" "+name] = true
	}
	for _, child := range node.Content {
		u.refer(child)
	}
}

// wroteBefore reports whether the release that scaffolded the project wrote a file, which the user has removed then.
func (u *upgrader) wroteBefore(name string) bool {
	return Scaffolded(name) && u.releaseBase(name).Has(merge.Fact{Part: merge.Exists})
}

// releaseBase returns what the release that scaffolded the project states in a file.
func (u *upgrader) releaseBase(name string) *base {
	return u.newBase(name, slices.Index(u.o.Fingerprints.releases, u.result.From))
}

// newBase returns what a release states in a file.
func (u *upgrader) newBase(name string, release int) *base {
	return &base{
		facts: u.o.Fingerprints.files[name], bit: release, stage: u.o.Stage, normalizer: u.normalizer, known: map[string]bool{},
	}
}

// canRemove reports whether an entry can go from a kustomization: not if it names a file that the user edited.
func (u *upgrader) canRemove(dir string, n *merge.Node) bool {
	name := entryPath(dir, n)
	if name == "" {
		return true
	}
	if text := u.ours[name]; text != nil {
		return u.withdrawn(name)
	}
	// A directory: all of its files go.
	return !u.exists(name)
}

// hasEditedGenerator reports whether the user edited a generator of a kustomization, which stays then, and needs its options.
func (u *upgrader) hasEditedGenerator(name string) bool {
	b := u.baseOf(name)
	return b == nil || slices.ContainsFunc(facts(name, u.ours[name]), func(f merge.Fact) bool {
		isGenerator := len(f.Path) > 1 && (f.Path[1] == "configMapGenerator" || f.Path[1] == "secretGenerator")
		return isGenerator && f.Part == merge.HeadLines && !b.Has(f)
	})
}

// unedited reports whether all that a file of the project holds, comments included, is what its release wrote.
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

// superfluous returns why a new manifest is not added, or "": a resource of the project has its object, or it would change
// another container than the manager's.
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
	names, err := u.tree.Walk("config", nil)
	if err != nil {
		return "", fmt.Errorf("listing config: %w", err)
	}
	var all []string
	for _, other := range names {
		if path.Ext(other) != ".yaml" || other == name {
			continue
		}
		text, err := u.tree.ReadFile(other)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", other, err)
		}
		has := objectIDs(text)
		all = append(all, has...)
		if u.theirs[other] != nil || u.withdrawn(other) || !u.isResource(other) {
			continue
		}
		if slices.ContainsFunc(has, func(id string) bool { return slices.Contains(ids, id) }) {
			return other + " has its object", nil
		}
	}
	if !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(all, id) }) && u.wroteObject(name) {
		return "has an object that was removed", nil
	}
	return "", nil
}

// wroteObject reports whether the release that scaffolded the project wrote an object of a manifest, in whatever file.
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

// displacing returns a manifest of the project that puts another container before the manager's, which a patch of the
// current scaffold changes as the first one. It returns "" if there is none.
func (u *upgrader) displacing(name string) string {
	if !isPositional(u.theirs[name]) {
		return ""
	}
	files := []string{managerFile}
	for _, n := range entries(kustomizationFile, u.ours[kustomizationFile], "patches") {
		files = append(files, entryPath(path.Dir(kustomizationFile), n))
	}
	for _, file := range files {
		text, err := u.tree.ReadFile(file)
		if err != nil || u.withdrawn(file) {
			continue
		}
		var object struct {
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Name string } }
				}
			}
		}
		for decoder := safeyaml.NewDecoder(text); decoder.Decode(&object) == nil; {
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
	kustomization := path.Join(path.Dir(name), "kustomization.yaml")
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

// isUnusedVariable reports whether an entry is that of a kustomization's variable which no manifest uses that stays as it is.
func (u *upgrader) isUnusedVariable(p []string, _ *merge.Node) bool {
	if len(p) < 2 || p[len(p)-2] != "vars" {
		return false
	}
	named, err := u.namers()
	if err != nil {
		return false
	}
	use := []byte("$(" + p[len(p)-1] + ")")
	for name := range named {
		if !isManifest(name) || u.withdrawn(name) || u.theirs[name] != nil && u.unedited(name) {
			continue
		}
		if text, err := u.tree.ReadFile(name); err == nil && bytes.Contains(text, use) {
			return false
		}
	}
	return true
}

// isManifest reports whether a file holds objects or patches.
func isManifest(name string) bool {
	return strings.HasPrefix(name, "config/") && path.Ext(name) == ".yaml" && path.Base(name) != "kustomization.yaml"
}

// objectIDs returns kind and name of the objects in a manifest. Users change namespaces, so these do not matter.
func objectIDs(text []byte) []string {
	var ids []string
	decoder := safeyaml.NewDecoder(text)
	for {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if decoder.Decode(&object) != nil {
			return ids
		}
		if object.Kind != "" && object.Metadata.Name != "" {
			ids = append(ids, object.Kind+" "+object.Metadata.Name)
		}
	}
}

// namers holds, by file or directory, a kustomization of the project that names it.
type namers map[string]string

// of returns a kustomization that names a file, or its directory if it is a kustomization itself. It returns "" if there is
// none.
func (n namers) of(name string) string {
	switch {
	case path.Base(name) == "kustomization.yaml":
		return n[path.Dir(name)]
	case path.Ext(name) == ".yaml":
		return n[name]
	}
	return ""
}

// namers reads what the project's kustomizations name.
func (u *upgrader) namers() (namers, error) {
	names, err := u.tree.Walk("config", nil)
	if err != nil {
		return nil, err
	}
	all := namers{}
	for _, name := range names {
		if path.Base(name) != "kustomization.yaml" {
			continue
		}
		text, err := u.tree.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		for line := range strings.Lines(string(text)) {
			entry := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))
			entry = strings.TrimSpace(strings.TrimPrefix(entry, "path:"))
			file := path.Join(path.Dir(name), strings.Trim(entry, `"'`))
			if entry != "" && entry[0] != '#' && all[file] == "" {
				all[file] = name
			}
		}
	}
	return all, nil
}
